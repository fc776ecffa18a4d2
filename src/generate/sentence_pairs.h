#pragma once

#include <string>

#include "generate/sentence_generator.h"

namespace espalier {

// A sentence with its translation into an invented language and the links between their words, as the task
// align reads them: "SOURCE ||| TARGET ||| LINKS".
//
// The language has other letters for all words but names, numbers and punctuation, and a second form of every
// third word, at even places. Adjectives follow their noun, and "can" follows its verb. Articles and "to" are
// endings of their noun or verb, with a possible link; before names alone they have no translation.
void append_align(const Sentence& sentence, std::string& out);

}  // namespace espalier
