#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "features/kernel_matrix.h"
#include "support/random_chain.h"
#include "support/random_graph_problem.h"
#include "support/random_problem.h"

namespace espalier::test_support {

inline constexpr std::size_t kPlenty = std::size_t{1} << 30;

inline std::shared_ptr<const KernelMatrix> kernel_matrix(const Kernel& kernel, const SparseRows& inputs,
                                                         std::size_t attributes,
                                                         std::size_t memory = kPlenty) {
  DistinctRows distinct = distinct_rows(inputs);
  return std::make_shared<KernelMatrix>(
      std::make_shared<KernelNodes>(kernel, std::move(distinct.rows), attributes), distinct.of, memory);
}

// Random examples of classes, in kernel form.
struct KernelClasses {
  KernelClasses(MulticlassData from, const Kernel& kernel, std::size_t memory = kPlenty)
      : data(std::move(from)),
        matrix(kernel_matrix(kernel, data.rows, data.attributes, memory)),
        problem(MulticlassExamples(matrix, data.gold, data.labels, data.costs, data.omega)) {}

  const MulticlassData data;
  const std::shared_ptr<const KernelMatrix> matrix;
  const MulticlassProblem problem;
};

// Random sequences, with tokens in kernel form. Requires data of all features.
struct KernelChains {
  KernelChains(ChainData from, const Kernel& kernel, std::size_t memory = kPlenty)
      : data(std::move(from)),
        matrix(kernel_matrix(kernel, data.sequences.tokens, data.shape.num_attributes, memory)),
        problem(ChainExamples(data.sequences, shape(data.shape, *matrix), data.gold,
                              data.constraints ? &*data.constraints : nullptr, data.omega, matrix)) {}

  static ChainShape shape(ChainShape of_attributes, const KernelMatrix& matrix) {
    of_attributes.num_attributes = matrix.num_nodes();
    return of_attributes;
  }

  const ChainData data;
  const std::shared_ptr<const KernelMatrix> matrix;
  const ChainProblem problem;
};

// Random graphs, with nodes in kernel form: both of their types.
struct KernelGraphs {
  KernelGraphs(RandomGraphs from, const Kernel& kernel, std::size_t memory = kPlenty)
      : examples(std::move(from.examples)),
        features(with_kernels(std::move(from.features), kernel, memory)),
        problem(GraphExamples(features, examples)) {}
  KernelGraphs(const KernelGraphs&) = delete;
  KernelGraphs& operator=(const KernelGraphs&) = delete;

  static GraphFeatures with_kernels(GraphFeatures linear, const Kernel& kernel, std::size_t memory) {
    std::vector<std::shared_ptr<const KernelMatrix>> kernels;
    for (std::size_t t = 0; t < RandomGraphs::kNodeTypes; ++t) {
      const std::size_t attributes = linear.weights().block(t).attributes;
      kernels.push_back(kernel_matrix(kernel, linear.rows(t), attributes, memory));
    }
    return {std::move(linear), std::move(kernels)};
  }

  const std::vector<GraphExample> examples;
  const GraphFeatures features;
  const GraphProblem problem;
};

// Features whose inner product is (scale x.y + constant)^2: 1, x_a, x_a x_b with a <= b.
inline SparseRows quadratic_features(const SparseRows& rows, std::size_t attributes, double constant,
                                     double scale) {
  SparseRows expanded;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const SparseRows::Row x = rows.row(i);
    if (constant > 0) expanded.add(0, static_cast<float>(constant));
    for (std::size_t j = 0; j < x.ids.size(); ++j) {
      const double value = x.value(j);
      if (constant > 0) {
        expanded.add(1 + x.ids[j], static_cast<float>(std::sqrt(2 * scale * constant) * value));
      }
      for (std::size_t k = 0; k < x.ids.size(); ++k) {
        if (x.ids[k] < x.ids[j]) continue;
        const double factor = k == j ? scale : std::sqrt(2.0) * scale;
        const std::size_t id = 1 + attributes + x.ids[j] * attributes + x.ids[k];
        expanded.add(static_cast<std::uint32_t>(id), static_cast<float>(factor * value * x.value(k)));
      }
    }
    expanded.finish_row();
  }
  return expanded;
}
inline std::size_t num_quadratic_features(std::size_t attributes) {
  return 1 + attributes + attributes * attributes;
}

// Graphs whose nodes have such features, and whose cliques are the same.
inline GraphFeatures quadratic_nodes(const GraphFeatures& linear, double constant, double scale) {
  std::vector<GraphTypeSize> sizes;
  std::vector<SparseRows> rows;
  for (std::size_t t = 0; t < linear.weights().num_types(); ++t) {
    const GraphWeights::Block& block = linear.weights().block(t);
    const bool node = t < RandomGraphs::kNodeTypes;
    rows.push_back(node ? quadratic_features(linear.rows(t), block.attributes, constant, scale)
                        : linear.rows(t));
    sizes.push_back({node ? num_quadratic_features(block.attributes) : block.attributes, block.columns,
                     RandomGraphs::arity(t)});
  }
  GraphFeatures expanded(sizes);
  for (std::size_t i = 0; i < linear.size(); ++i) {
    for (std::size_t t = 0; t < rows.size(); ++t) {
      for (std::size_t r = linear.begin(i, t); r < linear.end(i, t); ++r) {
        const SparseRows::Row row = rows[t].row(r);
        for (std::size_t j = 0; j < row.ids.size(); ++j) expanded.add(t, row.ids[j], row.value(j));
        expanded.finish_row(t);
      }
    }
    expanded.finish_graph();
  }
  return expanded;
}

}  // namespace espalier::test_support
