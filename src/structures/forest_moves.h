#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "espalier/base/workspace.h"
#include "structures/clique_messages.h"

namespace espalier {

// Improves a labelling y by moves that change many labels at once: a random set of variables is freed such
// that their cliques have no loop among them, and these take the best labels that go with all others (as in
// Hamze and de Freitas 2004, with maxima in place of samples). On a grid that is about two variables of
// three. Where moves find nothing better, some labels are changed at random and moves continue from there; y
// becomes the best labelling of all. A move costs about as much as a sweep over the cliques. `node` and `s`
// are scores as layout.take_out_impossible() leaves them.
void improve_by_forests(const CliqueMessages& layout, std::span<const double> node, std::span<const double> s,
                        std::size_t most_moves, std::span<std::uint32_t> y, Workspace& ws);

}  // namespace espalier
