#include "tasks/tag/chunks.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "espalier/base/error.h"

namespace espalier {

namespace {

constexpr std::uint32_t kOutside = 0, kNoType = 0;  // ids of the tag O and of its type

double share(std::size_t part, std::size_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

// In the order of conlleval's operations, so that the last digit printed is the same.
double percent(std::size_t part, std::size_t whole) {
  return whole > 0 ? 100 * static_cast<double>(part) / static_cast<double>(whole) : 0;
}

}  // namespace

ChunkScores::ChunkScores() { id_of("O"); }

// Called for every token: only a new tag takes memory.
std::uint32_t ChunkScores::id_of(std::string_view tag) {
  const std::size_t hyphen = tag.find('-');
  const std::string_view prefix = tag.substr(0, hyphen);
  const std::string_view type = hyphen == std::string_view::npos ? "" : tag.substr(hyphen + 1);
  const std::uint32_t id = names_.add(type.empty() ? prefix : tag);  // "B-" is "B"
  if (id < tags_.size()) return id;

  Prefix kind = Prefix::other;
  if (prefix == "B") kind = Prefix::begin;
  if (prefix == "I") kind = Prefix::inside;
  if (prefix == "E") kind = Prefix::end;
  if (prefix == "[" || prefix == "]") kind = Prefix::bracket;
  if (prefix == "O") kind = Prefix::outside;
  if (prefix == ".") kind = Prefix::dot;
  tags_.push_back({kind, types_.add(type)});
  counts_.resize(types_.size());
  return id;
}

bool ChunkScores::ends_between(Tag before, Tag now) {
  if (before.prefix == Prefix::outside || before.prefix == Prefix::dot) return false;
  if (before.prefix == Prefix::bracket || before.type != now.type) return true;
  switch (before.prefix) {
    case Prefix::begin:
    case Prefix::inside:
      return now.prefix == Prefix::begin || now.prefix == Prefix::outside;
    case Prefix::end:
      return now.prefix == Prefix::end || now.prefix == Prefix::inside || now.prefix == Prefix::outside;
    default:
      return false;
  }
}

bool ChunkScores::starts_between(Tag before, Tag now) {
  if (now.prefix == Prefix::outside || now.prefix == Prefix::dot) return false;
  if (now.prefix == Prefix::bracket || before.type != now.type) return true;
  switch (now.prefix) {
    case Prefix::begin:
      return before.prefix == Prefix::begin || before.prefix == Prefix::inside ||
             before.prefix == Prefix::outside;
    case Prefix::inside:
    case Prefix::end:
      return before.prefix == Prefix::end || before.prefix == Prefix::outside;
    default:
      return false;
  }
}

void ChunkScores::add(std::span<const std::string_view> gold, std::span<const std::string_view> predicted) {
  ESPALIER_EXPECT(gold.size() == predicted.size());
  Tag gold_before = tags_[kOutside], predicted_before = gold_before;
  bool agree = false;  // both are in a chunk of one type that began at one token
  const auto step = [&](Tag gold_now, Tag predicted_now) {
    if (agree) {
      const bool gold_ends = ends_between(gold_before, gold_now);
      const bool predicted_ends = ends_between(predicted_before, predicted_now);
      if (gold_ends && predicted_ends && gold_before.type == predicted_before.type) {
        ++counts_[gold_before.type].correct;
        agree = false;
      } else if (gold_ends != predicted_ends || gold_now.type != predicted_now.type) {
        agree = false;
      }
    }
    const bool gold_starts = starts_between(gold_before, gold_now);
    const bool predicted_starts = starts_between(predicted_before, predicted_now);
    if (gold_starts) ++counts_[gold_now.type].gold;
    if (predicted_starts) ++counts_[predicted_now.type].predicted;
    if (gold_starts && predicted_starts && gold_now.type == predicted_now.type) agree = true;
    gold_before = gold_now;
    predicted_before = predicted_now;
  };

  std::size_t errors = 0;
  for (std::size_t t = 0; t < gold.size(); ++t) {
    const std::uint32_t gold_id = id_of(gold[t]), predicted_id = id_of(predicted[t]);
    if (gold_id != predicted_id) {
      ++errors;
      ++confusions_[std::uint64_t{gold_id} << 32 | predicted_id];
    }
    step(tags_[gold_id], tags_[predicted_id]);
  }
  const std::uint32_t last_type = gold_before.type;
  step(tags_[kOutside], tags_[kOutside]);
  if (agree) ++counts_[last_type].correct;

  ++sequences_;
  if (errors == 0) ++correct_sequences_;
  tokens_ += gold.size();
  correct_tokens_ += gold.size() - errors;
}

Evaluation ChunkScores::evaluate() const {
  Evaluation result;
  result.rates["accuracy"] = share(correct_tokens_, tokens_);
  result.dev_error = 1 - share(correct_tokens_, tokens_);
  result.metric = "accuracy %";
  result.value = percent(correct_tokens_, tokens_);
  result.headline = fmt::format("accuracy {:.2f} %", result.value);
  result.text =
      fmt::format("{} ({} of {} tokens)\nwhole sequences {:.2f} % ({} of {})\n", result.headline,
                  grouped(correct_tokens_), grouped(tokens_), percent(correct_sequences_, sequences_),
                  grouped(correct_sequences_), grouped(sequences_));
  result.report["tokens"] = tokens_;
  result.report["sequences"] = sequences_;
  result.report["sequence_accuracy"] = share(correct_sequences_, sequences_);
  if (are_chunk_tags()) {
    report_chunks(result);
  } else {
    report_confusions(result);
  }
  // The rates come first.
  Json report = result.rates;
  report.update(result.report);
  result.report = std::move(report);
  return result;
}

// B-NP is a chunk tag, and so is a plain B, but only where all tags are like that: a letter may be a part of
// speech.
bool ChunkScores::are_chunk_tags() const {
  bool all_plain = true;
  for (std::uint32_t id = 0; id < tags_.size(); ++id) {
    const std::string_view name = names_.name(id);
    const bool typed = tags_[id].type != kNoType;
    const Prefix prefix = tags_[id].prefix;
    const bool in_chunk = prefix == Prefix::begin || prefix == Prefix::inside || prefix == Prefix::end ||
                          prefix == Prefix::bracket || name == "S" || name.starts_with("S-");
    if (in_chunk && typed) return true;
    all_plain = all_plain && !typed && (in_chunk || prefix != Prefix::other);
  }
  return all_plain;
}

void ChunkScores::report_chunks(Evaluation& result) const {
  Counts all;
  std::vector<std::pair<std::string_view, Counts>> rows;
  for (std::uint32_t type = 0; type < counts_.size(); ++type) {
    const Counts& counts = counts_[type];
    all.gold += counts.gold;
    all.predicted += counts.predicted;
    all.correct += counts.correct;
    if (counts.gold + counts.predicted > 0) rows.emplace_back(types_.name(type), counts);
  }
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.first < b.first; });

  const auto put_rates = [](Json& json, const Counts& counts) {
    json["precision"] = share(counts.correct, counts.predicted);
    json["recall"] = share(counts.correct, counts.gold);
    json["f1"] = share(2 * counts.correct, counts.gold + counts.predicted);
  };
  const auto put_counts = [](Json& json, const Counts& counts) {
    json["gold"] = counts.gold;
    json["predicted"] = counts.predicted;
    json["correct"] = counts.correct;
  };
  put_rates(result.rates, all);
  put_counts(result.report["chunks"], all);
  Json& types = result.report["types"] = Json::object();
  for (const auto& row : rows) {
    Json& json = types[std::string(row.first)];
    put_rates(json, row.second);
    put_counts(json, row.second);
  }

  const auto f1 = [](const Counts& counts) {
    const double precision = percent(counts.correct, counts.predicted);
    const double recall = percent(counts.correct, counts.gold);
    return precision + recall > 0 ? 2 * precision * recall / (precision + recall) : 0;
  };
  const auto label = [](std::string_view type) {
    return type.empty() ? std::string_view("(no type)") : type;
  };
  std::size_t width = std::string_view("all types").size();
  for (const auto& row : rows) width = std::max(width, label(row.first).size());
  result.text +=
      fmt::format("\n{:{}}  precision    recall        F1       gold  predicted    correct\n", "", width);
  const auto add_row = [&](std::string_view name, const Counts& counts) {
    result.text +=
        fmt::format("{:{}}  {:7.2f} %  {:6.2f} %  {:6.2f} %  {:>9}  {:>9}  {:>9}\n", name, width,
                    percent(counts.correct, counts.predicted), percent(counts.correct, counts.gold),
                    f1(counts), grouped(counts.gold), grouped(counts.predicted), grouped(counts.correct));
  };
  add_row("all types", all);
  for (const auto& row : rows) add_row(label(row.first), row.second);
  result.metric = "F1 %";
  result.value = f1(all);
  result.headline = fmt::format("F1 {:.2f} %", result.value);
  result.dev_error = 1 - result.rates["f1"].get<double>();
}

void ChunkScores::report_confusions(Evaluation& result) const {
  constexpr std::size_t kLongestList = 10;
  struct Confusion {
    std::string_view gold, predicted;
    std::size_t count;
  };
  std::vector<Confusion> confusions;
  for (const auto& entry : confusions_) {
    confusions.push_back({names_.name(static_cast<std::uint32_t>(entry.first >> 32)),
                          names_.name(static_cast<std::uint32_t>(entry.first)), entry.second});
  }
  std::sort(confusions.begin(), confusions.end(), [](const Confusion& a, const Confusion& b) {
    if (a.count != b.count) return a.count > b.count;
    return std::pair(a.gold, a.predicted) < std::pair(b.gold, b.predicted);
  });
  if (confusions.size() > kLongestList) confusions.resize(kLongestList);

  Json& list = result.report["confusions"] = Json::array();
  if (!confusions.empty()) result.text += "\nmost frequent confusions (gold -> predicted)\n";
  for (const Confusion& confusion : confusions) {
    list.push_back(
        {{"gold", confusion.gold}, {"predicted", confusion.predicted}, {"count", confusion.count}});
    result.text +=
        fmt::format("{:>9}  {} -> {}\n", grouped(confusion.count), confusion.gold, confusion.predicted);
  }
}

}  // namespace espalier
