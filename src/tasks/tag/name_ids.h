#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "espalier/features/dictionary.h"

namespace espalier {

inline constexpr std::uint32_t kUnknownName = ~std::uint32_t{0};

// Looks up many names at once, in a dictionary that takes in new ones or in one that stays as it is.
class NameIds {
 public:
  // Counts how often each name is asked for, where `counts` is given.
  explicit NameIds(Dictionary& growing, std::vector<std::uint32_t>* counts = nullptr)
      : dictionary_(growing), growing_(&growing), counts_(counts) {}
  explicit NameIds(const Dictionary& fixed) : dictionary_(fixed) {}

  bool is_fixed() const { return growing_ == nullptr; }
  void clear() { names_.clear(); }
  // Announces a name, which must stay where it is until its id was asked for.
  void push(std::string_view name) {
    const std::uint32_t hash = Dictionary::hash(name);
    dictionary_.prefetch(hash);
    names_.push_back({name, hash});
  }
  std::size_t size() const { return names_.size(); }
  // kUnknownName where the dictionary stays as it is and does not have the name.
  std::uint32_t id(std::size_t i) {
    const auto& [name, hash] = names_[i];
    if (!growing_) return dictionary_.find(name, hash).value_or(kUnknownName);
    const std::uint32_t id = growing_->add(name, hash);
    if (counts_) {
      counts_->resize(growing_->size());
      ++(*counts_)[id];
    }
    return id;
  }

 private:
  struct Hashed {
    std::string_view name;
    std::uint32_t hash;
  };

  const Dictionary& dictionary_;
  Dictionary* growing_ = nullptr;
  std::vector<std::uint32_t>* counts_ = nullptr;
  std::vector<Hashed> names_;
};

}  // namespace espalier
