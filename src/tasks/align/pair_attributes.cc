#include "tasks/align/pair_attributes.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include "features/word_attributes.h"

namespace espalier {
namespace {

// Attributes that every model has, by their places in its dictionary.
constexpr std::uint32_t kTenths = 11;     // none, and ten steps up to 1
constexpr std::uint32_t kDistances = 10;  // steps of a twentieth; the last one has the rest
constexpr std::uint32_t kPrefixes = 4;    // 3 letters, 4, 5, and more

constexpr std::uint32_t kBias = 0;
constexpr std::uint32_t kDice = 1, kScore = 2, kLikeness = 3, kDistance = 4;  // these have values
constexpr std::uint32_t kBefore = 5, kAfter = 6;                              // and so have these
constexpr std::uint32_t kBestOfSource = 7, kBestOfTarget = 8, kBestOfBoth = 9;
constexpr std::uint32_t kFirst = 10, kLast = 11, kEqual = 12;
constexpr std::uint32_t kPrefix = 13;
constexpr std::uint32_t kDiceStep = kPrefix + kPrefixes;
constexpr std::uint32_t kScoreStep = kDiceStep + kTenths;
constexpr std::uint32_t kLikenessStep = kScoreStep + kTenths;
constexpr std::uint32_t kBeforeStep = kLikenessStep + kTenths;
constexpr std::uint32_t kAfterStep = kBeforeStep + kTenths;
constexpr std::uint32_t kDistanceStep = kAfterStep + kTenths;
constexpr std::uint32_t kEqualAt = kDistanceStep + kDistances;
constexpr std::uint32_t kStrengthAt = kEqualAt + kDistances;
constexpr std::uint32_t kFixed = kStrengthAt + kTenths * kDistances;

std::vector<std::string> fixed_names() {
  std::vector<std::string> names{"bias",   "dice",  "score",          "likeness",       "distance",
                                 "before", "after", "best of source", "best of target", "best",
                                 "first",  "last",  "equal"};
  for (std::uint32_t k = 0; k < kPrefixes; ++k) names.push_back(fmt::format("prefix={}", k + 3));
  const auto add_steps = [&](const std::string& kind, std::uint32_t steps) {
    for (std::uint32_t k = 0; k < steps; ++k) names.push_back(fmt::format("{}={}", kind, k));
  };
  for (const char* kind : {"dice", "score", "likeness", "before", "after"}) add_steps(kind, kTenths);
  add_steps("distance", kDistances);
  add_steps("equal at distance", kDistances);
  for (std::uint32_t k = 0; k < kTenths; ++k)
    add_steps(fmt::format("strength={} at distance", k), kDistances);
  return names;
}

// 0 for none; 1 to 10 for what is above 0, 0.1, ..., 0.9.
std::uint32_t tenths(double x) {
  return x <= 0 ? 0 : std::min(1 + static_cast<std::uint32_t>(x * 10), kTenths - 1);
}

// Twice the letters of their longest common subsequence by the letters of both.
double likeness(std::string_view a, std::string_view b, std::vector<std::size_t>& lengths) {
  lengths.assign(b.size() + 1, 0);
  for (const char letter : a) {
    std::size_t diagonal = 0;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t above = lengths[j + 1];
      lengths[j + 1] = letter == b[j] ? diagonal + 1 : std::max(above, lengths[j]);
      diagonal = above;
    }
  }
  return 2 * static_cast<double>(lengths.back()) / static_cast<double>(a.size() + b.size());
}

// Words of a letter or two are alike by chance, and so are others that have less than half in common.
constexpr double kAlike = 0.5;

std::size_t common_prefix(std::string_view a, std::string_view b) {
  const std::size_t most = std::min(a.size(), b.size());
  std::size_t n = 0;
  while (n < most && a[n] == b[n]) ++n;
  return n;
}

}  // namespace

double distance_from_diagonal(std::size_t i, std::size_t sources, std::size_t j, std::size_t targets) {
  return std::abs((static_cast<double>(i) + 0.5) / static_cast<double>(sources) -
                  (static_cast<double>(j) + 0.5) / static_cast<double>(targets));
}

void PairAttributes::add_fixed(Dictionary& attributes) {
  for (const std::string& name : fixed_names()) attributes.add(name);
}

bool PairAttributes::has_fixed(const Dictionary& attributes) {
  if (attributes.size() < kFixed) return false;
  const auto names = fixed_names();
  for (std::uint32_t id = 0; id < kFixed; ++id) {
    if (attributes.name(id) != names[id]) return false;
  }
  return true;
}

std::uint32_t PairAttributes::find(std::string_view kind, std::string_view a, std::string_view b) {
  name_.assign(kind);
  name_ += a;
  if (!b.empty()) {
    name_ += ' ';
    name_ += b;
  }
  return growing_ != nullptr ? growing_->add(name_) : known_.find(name_).value_or(kNone);
}

void PairAttributes::look_at(const std::vector<std::string>& words, bool source, std::vector<Word>& seen) {
  seen.resize(words.size());
  for (std::size_t k = 0; k < words.size(); ++k) {
    Word& word = seen[k];
    word.lower.clear();
    word.shape.clear();
    append_lower_case(words[k], word.lower);
    append_shape(words[k], word.shape);
    word.counted = source ? counts_.source(word.lower) : counts_.target(word.lower);
    word.scored = source ? scores_.source(word.lower) : scores_.target(word.lower);
    const std::size_t count =
        source ? counts_.source_count(word.counted) : counts_.target_count(word.counted);
    word.frequent = growing_ == nullptr || count >= pair_count_;
    word.own = word.frequent ? find(source ? "source=" : "target=", word.lower, "") : kNone;
  }
}

void PairAttributes::look_at(const SentencePair& pair, bool held_out) {
  look_at(pair.source, true, source_);
  look_at(pair.target, false, target_);
  const std::size_t m = source_.size(), n = target_.size();
  for (auto* values : {&dice_, &score_, &likeness_, &strength_}) values->assign(m * n, 0);
  best_of_source_.assign(m, 0);
  best_of_target_.assign(n, 0);
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      const Word &source = source_[i], &target = target_[j];
      const std::size_t e = i * n + j;
      dice_[e] = dice(counts_, source.counted, target.counted, held_out);
      score_[e] = scores_.value(source.scored, target.scored);
      const double alike = likeness(source.lower, target.lower, lengths_);
      likeness_[e] = alike >= kAlike ? alike : 0;
      strength_[e] = std::max({dice_[e], score_[e], likeness_[e]});
      best_of_source_[i] = std::max(best_of_source_[i], strength_[e]);
      best_of_target_[j] = std::max(best_of_target_[j], strength_[e]);
    }
  }
}

// Of the words before, or after, both; beyond both ends of the sentences is alike.
double PairAttributes::strength(std::size_t i, std::size_t j, bool before) const {
  const std::size_t m = source_.size(), n = target_.size();
  const bool source_ends = before ? i == 0 : i + 1 == m, target_ends = before ? j == 0 : j + 1 == n;
  if (source_ends || target_ends) return source_ends && target_ends ? 1 : 0;
  return strength_[before ? (i - 1) * n + j - 1 : (i + 1) * n + j + 1];
}

void PairAttributes::append_row(std::size_t i, std::size_t j, SparseRows& rows) {
  const std::size_t m = source_.size(), n = target_.size(), e = i * n + j;
  const Word &source = source_[i], &target = target_[j];
  const double distance = distance_from_diagonal(i, m, j, n);
  const double before = strength(i, j, true), after = strength(i, j, false);
  const bool best_of_source = strength_[e] > 0 && strength_[e] == best_of_source_[i];
  const bool best_of_target = strength_[e] > 0 && strength_[e] == best_of_target_[j];
  const bool equal = source.lower == target.lower;
  const std::uint32_t far = std::min(static_cast<std::uint32_t>(distance * 20), kDistances - 1);

  rows.add(kBias, 1);
  const auto add_value = [&](std::uint32_t attribute, double value) {
    if (value != 0) rows.add(attribute, static_cast<float>(value));
  };
  add_value(kDice, dice_[e]);
  add_value(kScore, score_[e]);
  add_value(kLikeness, likeness_[e]);
  add_value(kDistance, distance);
  add_value(kBefore, before);
  add_value(kAfter, after);
  if (best_of_source) rows.add(kBestOfSource, 1);
  if (best_of_target) rows.add(kBestOfTarget, 1);
  if (best_of_source && best_of_target) rows.add(kBestOfBoth, 1);
  if (i == 0 && j == 0) rows.add(kFirst, 1);
  if (i + 1 == m && j + 1 == n) rows.add(kLast, 1);
  if (equal) rows.add(kEqual, 1);
  if (const std::size_t prefix = common_prefix(source.lower, target.lower); !equal && prefix >= 3)
    rows.add(kPrefix + std::min(static_cast<std::uint32_t>(prefix) - 3, kPrefixes - 1), 1);
  rows.add(kDiceStep + tenths(dice_[e]), 1);
  if (scores_.size() > 0) rows.add(kScoreStep + tenths(score_[e]), 1);
  rows.add(kLikenessStep + tenths(likeness_[e]), 1);
  rows.add(kBeforeStep + tenths(before), 1);
  rows.add(kAfterStep + tenths(after), 1);
  rows.add(kDistanceStep + far, 1);
  if (equal) rows.add(kEqualAt + far, 1);
  rows.add(kStrengthAt + tenths(strength_[e]) * kDistances + far, 1);

  const auto add_named = [&](std::uint32_t attribute) {
    if (attribute != kNone) rows.add(attribute, 1);
  };
  add_named(source.own);
  add_named(target.own);
  if (source.frequent && target.frequent &&
      (growing_ == nullptr ||
       counts_.value(source.counted, target.counted) >= static_cast<float>(pair_count_)))
    add_named(find("pair=", source.lower, target.lower));
  add_named(find("shapes=", source.shape, target.shape));
  add_named(find("suffixes=", suffix_of(source.lower, 2), suffix_of(target.lower, 2)));
  rows.finish_row();
}

void PairAttributes::append(const SentencePair& pair, bool held_out, SparseRows& rows) {
  look_at(pair, held_out);
  for (std::size_t i = 0; i < source_.size(); ++i) {
    for (std::size_t j = 0; j < target_.size(); ++j) append_row(i, j, rows);
  }
}

}  // namespace espalier
