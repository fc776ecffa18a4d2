#include "tasks/treebank/bracket_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "espalier/base/error.h"
#include "tasks/sequence_reader.h"

namespace espalier {

bool normalise(BracketTree& tree, const BracketNorm& norm) {
  if (!norm.traces && !remove_traces(tree)) return false;
  if (!norm.functions) remove_functions(tree);
  return true;
}

BracketReader::BracketReader(const std::string& path, BracketNorm norm)
    : lines_(path), name_(lines_->name()), norm_(norm) {}

BracketReader::BracketReader(const TextChunk& chunk, BracketNorm norm)
    : lines_(chunk), name_(lines_->name()), norm_(norm) {}

BracketReader BracketReader::of_text(std::string_view text, std::string name, std::size_t line,
                                     BracketNorm norm) {
  return BracketReader(text, std::move(name), line, norm);
}

BracketReader::BracketReader(std::string_view text, std::string name, std::size_t line, BracketNorm norm)
    : name_(std::move(name)), norm_(norm), line_(text), first_line_(line) {}

void BracketReader::fail(std::string_view found, std::string_view expected) const {
  throw Error::at(name_, line_number(), found, expected);
}

BracketReader::Token BracketReader::next_token() {
  for (;;) {
    while (!line_.empty() && is_white_space(line_.front())) line_.remove_prefix(1);
    if (!line_.empty()) break;
    if (!lines_ || !lines_->next(line_)) return Token::end;
  }
  const auto is_end = [](char c) { return c == '(' || c == ')' || is_white_space(c); };
  std::size_t size = 1;
  if (!is_end(line_.front()))
    size = static_cast<std::size_t>(std::find_if(line_.begin(), line_.end(), is_end) - line_.begin());
  text_ = line_.substr(0, size);
  line_.remove_prefix(size);
  return text_ == "(" ? Token::open : text_ == ")" ? Token::close : Token::text;
}

bool BracketReader::next(BracketTree& tree) {
  const Token token = next_token();
  if (token == Token::end) return false;
  if (token == Token::close) fail("')' without '('", "expected '(', the beginning of a tree");
  if (token == Token::text)
    fail(fmt::format("{} outside of brackets", in_quotes(text_)), "expected '(', the beginning of a tree");
  first_line_ = line_number();
  read_phrase(tree, 1);
  if (!normalise(tree, norm_))
    throw Error::at(name(), first_line_, "a tree that has only traces", "expected words");
  return true;
}

// What stands after an opening bracket, and the closing one.
void BracketReader::read_phrase(BracketTree& tree, std::size_t depth) {
  if (depth > kDeepest)
    fail(fmt::format("brackets within {} brackets", grouped(kDeepest)),
         "expected an earlier ')', or trees that are less deeply nested");
  const std::size_t line = line_number();
  tree.word.clear();
  tree.children.clear();
  Token token = next_token();
  const bool labelled = token == Token::text;
  if (labelled) {
    tree.label = text_;
    token = next_token();
  } else {
    tree.label = kTop;
  }
  for (;; token = next_token()) {
    switch (token) {
      case Token::open:
        if (!tree.word.empty())
          fail(fmt::format("a bracket after the word {}", in_quotes(tree.word)), "expected ')'");
        if (!labelled && depth > 1)
          fail("a bracket without a label", "expected one: only the outermost bracket may lack it");
        read_phrase(tree.children.emplace_back(), depth + 1);
        break;
      case Token::text:
        if (!tree.word.empty() || !tree.children.empty())
          fail(fmt::format("the word {} without a tag", in_quotes(text_)),
               "expected (TAG WORD), each word in a bracket of its own");
        tree.word = text_;
        break;
      case Token::close:
        if (tree.word.empty() && tree.children.empty())
          throw Error::at(name(), line,
                          labelled ? fmt::format("the bracket ({}) without contents", tree.label)
                                   : std::string("an empty bracket"),
                          "expected (TAG WORD) or (LABEL (...) ...)");
        return;
      case Token::end:
        fail_unclosed(depth);
    }
  }
}

void BracketReader::fail_unclosed(std::size_t depth) {
  fail(lines_ ? fmt::format("the end of the file in the tree that begins in line {}", first_line_)
              : std::string("a tree that does not end"),
       fmt::format("expected {} more ')'", depth));
}

}  // namespace espalier
