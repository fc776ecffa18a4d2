#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/finite.h"
#include "espalier/base/error.h"
#include "espalier/base/memory.h"

namespace espalier {

// The container that models are kept in: a header (magic "ESPALIER", format version, file size), a directory
// of named sections, and the sections, each on a 64-byte boundary; header, directory and every section have
// an XXH3 checksum. All numbers are little-endian. No times, no paths: the same contents give the same bytes.
//
// The format that is read; a file says the oldest one that has all it needs. 2: weights that are not floats
// side by side (weight_coding.h).
inline constexpr std::uint32_t kModelFormatVersion = 2;
inline constexpr std::uint32_t kPlainFormatVersion = 1;

// Throws Error for a name that would pack the file: models are memory-mapped.
void check_model_name(const std::string& path);

// Whether a file begins like one. Never for what is no regular file: a pipe can be read only once.
bool is_model_file(const std::string& path);

class ModelFileWriter {
 public:
  explicit ModelFileWriter(std::uint32_t version = kPlainFormatVersion) : version_(version) {}

  // Adds a section. Requires a name that is new, not empty and of at most 31 bytes. The bytes must stay valid
  // until write().
  template <class T>
  void add(std::string_view name, std::span<const T> values) {
    add_bytes(name, {reinterpret_cast<const char*>(values.data()), values.size_bytes()});
  }
  void add_bytes(std::string_view name, std::string_view bytes);
  // Atomically (OutputFile): a reader never sees half a model. Throws what check_model_name does.
  void write(const std::string& path) const;
  // What write() would write, in memory.
  AlignedVector<char> image() const;

 private:
  struct Section {
    std::string name;
    std::string_view bytes;
  };
  std::uint32_t version_;
  std::vector<Section> sections_;
};

// A model file, memory-mapped (or in memory already) and fully checked when opened: size, bounds, padding and
// checksum of every section. Throws Error naming the file, with a message of its own for: not a model at all,
// truncated, corrupt (and where), and made by a newer version of the program. Packed files and pipes are not
// models.
class ModelFile {
 public:
  explicit ModelFile(const std::string& path);
  // The same of what ModelFileWriter::image() made; `name` stands for the path in messages.
  ModelFile(const std::string& name, AlignedVector<char> image);
  ~ModelFile();
  ModelFile(ModelFile&&) noexcept;

  ModelFile& operator=(ModelFile&&) = delete;

  bool has(std::string_view name) const;
  // The contents of a section. Throws Error if it is missing or its size is not a multiple of sizeof(T).
  template <class T>
  std::span<const T> section(std::string_view name) const {
    const std::string_view bytes = section_bytes(name);
    if (bytes.size() % sizeof(T) != 0) fail_size(name);
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  // The same of numbers, all of them finite.
  template <class T>
  std::span<const T> numbers(std::string_view name) const {
    const auto all = section<T>(name);
    if (!all_finite(all)) fail_finite(name);
    return all;
  }
  std::string_view section_bytes(std::string_view name) const;
  // Calls with the name and the contents of each section, in their order.
  template <class Use>
  void for_each_section(const Use& use) const {
    for (const Section& section : sections_) use(section.name, section.bytes);
  }
  const std::string& path() const { return path_; }
  // All of it, byte by byte.
  std::string_view bytes() const { return {data_, size_}; }

 private:
  struct Section {
    std::string name;
    std::string_view bytes;
  };

  void map();
  void read_directory();
  const Section* find(std::string_view name) const;
  [[noreturn]] void fail_size(std::string_view name) const;
  [[noreturn]] void fail_finite(std::string_view name) const;

  std::string path_;
  AlignedVector<char> image_;   // where the contents are in memory; else they are mapped
  const char* data_ = nullptr;  // either way
  std::size_t size_ = 0;
  std::vector<Section> sections_;
};

}  // namespace espalier
