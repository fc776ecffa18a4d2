#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/base/error.h"

namespace espalier {

// The container that models are kept in: a header (magic "ESPALIER", format version, file size), a directory
// of named sections, and the sections, each on a 64-byte boundary with its own XXH3 checksum; the header and
// directory have one too. All numbers are little-endian. No times, no paths: the same contents give the same
// bytes.
inline constexpr std::uint32_t kModelFormatVersion = 1;

class ModelFileWriter {
 public:
  // Adds a section; names are unique, non-empty, at most 31 bytes. The bytes must stay valid until write().
  template <class T>
  void add(std::string_view name, std::span<const T> values) {
    add_bytes(name, {reinterpret_cast<const char*>(values.data()), values.size_bytes()});
  }
  void add_bytes(std::string_view name, std::string_view bytes);
  // Atomically (OutputFile): a reader never sees half a model.
  void write(const std::string& path) const;

 private:
  struct Section {
    std::string name;
    std::string_view bytes;
  };
  std::vector<Section> sections_;
};

// A model file, memory-mapped and fully checked when opened: size, bounds, alignment and checksums of every
// section. Throws Error naming the file, with a message of its own for: not a model at all, truncated,
// corrupt (which section), and made by a newer version of the program. Packed files and pipes are not models.
class ModelFile {
 public:
  explicit ModelFile(const std::string& path);
  ~ModelFile();
  ModelFile(ModelFile&&) noexcept;

  bool has(std::string_view name) const;
  // The contents of a section. Throws Error where it is missing or its size is no multiple of sizeof(T).
  template <class T>
  std::span<const T> section(std::string_view name) const {
    const std::string_view bytes = section_bytes(name);
    if (bytes.size() % sizeof(T) != 0) fail_size(name);
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  std::string_view section_bytes(std::string_view name) const;
  const std::string& path() const { return path_; }

 private:
  [[noreturn]] void fail_size(std::string_view name) const;

  struct Section {
    std::string name;
    std::string_view bytes;
  };
  std::string path_;
  const char* data_ = nullptr;
  std::size_t size_ = 0;
  std::vector<Section> sections_;
};

}  // namespace espalier
