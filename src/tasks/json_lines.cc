#include "tasks/json_lines.h"

#include <algorithm>

#include "espalier/base/json.h"

namespace espalier {

void append_json(std::string_view text, std::string& to) {
  const auto plain = [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; };
  if (!std::all_of(text.begin(), text.end(), plain)) {
    to += Json(text).dump();
    return;
  }
  to += '"';
  to += text;
  to += '"';
}

void append_json(double number, std::string& to) { to += Json(number).dump(); }

}  // namespace espalier
