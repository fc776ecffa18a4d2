#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "generate/sentence_generator.h"

namespace espalier {

// A sentence in the format that a task reads, appended to `out`.

// CRFsuite's: "topic TAB word TAB word ...", lower-cased, each word once, ':' and '\' escaped.
void append_classify(const Sentence& sentence, std::string& out);
// CoNLL columns "word TAB tag TAB entity", and a blank line.
void append_tag(const Sentence& sentence, std::string& out);
// CoNLL columns "word TAB supertag", and a blank line. A supertag says how a word fits in: its tag, its
// relation, the side that its head is on and the head's tag, as "NN/nsubj>VBD"; there are hundreds.
void append_supertag(const Sentence& sentence, std::string& out);
// CoNLL-U, and a blank line.
void append_parse(const Sentence& sentence, std::string& out);
// One bracketed tree per line.
void append_treebank(const Sentence& sentence, std::string& out);

// Appends one more sentence with each call, by one of these.
std::function<void(std::string& out)> generate_sentences(std::uint64_t seed,
                                                         void (*append)(const Sentence&, std::string&));

}  // namespace espalier
