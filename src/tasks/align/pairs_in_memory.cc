#include "tasks/align/pairs_in_memory.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "espalier/base/error.h"
#include "espalier/tasks/named_rows.h"
#include "tasks/align/pair_reader.h"

namespace espalier {

SentencePair checked_pair(const SentencePair& pair, std::size_t number) {
  const auto fail = [&](const std::string& found, const std::string& expected) {
    throw Error::at(kDataInMemory, number, found, expected);
  };
  const auto check_words = [&](const std::vector<std::string>& words, const char* side) {
    if (words.empty()) fail(fmt::format("no {} words", side), "expected some");
    if (words.size() > PairReader::kMostWords)
      fail(fmt::format("{} {} words", grouped(words.size()), side),
           fmt::format("expected at most {}", grouped(PairReader::kMostWords)));
    if (std::any_of(words.begin(), words.end(), [](const std::string& word) { return word.empty(); }))
      fail(fmt::format("an empty {} word", side), "expected words of at least one character");
  };
  check_words(pair.source, "source");
  check_words(pair.target, "target");
  SentencePair result = pair;
  result.line = number;
  for (const WordLink& link : result.links) {
    const auto check = [&](std::uint32_t word, std::size_t size, const char* side) {
      if (word < size) return;
      fail(fmt::format("the link {}-{} with {}", link.source, link.target,
                       counted(size, std::string(side) + " word")),
           fmt::format("expected {} words from 0 to {}", side, size - 1));
    };
    check(link.source, pair.source.size(), "source");
    check(link.target, pair.target.size(), "target");
  }
  sort_links(result, fail);
  return result;
}

}  // namespace espalier
