#pragma once

// Everything that a user can get wrong, each with the one line that tells. Whatever it is: exit status 2,
// nothing on standard output, and no file left behind.

#include <xxhash.h>

#include <cstring>
#include <fstream>
#include <functional>

#include "base/output.h"
#include "cli/cli_test.h"
#include "cli/idx_bytes.h"
#include "model/model_file.h"

namespace espalier::testing {

inline constexpr const char* kGood = "1 1:1 2:0.5\n2 1:-1 3:2\n1 1:2\n2 2:-1 3:1\n";
inline constexpr const char* kGoodItems = "music\tsinger\talbum\nsports\tleague\twins:2\nmusic\tstudio\n";

class BadInputTest;

struct BadInput {
  std::string name;
  // Where it says good.svm, good.txt, model.esp (of good.svm), items.esp (of good.txt), margin.esp (a
  // max-margin model) or digits.esp, that file is there, and in order.
  std::string arguments;
  std::string message;                                          // behind "espalier: "
  std::vector<std::pair<std::string, std::string>> files = {};  // a name that ends in '/' is a folder
  std::function<void(const BadInputTest&)> prepare = {};
};

inline void PrintTo(const BadInput& bad, std::ostream* stream) { *stream << bad.name; }

class BadInputTest : public CliTest, public ::testing::WithParamInterface<BadInput> {
 public:
  void set_up() const {
    const std::string& arguments = GetParam().arguments;
    const auto needs = [&](const char* name) { return arguments.find(name) != std::string::npos; };
    write("good.svm", kGood);
    write("good.txt", kGoodItems);
    if (needs("model.esp")) succeed("train classify good.svm --quiet -o model.esp");
    if (needs("items.esp")) succeed("train classify good.txt --format crfsuite --quiet -o items.esp");
    if (needs("margin.esp")) succeed("train classify good.svm --loss svm --quiet -o margin.esp");
    if (needs("digits.esp")) {
      write("images", idx_images(1, 2, {0, 255, 255, 0}));
      write("labels", idx_labels({0, 1}));
      succeed("train classify images,labels --quiet -o digits.esp");
    }
    for (const auto& [name, contents] : GetParam().files) {
      if (name.ends_with('/')) {
        std::filesystem::create_directory(folder_.path(name));
      } else {
        write(name, contents);
      }
    }
    if (GetParam().prepare) GetParam().prepare(*this);
  }

  // For `prepare`.
  std::string path(const std::string& name) const { return folder_.path(name); }
  void pack(const std::string& name) const {
    OutputFile file(path(name));
    for (int i = 0; i < 1000; ++i) file.write("1 1:" + std::to_string(i) + "\n2 2:3\n");
    file.commit();
  }
  void cut(const std::string& name, std::uintmax_t bytes) const {
    std::filesystem::resize_file(path(name), std::filesystem::file_size(path(name)) - bytes);
  }
  // Turns the bits of a byte around, counted from the end if negative.
  void damage(const std::string& name, std::ptrdiff_t at) const {
    std::fstream file(path(name), std::ios::in | std::ios::out | std::ios::binary);
    const auto from = at < 0 ? std::ios::end : std::ios::beg;
    file.seekg(at, from);
    const char byte = static_cast<char>(~file.get());
    file.seekp(at, from);
    file.put(byte);
  }
  // A model whose format is as given and whose header is in order otherwise.
  void set_format(const std::string& name, std::uint32_t version) const {
    std::fstream file(path(name), std::ios::in | std::ios::out | std::ios::binary);
    char header[64];
    file.read(header, sizeof(header));
    std::memcpy(header + 8, &version, sizeof(version));
    const std::uint64_t checksum = XXH3_64bits(header, 56);
    std::memcpy(header + 56, &checksum, sizeof(checksum));
    file.seekp(0);
    file.write(header, sizeof(header));
  }
  // A model with something else in its settings.
  void set_setting(const std::string& name, const std::string& key, const Json& value) const {
    const ModelFile model(path(name));
    Json settings = Json::parse(model.section_bytes("model"));
    settings[key] = value;
    const std::string text = settings.dump();
    ModelFileWriter writer;
    writer.add_bytes("model", text);
    for (const char* section : {"weights", "labels.bytes", "labels.offsets", "labels.table",
                                "attributes.bytes", "attributes.offsets", "attributes.table"}) {
      writer.add_bytes(section, model.section_bytes(section));
    }
    writer.write(path(name));
  }
};

inline std::string name_of(const ::testing::TestParamInfo<BadInput>& info) { return info.param.name; }

}  // namespace espalier::testing
