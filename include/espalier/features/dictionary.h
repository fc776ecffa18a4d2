#pragma once

#include <cstddef>
#include <cstdint>
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
  // A frozen dictionary over arrays that live elsewhere (a mapped file). Checks that they fit together, so
  // that no contents make it read outside of them or search for ever; throws Error naming `file` where they
  // do not.
  Dictionary(std::span<const char> bytes, std::span<const std::uint64_t> offsets,
             std::span<const std::uint64_t> table, const std::string& file);
  // Moved, never copied: the views would point into the original. One that was moved from may only be
  // assigned to.
  Dictionary(Dictionary&&) = default;
  Dictionary& operator=(Dictionary&&) = default;

  std::size_t size() const { return offsets_view_.size() - 1; }
  // Forgets all names but keeps their memory. Requires a dictionary that is not frozen.
  void clear();
  // The id of a name, added if new. Requires a dictionary that is not frozen.
  std::uint32_t add(std::string_view name);
  std::optional<std::uint32_t> find(std::string_view name) const;
  // The same in steps, for many names at once: memory answers in parallel where the slots of all names are
  // asked for before the first one is looked at.
  static std::uint32_t hash(std::string_view name);
  void prefetch(std::uint32_t hash) const {
    __builtin_prefetch(table_view_.data() + (hash & (table_view_.size() - 1)));
  }
  std::uint32_t add(std::string_view name, std::uint32_t hash);
  std::optional<std::uint32_t> find(std::string_view name, std::uint32_t hash) const;
  std::string_view name(std::uint32_t id) const {
    const std::uint64_t begin = offsets_view_[id];
    return {bytes_view_.data() + begin, offsets_view_[id + 1] - begin};
  }

  // Name `id` is bytes()[offsets()[id], offsets()[id + 1]).
  std::span<const char> bytes() const { return bytes_view_; }
  std::span<const std::uint64_t> offsets() const { return offsets_view_; }
  // A slot holds 32 bits of a name's hash above its id, so that names are compared, and the table grows,
  // almost without touching the names. An empty slot is all ones.
  std::span<const std::uint64_t> table() const { return table_view_; }

 private:
  std::size_t slot(std::uint32_t hash, std::string_view name) const;
  void grow();

  // Owned arrays while growing; the views point at them, or into the mapped file.
  std::vector<char> bytes_;
  std::vector<std::uint64_t> offsets_;
  std::vector<std::uint64_t> table_;
  std::span<const char> bytes_view_;
  std::span<const std::uint64_t> offsets_view_;
  std::span<const std::uint64_t> table_view_;
};

}  // namespace espalier
