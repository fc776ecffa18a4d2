#pragma once

#include <cstddef>

#include "espalier/tasks/align.h"

namespace espalier {

// A sentence pair of a program as the reader would have it: links in the order of their words. Throws Error
// for what a file cannot have; `number` is that of the pair, from 1.
SentencePair checked_pair(const SentencePair& pair, std::size_t number);

}  // namespace espalier
