#include "espalier/features/dictionary.h"

#include <algorithm>
#include <bit>
#include <cstring>

#define XXH_INLINE_ALL  // names are short: the call would cost as much as the hash
#include <xxhash.h>

#include "espalier/base/error.h"

namespace espalier {
namespace {

constexpr std::uint64_t kEmpty = ~std::uint64_t{0};
constexpr std::uint32_t kNoId = ~std::uint32_t{0};
constexpr std::size_t kFirstTable = 16;
// From where the search for a name begins to where it is, on average, at most; half a step is usual.
constexpr std::size_t kMostSteps = 32;

std::uint32_t id_in(std::uint64_t slot) { return static_cast<std::uint32_t>(slot); }
std::uint32_t hash_in(std::uint64_t slot) { return static_cast<std::uint32_t>(slot >> 32); }

}  // namespace

Dictionary::Dictionary()
    : offsets_(1, 0), table_(kFirstTable, kEmpty), offsets_view_(offsets_), table_view_(table_) {}

Dictionary::Dictionary(std::span<const char> bytes, std::span<const std::uint64_t> offsets,
                       std::span<const std::uint64_t> table, const std::string& file)
    : bytes_view_(bytes), offsets_view_(offsets), table_view_(table) {
  const auto check = [&](bool fits, const char* found) {
    if (!fits) throw Error::in(file, std::string("damaged dictionary: ") + found, "retrain the model");
  };
  check(!offsets.empty() && offsets.front() == 0 && offsets.back() == bytes.size(),
        "its names do not fill their place");
  bool ascending = true;
  for (std::size_t i = 1; i < offsets.size(); ++i) ascending &= offsets[i - 1] <= offsets[i];
  check(ascending, "its names overlap");

  // Half of the slots are free, as add() keeps them: a free slot ends every search.
  check(std::has_single_bit(table.size()) && table.size() / 2 >= size(), "its table has the wrong size");
  bool in_range = true;
  std::size_t used = 0, steps = 0;  // from where searches begin to where names are
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (table[i] == kEmpty) continue;
    ++used;
    steps += (i - hash_in(table[i])) & (table.size() - 1);
    in_range &= id_in(table[i]) < size();
  }
  check(in_range && used == size(), "its table does not hold its names");
  // So that what follows, and every search later, takes as long as it does in a table that add() filled.
  check(steps <= kMostSteps * (size() + kFirstTable), "its table is too crowded");
  bool found = true;
  for (std::uint32_t id = 0; id < size(); ++id) found &= find(name(id)) == id;
  check(found, "its table does not find its names");
}

void Dictionary::clear() {
  ESPALIER_EXPECT(!offsets_.empty());
  if (size() == 0) return;
  bytes_.clear();
  offsets_.resize(1);
  std::fill(table_.begin(), table_.end(), kEmpty);
  bytes_view_ = bytes_;
  offsets_view_ = offsets_;
}

std::uint32_t Dictionary::hash(std::string_view name) {
  return static_cast<std::uint32_t>(XXH3_64bits(name.data(), name.size()) >> 32);
}

std::uint32_t Dictionary::add(std::string_view name) { return add(name, hash(name)); }

std::uint32_t Dictionary::add(std::string_view name, std::uint32_t hash) {
  ESPALIER_EXPECT(!offsets_.empty());
  std::size_t where = slot(hash, name);
  if (table_[where] != kEmpty) return id_in(table_[where]);
  if (size() == kNoId) throw Error("more than 4294967295 names in one dictionary; remove the rare ones");
  if (2 * (size() + 1) > table_.size()) {
    grow();
    where = slot(hash, name);
  }
  const auto id = static_cast<std::uint32_t>(size());
  table_[where] = std::uint64_t{hash} << 32 | id;
  bytes_.insert(bytes_.end(), name.begin(), name.end());
  offsets_.push_back(bytes_.size());
  bytes_view_ = bytes_;
  offsets_view_ = offsets_;
  return id;
}

std::optional<std::uint32_t> Dictionary::find(std::string_view name) const { return find(name, hash(name)); }

std::optional<std::uint32_t> Dictionary::find(std::string_view name, std::uint32_t hash) const {
  const std::uint64_t found = table_view_[slot(hash, name)];
  if (found == kEmpty) return std::nullopt;
  return id_in(found);
}

// The slot that holds the name, or the empty one where it would go.
std::size_t Dictionary::slot(std::uint32_t hash, std::string_view name) const {
  const std::size_t mask = table_view_.size() - 1;
  for (std::size_t i = hash & mask;; i = (i + 1) & mask) {
    const std::uint64_t slot = table_view_[i];
    if (slot == kEmpty || (hash_in(slot) == hash && this->name(id_in(slot)) == name)) return i;
  }
}

void Dictionary::grow() {
  std::vector<std::uint64_t> larger(2 * table_.size(), kEmpty);
  const std::size_t mask = larger.size() - 1;
  for (const std::uint64_t slot : table_) {
    if (slot == kEmpty) continue;
    std::size_t i = hash_in(slot) & mask;
    while (larger[i] != kEmpty) i = (i + 1) & mask;
    larger[i] = slot;
  }
  table_ = std::move(larger);
  table_view_ = table_;
}

}  // namespace espalier
