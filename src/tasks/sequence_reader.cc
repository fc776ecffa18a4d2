#include "tasks/sequence_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "espalier/base/error.h"
#include "espalier/base/parse_number.h"

namespace espalier {
namespace {

constexpr std::string_view kDocument = "-DOCSTART-", kWeight = "weight:";

std::string_view without_space_in_front(std::string_view text) {
  while (!text.empty() && is_white_space(text.front())) text.remove_prefix(1);
  return text;
}

void append_line(std::string_view line, std::string& to) {
  to += line;
  to += '\n';
}

}  // namespace

SequenceReader::SequenceReader(const std::string& path, const TagInput& input)
    : reader_(path), documents_(input.format == TagFormat::columns), weights_(input.weight_comments) {}

bool SequenceReader::next() {
  lines_.clear();
  before_.swap(next_before_);
  next_before_.clear();
  weight_.reset();
  for (std::string_view line; reader_.next(line);) {
    if (std::all_of(line.begin(), line.end(), is_white_space)) {
      if (size() > 0) return true;
      append_line(line, before_);
    } else if (documents_ && is_document(line)) {
      append_line(line, size() > 0 ? next_before_ : before_);
      if (size() > 0) return true;
    } else if (weights_ && take_weight(line)) {
      append_line(line, before_);
    } else {
      if (size() == 0) first_line_ = reader_.line_number();
      lines_.add(line);
    }
  }
  return size() > 0;
}

bool SequenceReader::is_document(std::string_view line) const {
  line = without_space_in_front(line);
  return line.starts_with(kDocument) &&
         (line.size() == kDocument.size() || is_white_space(line[kDocument.size()]));
}

bool SequenceReader::take_weight(std::string_view line) {
  std::string_view rest = line;
  if (!rest.starts_with('#')) return false;
  rest = without_space_in_front(rest.substr(1));
  if (!rest.starts_with(kWeight)) return false;
  rest = without_space_in_front(rest.substr(kWeight.size()));
  while (!rest.empty() && is_white_space(rest.back())) rest.remove_suffix(1);

  const std::string found = fmt::format("the weight {}", in_quotes(rest));
  if (size() > 0) reader_.fail(found + " inside a sequence", "expected it before the first token");
  if (weight_) reader_.fail(found + ", the second one of a sequence", "expected one");
  weight_ = parse_double(rest);
  if (!weight_ || *weight_ <= 0) reader_.fail(found, "expected a positive, finite number");
  return true;
}

void SequenceReader::fail(std::size_t t, std::string_view found, std::string_view expected) const {
  throw Error::at(name(), line_number(t), found, expected);
}

}  // namespace espalier
