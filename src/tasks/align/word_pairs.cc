#include "tasks/align/word_pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/input.h"
#include "base/parse_number.h"
#include "espalier/base/error.h"
#include "features/word_attributes.h"
#include "tasks/common.h"
#include "tasks/fields.h"

namespace espalier {
namespace {

std::uint64_t key_of(std::uint32_t source, std::uint32_t target) {
  return std::uint64_t{source} << 32 | target;
}

// The numbers of the words, each once, in the order of their numbers.
std::vector<std::uint32_t> count_words(std::span<const std::string> words, Dictionary& known,
                                       std::vector<std::uint32_t>& counts) {
  std::vector<std::uint32_t> ids;
  for (const std::string& word : words) ids.push_back(known.add(word));
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  counts.resize(known.size());
  for (const std::uint32_t id : ids) ++counts[id];
  return ids;
}

}  // namespace

void WordPairs::count(std::span<const std::string> source, std::span<const std::string> target) {
  const auto of_source = count_words(source, sources_, own_source_counts_);
  const auto of_target = count_words(target, targets_, own_target_counts_);
  for (const std::uint32_t s : of_source) {
    for (const std::uint32_t t : of_target) ++counting_[key_of(s, t)];
  }
}

void WordPairs::finish() {
  std::vector<std::pair<std::uint64_t, float>> sorted(counting_.begin(), counting_.end());
  std::sort(sorted.begin(), sorted.end());
  counting_.clear();
  for (const auto& [key, value] : sorted) {
    own_keys_.push_back(key);
    own_values_.push_back(value);
  }
  source_counts_ = own_source_counts_;
  target_counts_ = own_target_counts_;
  keys_ = own_keys_;
  values_ = own_values_;
}

WordPairs WordPairs::read(const std::string& path) {
  WordPairs scores;
  LineReader lines(path);
  for (std::string_view line; lines.next(line);) {
    std::string_view fields[4];
    const std::size_t count = split_fields(line, fields);
    if (count == 0) continue;
    if (count != 3) lines.fail(in_quotes(line), "expected SOURCE TARGET SCORE");
    const auto score = parse_double(fields[2]);
    if (!score || !(*score >= 0 && *score <= 1))
      lines.fail(fmt::format("the score {}", in_quotes(fields[2])), "expected a number from 0 to 1");
    const auto added = scores.counting_.emplace(
        key_of(scores.sources_.add(lower_case(fields[0])), scores.targets_.add(lower_case(fields[1]))),
        static_cast<float>(*score));
    if (!added.second)
      lines.fail(fmt::format("{} and {} a second time", in_quotes(fields[0]), in_quotes(fields[1])),
                 "expected each pair once");
  }
  if (scores.counting_.empty()) throw Error::in(lines.name(), "no scores", "expected SOURCE TARGET SCORE");
  scores.finish();
  return scores;
}

float WordPairs::value(std::uint32_t source, std::uint32_t target) const {
  if (source == kUnknown || target == kUnknown) return 0;
  const std::uint64_t key = key_of(source, target);
  const auto found = std::lower_bound(keys_.begin(), keys_.end(), key);
  return found == keys_.end() || *found != key ? 0 : values_[static_cast<std::size_t>(found - keys_.begin())];
}

void WordPairs::add_to(const std::string& name, TaskSections& sections) const {
  add_dictionary(name + ".sources", sources_, sections);
  add_dictionary(name + ".targets", targets_, sections);
  sections.arrays.emplace_back(name + ".source_counts", as_bytes(source_counts_));
  sections.arrays.emplace_back(name + ".target_counts", as_bytes(target_counts_));
  sections.arrays.emplace_back(name + ".keys", as_bytes(keys_));
  sections.arrays.emplace_back(name + ".values", as_bytes(values_));
}

WordPairs WordPairs::load(const std::string& name, const StoredTask& stored) {
  WordPairs pairs;
  pairs.sources_ = load_dictionary(name + ".sources", stored);
  pairs.targets_ = load_dictionary(name + ".targets", stored);
  const auto array = [&]<class T>(const char* part, T) {
    return as_array<T>(stored.array(name + part), name + part, stored.file);
  };
  pairs.source_counts_ = array(".source_counts", std::uint32_t{});
  pairs.target_counts_ = array(".target_counts", std::uint32_t{});
  pairs.keys_ = array(".keys", std::uint64_t{});
  pairs.values_ = as_numbers<float>(stored.array(name + ".values"), name + ".values", stored.file);
  if (!pairs.fits_together())
    throw Error::in(stored.file,
                    fmt::format("numbers of word pairs that do not fit together in {}", in_quotes(name)),
                    "retrain the model");
  return pairs;
}

// Keys ascend and are those of words; values are in (0, 1], or no more than the counts of both words.
bool WordPairs::fits_together() const {
  const bool counts = !source_counts_.empty();
  if (keys_.size() != values_.size() || (counts && source_counts_.size() != sources_.size()) ||
      target_counts_.size() != (counts ? targets_.size() : 0))
    return false;
  for (std::size_t k = 0; k < keys_.size(); ++k) {
    const std::uint64_t source = keys_[k] >> 32, target = keys_[k] & 0xffffffffu;
    if (source >= sources_.size() || target >= targets_.size() || (k > 0 && keys_[k] <= keys_[k - 1]))
      return false;
    const auto most =
        counts ? static_cast<double>(std::min(source_counts_[source], target_counts_[target])) : 1.0;
    if (!(values_[k] >= 0 && values_[k] <= most)) return false;
  }
  return true;
}

std::string lower_case(std::string_view word) {
  std::string lower;
  append_lower_case(word, lower);
  return lower;
}

double dice(const WordPairs& counts, std::uint32_t source, std::uint32_t target, bool held_out) {
  const double less = held_out ? 1 : 0;
  const double together = counts.value(source, target) - less;
  if (together <= 0) return 0;
  return 2 * together / (counts.source_count(source) - less + counts.target_count(target) - less);
}

}  // namespace espalier
