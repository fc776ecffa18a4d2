#include "generate/writers.h"

#include <algorithm>
#include <iterator>

#include "base/text.h"

namespace espalier {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_but_for_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, lower, lower);
}

// The universal part of speech of CoNLL-U's fourth column.
std::string_view universal(std::string_view tag) {
  struct Row {
    std::string_view tag, universal;
  };
  static constexpr Row kRows[] = {
      {"NN", "NOUN"},  {"NNS", "NOUN"}, {"NNP", "PROPN"}, {"DT", "DET"},   {"IN", "ADP"},   {"JJ", "ADJ"},
      {"VBD", "VERB"}, {"VBZ", "VERB"}, {"VB", "VERB"},   {"VBG", "VERB"}, {"VBN", "VERB"}, {"RB", "ADV"},
      {"CC", "CCONJ"}, {"CD", "NUM"},   {"PRP", "PRON"},  {"WDT", "PRON"}, {"MD", "AUX"},   {"TO", "PART"},
      {"POS", "PART"}, {",", "PUNCT"},  {".", "PUNCT"},
  };
  const auto row = std::ranges::find(kRows, tag, &Row::tag);
  return row == std::end(kRows) ? "X" : row->universal;
}

}  // namespace

void append_classify(const Sentence& sentence, std::string& out) {
  out += sentence.topic;
  for (auto word = sentence.words.begin(); word != sentence.words.end(); ++word) {
    const auto is_this = [&](std::string_view earlier) { return same_but_for_case(earlier, *word); };
    if (std::any_of(sentence.words.begin(), word, is_this)) continue;
    out += '\t';
    for (const char c : *word) {
      if (c == ':' || c == '\\') out += '\\';
      out += lower(c);
    }
  }
  out += '\n';
}

void append_text(const Sentence& sentence, std::string& out) {
  out += sentence.topic;
  for (std::size_t i = 0; i < sentence.words.size(); ++i) {
    const std::string_view tag = sentence.tags[i];
    if (i == 0) {
      out += '\t';
    } else if (tag != "," && tag != "." && tag != "POS") {
      out += ' ';
    }
    out += sentence.words[i];
  }
  out += '\n';
}

void append_tag(const Sentence& sentence, std::string& out) {
  for (std::size_t i = 0; i < sentence.words.size(); ++i) {
    append_format(out, "{}\t{}\t{}\n", sentence.words[i], sentence.tags[i], sentence.entities[i]);
  }
  out += '\n';
}

void append_supertag(const Sentence& sentence, std::string& out) {
  for (std::size_t i = 0; i < sentence.words.size(); ++i) {
    append_format(out, "{}\t{}/{}", sentence.words[i], sentence.tags[i], sentence.relations[i]);
    if (const std::size_t head = sentence.heads[i]; head > 0) {
      out += head > i + 1 ? '>' : '<';
      out += sentence.tags[head - 1];
    }
    out += '\n';
  }
  out += '\n';
}

void append_parse(const Sentence& sentence, std::string& out) {
  for (std::size_t i = 0; i < sentence.words.size(); ++i) {
    append_format(out, "{}\t{}\t_\t{}\t{}\t_\t{}\t{}\t_\t_\n", i + 1, sentence.words[i],
                  universal(sentence.tags[i]), sentence.tags[i], sentence.heads[i], sentence.relations[i]);
  }
  out += '\n';
}

void append_treebank(const Sentence& sentence, std::string& out) {
  out += sentence.tree;
  out += '\n';
}

std::function<void(std::string& out)> generate_sentences(std::uint64_t seed,
                                                         void (*append)(const Sentence&, std::string&)) {
  return [generator = SentenceGenerator(seed), sentence = Sentence(), append](std::string& out) mutable {
    generator.next(sentence);
    append(sentence, out);
  };
}

}  // namespace espalier
