#pragma once

#include <string>

#include "espalier/generate/grammar.h"

namespace espalier {

// A sentence in the format that a task reads, appended to `out`.

// CRFsuite's: "topic TAB word TAB word ...", lower-cased, each word once, ':' and '\' escaped.
void append_classify(const Sentence& sentence, std::string& out);
// CoNLL columns "word TAB tag TAB entity", and a blank line.
void append_tag(const Sentence& sentence, std::string& out);
// CoNLL-U, and a blank line.
void append_parse(const Sentence& sentence, std::string& out);
// One bracketed tree a line.
void append_treebank(const Sentence& sentence, std::string& out);

}  // namespace espalier
