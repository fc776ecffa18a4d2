#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "espalier/base/json.h"
#include "espalier/features/dictionary.h"

namespace espalier {

// With as many digits as a page can show.
Json short_json(double value, int digits = 4);

// [[index, probability], ...] of what is probable enough to be seen, most probable first; `always` is among
// them.
Json most_likely(std::span<const double> probabilities, std::optional<std::size_t> always = {});

// Whether predictions of some probability are right as often as it says: those with p in ((k - 1)/10, k/10].
class Calibration {
 public:
  static constexpr std::size_t kBins = 10;

  void add(double probability, bool right);
  bool empty() const { return total_ == 0; }
  // {"bins": [{"from", "to", "count", "confidence", "accuracy"}], "error": ...}, where the error is the mean
  // of |confidence - accuracy| over predictions. Bins without any are left out.
  Json json() const;

 private:
  struct Bin {
    std::size_t count = 0, right = 0;
    double sum = 0;
  };
  std::array<Bin, kBins> bins_{};
  std::size_t total_ = 0;
};

// Gold against predicted labels.
class LabelPairs {
 public:
  static constexpr std::size_t kMostShown = 30;

  void add(std::string_view gold, std::string_view predicted);
  // {"labels": [...], "counts": [gold][predicted], "left_out": labels}: all labels, the most frequent gold
  // ones first, or, of more than can be shown, those with the most errors.
  Json json() const;
  // The most frequent confusions: [{"gold", "predicted", "count"}], most frequent first.
  Json most_confused(std::size_t top) const;

 private:
  Dictionary names_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> counts_;
};

// What is right, by the length of sentences.
class LengthTally {
 public:
  void add(std::size_t length, std::size_t correct);
  // [{"from", "to", "sentences", "exact", "tokens", "correct"}] without empty ones; the last "to" is null.
  Json json() const;

 private:
  static constexpr std::array<std::size_t, 8> kFrom{1, 6, 11, 16, 21, 31, 41, 61};
  struct Range {
    std::size_t sentences = 0, exact = 0, tokens = 0, correct = 0;
  };
  std::array<Range, kFrom.size()> ranges_{};
};

// Examples of errors, of which a page has room for some: the surest ones, and a few of each kind.
class ErrorList {
 public:
  static constexpr std::size_t kSurest = 150, kOfEachKind = 3, kMost = 400;
  static constexpr std::size_t kMostBytes = 700'000;

  // How sure the model was; what kinds of errors it has, such as gold and predicted label. null: it counts,
  // but is none to show.
  void add(double sureness, std::vector<std::string> kinds, Json content);
  // {"all": number, "shown": number, "list": [...]}, the surest first.
  Json json();

 private:
  static constexpr std::size_t kPruneAt = 4000;
  struct One {
    double sureness;
    std::size_t number;
    std::vector<std::string> kinds;
    Json content;
  };
  // What is left out now would be left out at the end.
  void prune();

  std::vector<One> list_;
  std::size_t all_ = 0;
};

}  // namespace espalier
