#include "tasks/sequence_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/parse_number.h"
#include "espalier/base/error.h"

namespace espalier {
namespace {

constexpr std::string_view kDocument = "-DOCSTART-", kWeight = "weight:";

std::string_view without_space_in_front(std::string_view text) {
  while (!text.empty() && is_white_space(text.front())) text.remove_prefix(1);
  return text;
}

bool is_weight(std::string_view line) {
  return line.starts_with('#') && without_space_in_front(line.substr(1)).starts_with(kWeight);
}

}  // namespace

bool begins_document(std::string_view line) {
  line = without_space_in_front(line);
  return line.starts_with(kDocument) &&
         (line.size() == kDocument.size() || is_white_space(line[kDocument.size()]));
}

std::string SequenceFile::first_place() const {
  const std::string line = fmt::format("line {}", first_line_number);
  return first_name.empty() || first_name == name ? line : fmt::format("{} of {}", line, first_name);
}

SequenceReader::SequenceReader(const InputFiles& files, const TagInput& input, Between between)
    : paths_(files.paths()),
      documents_(input.format == TagFormat::columns),
      weights_(input.weight_comments),
      keeps_between_(between == Between::keep) {
  open_next();
}

SequenceReader::SequenceReader(const TextChunk& chunk, const TagInput& input, const SequenceFile* file)
    : documents_(input.format == TagFormat::columns), weights_(input.weight_comments) {
  reader_.emplace(chunk);
  if (file != nullptr) file_ = *file;
  file_.name = reader_->name();
}

bool SequenceReader::open_next() {
  if (opened_ == paths_.size()) return false;
  reader_.emplace(paths_[opened_++]);
  file_.name = reader_->name();
  return true;
}

// Only where a token is the last line before a blank one does that end a sequence: otherwise the lines before
// belong to the next one.
FindCut sequence_cut(const TagInput& input) {
  const bool documents = input.format == TagFormat::columns, weights = input.weight_comments;
  return [documents, weights](std::string_view text) {
    return cut_after_blank_line(text, [&](std::string_view line) {
      return !(documents && begins_document(line)) && !(weights && is_weight(line));
    });
  };
}

void SequenceReader::keep(std::string_view line, std::string& before) const {
  if (keeps_between_) before.append(line).append("\n");
}

bool SequenceReader::append_next(SequenceBlock& to) {
  const std::size_t begin = to.lines_.size();
  const auto is_empty = [&] { return to.lines_.size() == begin; };
  std::size_t first_line = 0;
  std::optional<double> weight;
  before_.swap(next_before_);
  next_before_.clear();
  if (ended_document_) ++num_documents_;
  ended_document_ = false;
  for (std::string_view line;;) {
    if (!reader_->next(line)) {
      if (!is_empty() || !open_next()) break;
      weight.reset();  // of a sequence that its file does not have
      continue;
    }
    if (std::all_of(line.begin(), line.end(), is_white_space)) {
      if (!is_empty()) break;
      keep(line, before_);
      // Who writes a line that begins a document looks at the first token of the file, which has to be known
      // then.
      const bool known = file_.first_line_number != 0 || num_documents_ == 0;
      if (before_.size() >= kMostBetween && !weight && known) break;
    } else if (documents_ && begins_document(line)) {
      keep(line, is_empty() ? before_ : next_before_);
      ended_document_ = !is_empty();
      if (ended_document_) break;
      ++num_documents_;
    } else if (weights_ && is_weight(line)) {
      take_weight(line, !is_empty(), weight);
      keep(line, before_);
    } else {
      if (is_empty()) first_line = reader_->line_number();
      to.lines_.add(line);
    }
  }
  if (is_empty()) {
    to.after_ = before_;
    return false;
  }
  // The file's first token is known before there is a sequence, also where memory runs out in between.
  if (file_.first_line_number == 0) {
    file_.first_line = to.lines_[begin];
    file_.first_line_number = first_line;
    file_.first_name = file_.name;
  }
  to.before_.add(before_);
  to.sequences_.push_back({begin, to.lines_.size(), first_line, weight.value_or(1)});
  return true;
}

void SequenceReader::take_weight(std::string_view line, bool inside, std::optional<double>& weight) const {
  std::string_view text = without_space_in_front(line.substr(1));
  text = without_space_in_front(text.substr(kWeight.size()));
  while (!text.empty() && is_white_space(text.back())) text.remove_suffix(1);

  const std::string found = fmt::format("the weight {}", in_quotes(text));
  if (inside) reader_->fail(found + " inside a sequence", "expected it before the first token");
  if (weight) reader_->fail(found + ", the second one of a sequence", "expected one");
  weight = parse_double(text);
  if (!weight || *weight <= 0) reader_->fail(found, "expected a positive, finite number");
}

void SequenceLines::fail(std::size_t t, std::string_view found, std::string_view expected) const {
  throw Error::at(name(), line_number(t), found, expected);
}

}  // namespace espalier
