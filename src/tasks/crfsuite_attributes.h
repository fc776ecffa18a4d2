#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/tasks/named_rows.h"

namespace espalier {

// One line of CRFsuite's format, label and attributes, for every task that reads it:
//   label TAB attribute TAB attribute:value ...
// A value that is not written is 1, also after a colon. In names and labels "\:" is a colon and "\\" a
// backslash; any other backslash stands for itself. Empty fields are skipped, as CRFsuite does.
struct CrfsuiteItem {
  using Attribute = NamedRows::Attribute;

  std::string_view label;  // empty where the line begins with TAB
  std::vector<Attribute> attributes;

  // Takes in a line that is not blank. The views are valid as long as the line is, and until the next call.
  // Throws Error::at this place for an empty name or a value that is not a finite number.
  void parse(std::string_view line, std::string_view file, std::size_t line_number);

 private:
  std::string_view unescaped(std::string_view text);

  std::string unescaped_;
};

}  // namespace espalier
