#include "espalier/tasks/parse.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "base/text.h"
#include "espalier/base/error.h"
#include "espalier/tasks/named_rows.h"
#include "tasks/parse/dependency_check.h"

namespace espalier {

// The text of a sentence is what a file would have, so that whoever writes or draws trees can continue from
// it.
void ParseData::add(const DependencyWord& word) {
  const std::size_t number = open_.words.size() + 1, line = num_words_ + number;
  const auto fail = [&](const std::string& found, std::string_view expected) {
    throw Error::at(kDataInMemory, line, found, expected);
  };
  if (word.form.empty()) fail("a word without a form", "expected one");
  std::array<std::string_view, 6> fields{word.form, word.lemma, word.coarse,
                                         word.fine, word.feats, word.relation};
  for (std::string_view& field : fields) {
    if (field.find_first_of("\t\n\r") != std::string_view::npos)
      fail(fmt::format("the field {}", in_quotes(field)), "expected one without TABs and ends of lines");
    if (field.empty()) field = "_";
  }
  const std::string before =
      fmt::format("{}\t{}\t{}\t{}\t{}\t{}", number, fields[0], fields[1], fields[2], fields[3], fields[4]);
  const std::string_view kept = open_.append_line(fmt::format("{}\t{}\t{}", before, word.head, fields[5]));
  const std::size_t begin = open_.text.size() - kept.size() - 1;
  open_.blanks.push_back({begin + before.size(), begin + kept.size()});

  DependencyWord& copy = open_.words.emplace_back(word);
  std::size_t at = kept.find('\t') + 1;
  for (auto* view : {&copy.form, &copy.lemma, &copy.coarse, &copy.fine, &copy.feats}) {
    const std::size_t end = kept.find('\t', at);
    *view = kept.substr(at, end - at);
    at = end + 1;
  }
  // Whether it may be missing is for training to say.
  copy.relation = kept.substr(kept.size() - fields[5].size(), word.relation.size());
  copy.has_head = true;
  copy.line = line;
  if (number == 1) open_.first_line = line;
}

void ParseData::end_sentence() {
  DependencySentence sentence = std::exchange(open_, {});
  const std::size_t words = sentence.words.size();
  if (words == 0)
    throw Error::at(kDataInMemory, num_words_ + 1, "the end of a sentence without words", "expected some");
  if (words > DependencyReader::kMostWords)
    throw Error::at(kDataInMemory, num_words_ + 1, fmt::format("a sentence of {} words", grouped(words)),
                    fmt::format("expected at most {}", grouped(DependencyReader::kMostWords)));
  std::vector<std::uint32_t> walks;
  check_heads(sentence, kDataInMemory, walks);
  sentence.universal = sentence.universal || universal_;
  num_words_ += words;
  sentences_.push_back(std::move(sentence));
}

void ParseData::add(const DependencySentence& sentence) {
  if (!open_.words.empty())
    throw Error::at(kDataInMemory, num_words_ + open_.words.size() + 1, "a whole sentence within another one",
                    "expected the end of that one first");
  open_.text.clear();
  DependencySentence copy = sentence;
  copy.first_line = num_words_ + 1;
  for (std::size_t k = 0; k < copy.words.size(); ++k) {
    copy.words[k].line = num_words_ + k + 1;
    if (!copy.words[k].has_head)
      throw Error::at(kDataInMemory, copy.words[k].line, "a word without a head",
                      "expected the number of a word, or 0 for the root");
  }
  open_ = std::move(copy);
  end_sentence();
}

void ParseData::begin_document() {
  if (!open_.words.empty())
    throw Error::at(kDataInMemory, num_words_ + open_.words.size() + 1,
                    "the beginning of a document within a sentence",
                    "expected the end of the sentence before");
  open_.append_line("# newdoc");
}

}  // namespace espalier
