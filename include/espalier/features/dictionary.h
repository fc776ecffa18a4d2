#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

// Names to ids 0, 1, 2, ... in the order of their first appearance. It grows while training data is read and
// is frozen into a model file as three arrays (the bytes of all names, where each begins, an open-addressing
// hash table over XXH3), which a loaded model uses in place, memory-mapped: opening a model builds no table.
class Dictionary {
 public:
  Dictionary();
  // A frozen dictionary over arrays that live elsewhere (a mapped file). Checks that they fit together
  // (offsets ascending and in bounds, the table a power of two, its ids in range); throws Error naming `file`
  // where not.
  Dictionary(std::span<const char> bytes, std::span<const std::uint64_t> offsets,
             std::span<const std::uint32_t> table, const std::string& file);

  std::size_t size() const { return offsets_view_.size() - 1; }
  // The id of a name, added if new. Requires a dictionary that is not frozen.
  std::uint32_t add(std::string_view name);
  std::optional<std::uint32_t> find(std::string_view name) const;
  std::string_view name(std::uint32_t id) const;

  std::span<const char> bytes() const { return bytes_view_; }
  std::span<const std::uint64_t> offsets() const { return offsets_view_; }
  std::span<const std::uint32_t> table() const { return table_view_; }

 private:
  std::size_t slot(std::string_view name) const;
  void grow();

  // Owned arrays while growing; the views point at them, or into the mapped file.
  std::vector<char> bytes_;
  std::vector<std::uint64_t> offsets_;
  std::vector<std::uint32_t> table_;
  std::span<const char> bytes_view_;
  std::span<const std::uint64_t> offsets_view_;
  std::span<const std::uint32_t> table_view_;
};

}  // namespace espalier
