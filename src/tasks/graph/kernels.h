#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "features/graph_features.h"
#include "features/kernel_matrix.h"
#include "features/kernel_nodes.h"
#include "tasks/graph/model.h"

namespace espalier {

// Kernels on the nodes of graphs. Each type of nodes has features of its own, and so an expansion of its own.

// By type of nodes, the kernel of its rows in the training data, with `memory` bytes for all of them. Throws
// Error for an unknown kernel.
std::vector<std::shared_ptr<const KernelMatrix>> make_graph_kernels(const std::string& kernel,
                                                                    std::size_t memory,
                                                                    const GraphTypes& types,
                                                                    const GraphFeatures& features);

// The sections and weights of a model with kernels: of their nodes, only those whose coefficients are not all
// zero. `weights` says where those of theta lie.
ModelContents keep_graph_support(const GraphModel& model, const GraphWeights& weights, const Weights& theta);
// Those nodes by type; none where the model has no kernel. Throws Error for what cannot be right.
std::vector<std::shared_ptr<const KernelNodes>> load_graph_kernels(const StoredTask& stored,
                                                                   const GraphTypes& types);

}  // namespace espalier
