#pragma once

#include <cstddef>
#include <memory>

#include "espalier/learning/problem.h"

namespace espalier {

// What problems of graphs keep from visit to visit (MarkovGraph::keeping_messages()).

// The problem again with messages of its own, for runs that are not to know of each other: they may be at
// work at the same time. nullptr: it keeps none. Refers to the features of the other one.
std::unique_ptr<const Problem> with_own_messages(const Problem& problem);
// Bytes that the messages of a problem take.
std::size_t message_bytes(const Problem& problem);

}  // namespace espalier
