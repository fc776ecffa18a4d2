#include "tasks/treebank/reader.h"

#include <fmt/format.h>

#include "espalier/base/error.h"
#include "tasks/fields.h"

namespace espalier {
std::string without_brackets(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '(') {
      result += "-LRB-";
    } else if (c == ')') {
      result += "-RRB-";
    } else {
      result += c;
    }
  }
  return result;
}

TreebankFormat parse_treebank_format(std::string_view name) {
  if (name == "brackets") return TreebankFormat::brackets;
  if (name == "tagged") return TreebankFormat::tagged;
  if (name == "words") return TreebankFormat::words;
  throw Error::in(setting("format"), "found " + in_quotes(name), "expected brackets, tagged or words");
}

TreebankReader::TreebankReader(const std::string& path, TreebankFormat format, BracketNorm norm)
    : tagged_(format == TreebankFormat::tagged) {
  if (format == TreebankFormat::brackets) {
    trees_.emplace(path, norm);
  } else {
    lines_.emplace(path);
  }
}

bool TreebankReader::next(TreebankSentence& sentence) {
  sentence.words.clear();
  if (trees_) {
    if (!trees_->next(sentence.tree)) return false;
    append_words(sentence.tree, sentence.words);
    return true;
  }
  for (std::string_view line; sentence.words.empty() && lines_->next(line);)
    for_each_field(line, [&](std::string_view text) { take_word(text, sentence); });
  return !sentence.words.empty();
}

void TreebankReader::take_word(std::string_view text, TreebankSentence& sentence) {
  if (!tagged_) {
    sentence.words.push_back({without_brackets(text), ""});
    return;
  }
  const std::size_t mark = text.rfind('_');
  if (mark == std::string_view::npos || mark == 0 || mark + 1 == text.size())
    lines_->fail(fmt::format("{} without a tag", in_quotes(text)), "expected WORD_TAG");
  sentence.words.push_back({without_brackets(text.substr(0, mark)), without_brackets(text.substr(mark + 1))});
}

}  // namespace espalier
