// Templates in both languages, on a table of tokens; and the regular expressions of Wapiti's.

#include <array>

#include "features/templates.h"
#include "features/wapiti_regex.h"
#include "fuzzing/targets.h"

namespace espalier::fuzz {

void templates(std::string_view bytes) {
  static constexpr std::array<std::string_view, 9> kFields{"The", "DT",  "O", "Cat", "NN",
                                                           "O",   "3.5", "",  "O"};
  constexpr TokenTable kTable{kFields, 3};
  message_of([&] {
    const Templates templates(bytes, "template");
    templates.check_columns(3, 2);
    std::string name;
    for (const auto lines : {templates.tokens(), templates.transitions()}) {
      for (const Template& line : lines) {
        for (std::size_t t = 0; t < kTable.size(); ++t) {
          line.expand(kTable, t, name);
          if (line.has_value()) line.value_token(t, kTable.size());
        }
      }
    }
  });
}

// The expression is the first line; what it is looked for in, the rest.
void regex(std::string_view bytes) {
  const std::string_view pattern = bytes.substr(0, bytes.find('\n'));
  const std::string_view text = bytes.substr(std::min(bytes.size(), pattern.size() + 1));
  if (pattern.size() > WapitiRegex::kLongest) return;
  const auto re2 = wapiti_regex_as_re2(pattern);
  if (!re2) return;
  const WapitiRegex regex(*re2);
  const std::string_view found = regex.match(text);
  expect(found.empty() || regex.matches(text), "what matches somewhere has a match");
  expect(text.find(found) != std::string_view::npos, "a match that is part of the text");
}

}  // namespace espalier::fuzz
