#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "espalier/features/sparse_rows.h"
#include "espalier/tasks/task.h"
#include "features/kernel.h"
#include "features/kernel_matrix.h"
#include "features/kernel_nodes.h"

namespace espalier {

// What tasks with a kernel (features/kernel.h) have in common: the kernel of training inputs, and the nodes
// that a model keeps.

// The kernel of these inputs (tokens, examples). Throws Error for an unknown kernel.
std::shared_ptr<const KernelMatrix> make_kernel_matrix(const std::string& kernel, std::size_t memory,
                                                       const SparseRows& inputs, std::size_t num_attributes);

// The sections and weights of a model with a kernel: of its nodes, only those whose coefficients are not all
// zero, with their attributes. `sections` are the task's other ones.
ModelContents keep_support(const KernelNodes& nodes, const Weights& theta, TaskSections sections);
// Those nodes; nullptr where the model has no kernel. Throws Error for what cannot be right.
std::shared_ptr<const KernelNodes> load_kernel_nodes(const StoredTask& stored, std::size_t num_attributes);

// The same in parts, for models with several expansions. Rows under a prefix of sections; the answer keeps
// their bytes.
std::shared_ptr<const void> add_kernel_rows(const std::string& prefix, const SparseRows& rows,
                                            TaskSections& sections);
SparseRows load_kernel_rows(const std::string& prefix, const StoredTask& stored, std::size_t num_attributes);
Kernel stored_kernel(const StoredTask& stored);

// What the coefficients of a node are called where weights have names: "node a b:0.5", by its attributes with
// their values unless they are 1, as a file of CRFsuite attributes has them, with a backslash before each
// space, colon and backslash of a name.
std::string node_name(const KernelNodes& nodes, const Dictionary& attributes, std::size_t v);
// The node of that name.
std::optional<std::uint32_t> find_node(const KernelNodes& nodes, const Dictionary& attributes,
                                       std::string_view name);

// ", kernel poly,3,1,1 over 512 nodes"; nothing without a kernel.
std::string describe_kernel(const KernelNodes* nodes);
std::string describe_kernel(const Kernel& kernel, std::size_t num_nodes);

}  // namespace espalier
