#include "espalier/tasks/parse.h"

#include <fmt/format.h>

#include "espalier/base/error.h"

namespace espalier {

void append_tree(const DependencySentence& sentence, std::span<const std::uint32_t> heads,
                 std::span<const std::string_view> relations, std::string& out) {
  ESPALIER_EXPECT(heads.size() == sentence.words.size());
  ESPALIER_EXPECT(relations.empty() || relations.size() == heads.size());
  std::size_t written = 0;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const DependencySentence::Blank& blank = sentence.blanks[i];
    out.append(sentence.text, written, blank.begin - written);
    out += '\t';
    out += fmt::format_int(heads[i]).c_str();
    out += '\t';
    out += relations.empty() ? std::string_view("_") : relations[i];
    written = blank.end;
  }
  out.append(sentence.text, written);
  out += '\n';
}

}  // namespace espalier
