#pragma once

// Models that were saved, with something else in them and with the right checksums: what nobody finds out but
// whoever looks at the contents.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "espalier/base/json.h"
#include "model/model_file.h"

namespace espalier::testing {

class ChangedModel {
 public:
  explicit ChangedModel(const std::string& path) {
    const ModelFile file(path);
    file.for_each_section([&](const std::string& name, std::string_view bytes) {
      sections_.emplace_back(name, std::string(bytes));
    });
  }

  using Sections = std::vector<std::pair<std::string, std::string>>;
  Sections& sections() { return sections_; }
  std::string& section(std::string_view name) {
    for (auto& [of_section, bytes] : sections_) {
      if (of_section == name) return bytes;
    }
    return sections_.emplace_back(name, "").second;
  }
  // Everything that is JSON; "settings" of it are those of the task.
  Json settings() { return Json::parse(section("model")); }
  void set_settings(const Json& settings) { section("model") = settings.dump(); }
  void set(std::string_view key, const Json& value) {
    Json all = settings();
    all[key] = value;
    set_settings(all);
  }
  void set_of_task(std::string_view key, const Json& value) {
    Json all = settings();
    all["settings"][key] = value;
    set_settings(all);
  }
  template <class T>
  void set_numbers(std::string_view name, const std::vector<T>& numbers) {
    section(name).assign(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(T));
  }
  template <class T>
  std::vector<T> numbers(std::string_view name) {
    const std::string& bytes = section(name);
    std::vector<T> result(bytes.size() / sizeof(T));
    bytes.copy(reinterpret_cast<char*>(result.data()), result.size() * sizeof(T));
    return result;
  }

  void write(const std::string& path) const {
    ModelFileWriter writer;
    for (const auto& [name, bytes] : sections_) writer.add_bytes(name, bytes);
    writer.write(path);
  }

 private:
  Sections sections_;
};

}  // namespace espalier::testing
