#include "tasks/sequence_reader.h"

#include <algorithm>

#include "espalier/base/error.h"

namespace espalier {

bool SequenceReader::append_next(SequenceBlock& to) {
  const std::size_t begin = to.lines_.size();
  std::size_t first_line = 0;
  for (std::string_view line; reader_.next(line);) {
    if (std::all_of(line.begin(), line.end(), is_white_space)) {
      if (to.lines_.size() > begin) break;
      continue;
    }
    if (to.lines_.size() == begin) first_line = reader_.line_number();
    to.lines_.add(line);
  }
  const std::size_t end = to.lines_.size();
  if (end == begin) return false;
  to.sequences_.push_back({begin, end, first_line});
  if (file_.first_line_number == 0) {
    file_.first_line = to.lines_[begin];
    file_.first_line_number = first_line;
  }
  return true;
}

void SequenceLines::fail(std::size_t t, std::string_view found, std::string_view expected) const {
  throw Error::at(name(), line_number(t), found, expected);
}

}  // namespace espalier
