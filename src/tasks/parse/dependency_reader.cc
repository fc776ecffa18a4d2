#include "tasks/parse/dependency_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <utility>

#include "base/text.h"
#include "base/text_chunks.h"
#include "espalier/base/error.h"
#include "espalier/tasks/named_rows.h"
#include "tasks/parse/dependency_check.h"
#include "tasks/sequence_reader.h"

namespace espalier {
namespace {

constexpr std::size_t kForm = 1, kLemma = 2, kCoarse = 3, kFine = 4, kFeats = 5, kHead = 6, kRelation = 7;
constexpr std::size_t kColumns = 8, kColumnsWithoutHeads = 6;
constexpr const char* kTree = "expected heads that lead every word to the root, 0";

// The first fields of a line; what is missing is empty and after the last. Returns how many there are.
std::size_t split(std::string_view line, std::array<std::string_view, kColumns>& fields) {
  const char* at = line.data();
  const char* const end = at + line.size();
  fields.fill(line.substr(line.size()));
  for (std::size_t column = 0; column < kColumns; ++column) {
    const void* tab = at != end ? std::memchr(at, '\t', static_cast<std::size_t>(end - at)) : nullptr;
    const char* const stop = tab != nullptr ? static_cast<const char*>(tab) : end;
    fields[column] = {at, static_cast<std::size_t>(stop - at)};
    if (tab == nullptr) return column + 1;
    at = stop + 1;
  }
  return kColumns;
}

// nullopt for anything but a number, and for one larger than any sentence has words.
std::optional<std::uint32_t> parse_position(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number > DependencyReader::kMostWords)
    return std::nullopt;
  return number;
}

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool is_possible_head(std::size_t head, std::size_t of, std::size_t words) {
  return head <= words && head != of;
}

void forget_impossible_heads(DependencySentence& sentence) {
  for (std::size_t d = 1; d <= sentence.words.size(); ++d) {
    DependencyWord& word = sentence.words[d - 1];
    if (is_possible_head(word.head, d, sentence.words.size())) continue;
    word.head = 0;
    word.has_head = false;
  }
}

}  // namespace

// Comments belong to the sentence after them, also before a blank line.
std::size_t dependency_cut(std::string_view text) {
  return cut_after_blank_line(text, [](std::string_view line) { return !line.starts_with('#'); });
}

DependencyReader::DependencyReader(const std::string& path, bool needs_heads)
    : reader_(path), needs_heads_(needs_heads) {}
DependencyReader::DependencyReader(LineReader reader, bool needs_heads)
    : reader_(std::move(reader)), needs_heads_(needs_heads) {}

bool DependencyReader::next(DependencySentence& sentence) {
  sentence.clear();
  range_end_ = 0;
  bool in_tokens = false;
  for (std::string_view line; reader_.next(line);) {
    if (std::all_of(line.begin(), line.end(), is_white_space)) {
      if (in_tokens) break;
      continue;
    }
    if (sentence.first_line == 0) sentence.first_line = reader_.line_number();
    if (take_line(line, sentence) != Line::comment) in_tokens = true;
  }
  if (sentence.words.empty()) {
    if (in_tokens) reader_.fail("a sentence without words", "expected a word on a line of its own");
    return false;
  }
  check_last_range(sentence.words.size());
  if (needs_heads_) {
    check_heads(sentence, name(), walks_);
  } else {
    forget_impossible_heads(sentence);
  }
  sentence.universal = universal_;
  return true;
}

DependencyReader::Line DependencyReader::take_line(std::string_view line, DependencySentence& sentence) {
  const std::string_view kept = sentence.append_line(line);
  const Line kind = take_id(line, sentence.words.size());
  if (kind == Line::word) {
    take_word(kept, sentence);
  } else {
    universal_ = true;
  }
  return kind;
}

// What the line is, by its ID, which has to continue from the words before.
DependencyReader::Line DependencyReader::take_id(std::string_view line, std::size_t words) {
  if (line.front() == '#') return Line::comment;
  const std::string_view id = line.substr(0, line.find('\t'));
  if (parse_position(id) == words + 1) return Line::word;

  const std::size_t mark = id.find_first_of("-.");
  const bool two_numbers =
      mark != std::string_view::npos && all_digits(id.substr(0, mark)) && all_digits(id.substr(mark + 1));
  const auto first = two_numbers ? parse_position(id.substr(0, mark)) : std::nullopt;
  if (two_numbers && id[mark] == '-') {
    const auto last = parse_position(id.substr(mark + 1));
    if (first == words + 1 && words >= range_end_ && last && *last >= *first) {
      range_end_ = *last;
      range_line_ = reader_.line_number();
      return Line::token;
    }
    reader_.fail(fmt::format("the multi-word token {}", in_quotes(id)),
                 fmt::format("expected one that starts at {} or later", std::max(words, range_end_) + 1));
  }
  if (two_numbers) {
    if (first == words) return Line::token;
    reader_.fail(fmt::format("the empty node {}", in_quotes(id)),
                 fmt::format("expected {0}.1, {0}.2, ... after word {0}", words));
  }
  if (words == kMostWords) {
    reader_.fail(fmt::format("a sentence of more than {} words", grouped(kMostWords)),
                 "expected blank lines between sentences");
  }
  if (words == 0 && line.find('\t') == std::string_view::npos) {
    reader_.fail(fmt::format("no TAB in {}", in_quotes(line)), "expected CoNLL-X or CoNLL-U");
  }
  reader_.fail(fmt::format("the ID {}", in_quotes(id)),
               words == 0 ? "expected 1, the first word of a sentence"
                          : fmt::format("expected {}, or a blank line before the next sentence", words + 1));
}

void DependencyReader::take_word(std::string_view line, DependencySentence& sentence) {
  std::array<std::string_view, kColumns> fields;
  const std::size_t found = split(line, fields);
  const std::size_t least = needs_heads_ ? kColumns : kColumnsWithoutHeads;
  if (found < least) {
    reader_.fail(fmt::format("{} column{}", found, found == 1 ? "" : "s"),
                 fmt::format("expected at least {}, separated by TABs", least));
  }
  DependencyWord word;
  word.form = fields[kForm];
  word.lemma = fields[kLemma];
  word.coarse = fields[kCoarse];
  word.fine = fields[kFine];
  word.feats = fields[kFeats];
  word.relation = fields[kRelation];
  word.line = reader_.line_number();
  if (const auto head = parse_position(fields[kHead])) {
    word.head = *head;
    word.has_head = true;
  } else if (needs_heads_) {
    reader_.fail(fmt::format("the head {}", in_quotes(fields[kHead])),
                 "expected the number of a word, or 0 for the root");
  }
  const auto place = [&](const char* at) { return static_cast<std::size_t>(at - sentence.text.data()); };
  sentence.blanks.push_back({place(fields[kFeats].data() + fields[kFeats].size()),
                             place(fields[kRelation].data() + fields[kRelation].size())});
  sentence.words.push_back(word);
}

void DependencyReader::check_last_range(std::size_t words) const {
  if (range_end_ <= words) return;
  throw Error::at(name(), range_line_, fmt::format("a multi-word token up to word {}", range_end_),
                  fmt::format("expected one up to {}, the last word of the sentence", words));
}

namespace {

// Walks up from each word until the root or a place where a walk has been: if that was this one, it is a
// cycle.
void check_cycles(const DependencySentence& sentence, std::string_view file,
                  std::vector<std::uint32_t>& walks) {
  const auto head = [&](std::uint32_t d) { return sentence.words[d - 1].head; };
  const auto words = static_cast<std::uint32_t>(sentence.words.size());
  walks.assign(words + 1, 0);
  for (std::uint32_t walk = 1; walk <= words; ++walk) {
    std::uint32_t at = walk;
    for (; at != 0 && walks[at] == 0; at = head(at)) walks[at] = walk;
    if (at == 0 || walks[at] != walk) continue;

    constexpr int kMostNames = 8;
    std::string cycle = fmt::format("{}", at);
    std::uint32_t next = head(at);
    for (int names = 1; next != at && names < kMostNames; ++names, next = head(next)) {
      cycle += fmt::format(" <- {}", next);
    }
    cycle += next == at ? fmt::format(" <- {}", at) : " <- ...";
    throw Error::at(file, sentence.words[at - 1].line, "a cycle of heads, " + cycle, kTree);
  }
}

}  // namespace

void check_heads(const DependencySentence& sentence, std::string_view file,
                 std::vector<std::uint32_t>& walks) {
  const std::size_t words = sentence.words.size();
  bool has_root = false;
  for (std::size_t d = 1; d <= words; ++d) {
    const DependencyWord& word = sentence.words[d - 1];
    has_root = has_root || word.head == 0;
    if (is_possible_head(word.head, d, words)) continue;
    const std::string found =
        word.head == d ? fmt::format("word {} as its own head", d) : fmt::format("the head {}", word.head);
    throw Error::at(file, word.line, found,
                    fmt::format("expected another word, 1 to {}, or 0 for the root", words));
  }
  if (!has_root)
    throw Error::at(file, sentence.words[0].line, "a sentence without a root", "expected a word with head 0");
  check_cycles(sentence, file, walks);
}

namespace {

std::vector<DependencySentence> all_of(DependencyReader reader) {
  std::vector<DependencySentence> sentences;
  for (DependencySentence sentence; reader.next(sentence);) sentences.push_back(sentence);
  return sentences;
}

}  // namespace

std::vector<DependencySentence> read_dependencies(const std::string& path, bool needs_heads) {
  return all_of(DependencyReader(path, needs_heads));
}

std::vector<DependencySentence> parse_dependencies(std::string_view text, bool needs_heads) {
  return all_of(DependencyReader(LineReader(ByteReader::of_text(text, kDataInMemory)), needs_heads));
}

}  // namespace espalier
