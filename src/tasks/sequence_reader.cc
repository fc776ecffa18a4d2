#include "tasks/sequence_reader.h"

#include <algorithm>

#include "espalier/base/error.h"

namespace espalier {

bool SequenceReader::next() {
  lines_.clear();
  for (std::string_view line; reader_.next(line);) {
    if (std::all_of(line.begin(), line.end(), is_white_space)) {
      if (size() > 0) return true;
      continue;
    }
    if (size() == 0) first_line_ = reader_.line_number();
    lines_.add(line);
  }
  return size() > 0;
}

void SequenceReader::fail(std::size_t t, std::string_view found, std::string_view expected) const {
  throw Error::at(name(), line_number(t), found, expected);
}

}  // namespace espalier
