#include "tasks/graph/kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "tasks/kernel_model.h"

namespace espalier {
namespace {

std::string section_of(std::size_t type) { return fmt::format("nodes.{}", type); }

// What each gets of the memory: what it needs, from the smallest on, as long as the others could have as
// much.
std::vector<std::size_t> share_memory(std::size_t memory, const std::vector<std::size_t>& needs) {
  std::vector<std::size_t> order(needs.size()), shares(needs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return needs[a] < needs[b]; });
  for (std::size_t k = 0; k < order.size(); ++k) {
    shares[order[k]] = std::min(needs[order[k]], memory / (order.size() - k));
    memory -= shares[order[k]];
  }
  return shares;
}

// The rows of a block that a model keeps: all, or with a kernel those that are not all zero.
std::vector<std::size_t> kept_rows(const GraphWeights::Block& block, bool kernel, const float* theta) {
  std::vector<std::size_t> kept;
  for (std::size_t r = 0; r < block.attributes; ++r) {
    const float* row = theta + block.begin + r * block.stride;
    if (!kernel || std::any_of(row, row + block.columns, [](float c) { return c != 0; })) kept.push_back(r);
  }
  return kept;
}

}  // namespace

std::vector<std::shared_ptr<const KernelMatrix>> make_graph_kernels(const std::string& kernel,
                                                                    std::size_t memory,
                                                                    const GraphTypes& types,
                                                                    const GraphFeatures& features) {
  const Kernel parsed = Kernel::parse(kernel);
  std::vector<std::shared_ptr<const KernelNodes>> nodes;
  std::vector<std::vector<std::uint32_t>> of;
  std::vector<std::size_t> needs;
  for (std::size_t t = 0; t < types.nodes.size(); ++t) {
    DistinctRows distinct = distinct_rows(features.rows(t));
    nodes.push_back(
        std::make_shared<KernelNodes>(parsed, std::move(distinct.rows), types.nodes[t].features.size()));
    of.push_back(std::move(distinct.of));
    needs.push_back(nodes[t]->size() * nodes[t]->padded_size() * sizeof(float));
  }
  const auto shares = share_memory(memory, needs);
  std::vector<std::shared_ptr<const KernelMatrix>> kernels;
  for (std::size_t t = 0; t < nodes.size(); ++t)
    kernels.push_back(std::make_shared<KernelMatrix>(nodes[t], of[t], shares[t]));
  return kernels;
}

ModelContents keep_graph_support(const GraphModel& model, const GraphWeights& weights, const Weights& theta) {
  std::vector<GraphTypeSize> sizes;
  std::vector<std::vector<std::size_t>> kept;
  for (std::size_t t = 0; t < weights.num_types(); ++t) {
    kept.push_back(kept_rows(weights.block(t), t < model.kernels.size(), theta.row(0)));
    sizes.push_back({kept[t].size(), weights.block(t).columns});
  }
  const GraphWeights smaller(sizes);
  ModelContents contents{model.sections(), Weights(smaller.shape()), nullptr};
  for (std::size_t t = 0; t < sizes.size(); ++t) {
    for (std::size_t r = 0; r < kept[t].size(); ++r) {
      std::copy_n(theta.row(weights.place(t, kept[t][r], 0)), sizes[t].columns,
                  contents.theta.row(smaller.place(t, r, 0)));
    }
  }
  auto memory = std::make_shared<std::vector<std::shared_ptr<const void>>>();
  auto& counts = contents.sections.settings["nodes"] = Json::array();
  for (std::size_t t = 0; t < model.kernels.size(); ++t) {
    SparseRows rows;
    for (const std::size_t v : kept[t]) {
      const SparseRows::Row row = model.kernels[t]->rows().row(v);
      for (std::size_t j = 0; j < row.ids.size(); ++j) rows.add(row.ids[j], row.value(j));
      rows.finish_row();
    }
    counts.push_back(rows.size());
    memory->push_back(add_kernel_rows(section_of(t), rows, contents.sections));
  }
  contents.memory = std::move(memory);
  return contents;
}

std::vector<std::shared_ptr<const KernelNodes>> load_graph_kernels(const StoredTask& stored,
                                                                   const GraphTypes& types) {
  std::vector<std::shared_ptr<const KernelNodes>> kernels;
  if (!stored.settings.contains("kernel")) return kernels;
  const Kernel kernel = stored_kernel(stored);
  for (std::size_t t = 0; t < types.nodes.size(); ++t) {
    const std::size_t features = types.nodes[t].features.size();
    kernels.push_back(
        std::make_shared<KernelNodes>(kernel, load_kernel_rows(section_of(t), stored, features), features));
  }
  return kernels;
}

}  // namespace espalier
