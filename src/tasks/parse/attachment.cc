#include "tasks/parse/attachment.h"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <string>

#include "base/text.h"
#include "espalier/base/error.h"

namespace espalier {
namespace {

constexpr std::array<const char*, 5> kDistanceNames = {"root", "1", "2", "3-6", "7-"};
constexpr std::array<std::string_view, 8> kFunctional = {"aux", "case", "cc",   "clf",
                                                         "cop", "det",  "mark", "punct"};

double share(std::size_t part, std::size_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}
double percent(std::size_t part, std::size_t whole) { return 100 * share(part, whole); }

bool is_punctuation(std::string_view form) {
  if (form.empty()) return false;
  const auto* at = reinterpret_cast<const utf8proc_uint8_t*>(form.data());
  const auto* const end = at + form.size();
  while (at != end) {
    utf8proc_int32_t character;
    const utf8proc_ssize_t length = utf8proc_iterate(at, end - at, &character);
    if (length <= 0) return false;
    const utf8proc_category_t category = utf8proc_category(character);
    if (category < UTF8PROC_CATEGORY_PC || category > UTF8PROC_CATEGORY_PO) return false;
    at += length;
  }
  return true;
}

std::string_view without_subtype(std::string_view relation) { return relation.substr(0, relation.find(':')); }

bool is_content(std::string_view universal_relation) {
  return std::find(kFunctional.begin(), kFunctional.end(), universal_relation) == kFunctional.end();
}

}  // namespace

std::size_t AttachmentScores::distance_of(std::size_t head, std::size_t modifier) {
  if (head == 0) return 0;
  const std::size_t distance = head < modifier ? modifier - head : head - modifier;
  return distance <= 2 ? distance : distance <= 6 ? 3 : 4;
}

void AttachmentScores::add(const DependencySentence& gold, std::span<const std::uint32_t> heads,
                           std::span<const std::string_view> relations) {
  ESPALIER_EXPECT(heads.size() == gold.words.size());
  ESPALIER_EXPECT(relations.empty() || relations.size() == heads.size());
  labelled_ = labelled_ && relations.size() == heads.size();
  universal_ = universal_ || gold.universal;
  bool heads_right = true, labels_right = true;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const DependencyWord& word = gold.words[i];
    const bool head = heads[i] == word.head;
    const bool label = head && labelled_ && relations[i] == word.relation;
    heads_right = heads_right && head;
    labels_right = labels_right && label;
    const auto count = [&](Counts& counts) {
      ++counts.all;
      counts.heads += head ? 1 : 0;
      counts.labelled += label ? 1 : 0;
    };
    count(words_);
    count(distances_[distance_of(word.head, i + 1)]);
    if (!is_punctuation(word.form)) count(without_punctuation_);
    if (!labelled_) continue;

    const std::string_view wanted = without_subtype(word.relation), found = without_subtype(relations[i]);
    const bool universal = head && wanted == found;
    universal_correct_ += universal ? 1 : 0;
    if (is_content(found)) ++content_predicted_;
    if (is_content(wanted)) {
      ++content_gold_;
      content_correct_ += universal ? 1 : 0;
    }
  }
  ++trees_.all;
  trees_.heads += heads_right ? 1 : 0;
  trees_.labelled += labels_right ? 1 : 0;
}

Evaluation AttachmentScores::evaluation() const {
  Evaluation result;
  const double uas = percent(words_.heads, words_.all), las = percent(words_.labelled, words_.all);
  result.rates["uas"] = share(words_.heads, words_.all);
  if (labelled_) result.rates["las"] = share(words_.labelled, words_.all);
  result.rates["uas_nopunct"] = share(without_punctuation_.heads, without_punctuation_.all);
  if (labelled_) {
    result.rates["las_nopunct"] = share(without_punctuation_.labelled, without_punctuation_.all);
  }
  result.rates["exact"] = share(trees_.heads, trees_.all);
  if (labelled_) result.rates["exact_labelled"] = share(trees_.labelled, trees_.all);

  if (may_be_proven_ > 0) result.rates["proven_best"] = share(proven_, may_be_proven_);

  result.dev_error = 1 - share(labelled_ ? words_.labelled : words_.heads, words_.all);
  result.metric = labelled_ ? "LAS %" : "UAS %";
  result.value = labelled_ ? las : uas;
  result.headline = fmt::format("UAS {} %", percentage(uas));
  if (labelled_) result.headline += fmt::format(", LAS {} %", percentage(las));
  report_counts(result);
  write_tables(result);
  return result;
}

void AttachmentScores::report_counts(Evaluation& result) const {
  Json& report = result.report = result.rates;
  if (labelled_ && universal_) {
    report["las_universal"] = share(universal_correct_, words_.all);
    report["clas"] = share(2 * content_correct_, content_gold_ + content_predicted_);
  }
  report["sentences"] = trees_.all;
  report["exact_sentences"] = trees_.heads;
  report["in_pieces"] = in_pieces_;
  const auto put = [&](Json& json, const Counts& counts) {
    json["words"] = counts.all;
    json["correct_heads"] = counts.heads;
    if (labelled_) json["correct_labelled"] = counts.labelled;
  };
  put(report, words_);
  put(report["nopunct"], without_punctuation_);
  Json& distances = report["distances"];
  for (std::size_t k = 0; k < kDistances; ++k) {
    Json& json = distances[kDistanceNames[k]];
    if (distances_[k].all > 0) json["uas"] = share(distances_[k].heads, distances_[k].all);
    put(json, distances_[k]);
  }
}

void AttachmentScores::write_tables(Evaluation& result) const {
  std::string& text = result.text;
  const auto add_row = [&](const char* name, std::string_view uas, std::string_view las,
                           std::string_view number) {
    text += fmt::format("{:<20}  {:>8}", name, uas);
    if (labelled_) text += fmt::format("  {:>8}", las);
    text += fmt::format("  {:>9}\n", number);
  };
  const auto rate = [](std::size_t part, std::size_t whole) {
    return whole > 0 ? percentage(percent(part, whole)) + " %" : std::string("-");
  };
  const auto add_counts = [&](const char* name, const Counts& counts) {
    add_row(name, rate(counts.heads, counts.all), rate(counts.labelled, counts.all), grouped(counts.all));
  };
  text = result.headline + "\n\n";
  add_row("", "UAS", "LAS", "out of");
  add_counts("all words", words_);
  add_counts("without punctuation", without_punctuation_);
  if (labelled_ && universal_) {
    add_row("without subtypes", "", rate(universal_correct_, words_.all), grouped(words_.all));
    add_row("content words (CLAS)", "", rate(2 * content_correct_, content_gold_ + content_predicted_),
            grouped(content_gold_));
  }
  add_counts("whole trees", trees_);
  if (in_pieces_ > 0) add_row("parsed in pieces", "", "", grouped(in_pieces_));
  if (may_be_proven_ > 0)
    add_row("proven to be best", rate(proven_, may_be_proven_), "", grouped(may_be_proven_));
  text += "\ndistance to the head\n";
  for (std::size_t k = 0; k < kDistances; ++k) add_counts(kDistanceNames[k], distances_[k]);
}

}  // namespace espalier
