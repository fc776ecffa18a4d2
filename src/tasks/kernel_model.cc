#include "tasks/kernel_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <type_traits>
#include <vector>

#include "base/text.h"
#include "espalier/base/error.h"
#include "tasks/common.h"

namespace espalier {
namespace {

constexpr const char* kNodes = "nodes";  // what names of their sections begin with
constexpr const char* kNode = "node";    // and those of their coefficients

// Rows as a model file has them.
struct StoredRows {
  std::vector<std::uint64_t> offsets{0};
  std::vector<std::uint32_t> ids;
  std::vector<float> values;  // none where all are 1

  explicit StoredRows(const SparseRows& rows) {
    for (std::size_t v = 0; v < rows.size(); ++v) {
      const SparseRows::Row row = rows.row(v);
      ids.insert(ids.end(), row.ids.begin(), row.ids.end());
      values.insert(values.end(), row.values.begin(), row.values.end());
      offsets.push_back(ids.size());
    }
  }
};

bool is_support(const Weights& theta, std::size_t row) {
  return std::any_of(theta.row(row), theta.row(row) + theta.shape().width, [](float c) { return c != 0; });
}

}  // namespace

std::shared_ptr<const KernelMatrix> make_kernel_matrix(const std::string& kernel, std::size_t memory,
                                                       const SparseRows& inputs, std::size_t num_attributes) {
  const Kernel parsed = Kernel::parse(kernel);
  DistinctRows distinct = distinct_rows(inputs);
  return std::make_shared<KernelMatrix>(
      std::make_shared<KernelNodes>(parsed, std::move(distinct.rows), num_attributes), distinct.of, memory);
}

ModelContents keep_support(const KernelNodes& nodes, const Weights& theta, TaskSections sections) {
  std::vector<std::size_t> kept;
  SparseRows rows;
  for (std::size_t v = 0; v < nodes.size(); ++v) {
    if (!is_support(theta, v)) continue;
    kept.push_back(v);
    const SparseRows::Row row = nodes.rows().row(v);
    for (std::size_t j = 0; j < row.ids.size(); ++j) rows.add(row.ids[j], row.value(j));
    rows.finish_row();
  }
  for (std::size_t r = nodes.size(); r < theta.shape().rows; ++r) kept.push_back(r);
  Weights smaller({kept.size(), theta.shape().width});
  for (std::size_t r = 0; r < kept.size(); ++r) {
    std::copy_n(theta.row(kept[r]), theta.shape().width, smaller.row(r));
  }
  sections.settings["nodes"] = rows.size();
  auto memory = add_kernel_rows(kNodes, rows, sections);
  return {std::move(sections), std::move(smaller), std::move(memory)};
}

std::shared_ptr<const KernelNodes> load_kernel_nodes(const StoredTask& stored, std::size_t num_attributes) {
  if (!stored.settings.contains("kernel")) return nullptr;
  const Kernel kernel = stored_kernel(stored);
  SparseRows rows = load_kernel_rows(kNodes, stored, num_attributes);
  if (rows.size() > stored.theta.shape.rows) {
    throw Error::in(
        stored.file,
        fmt::format("{} rows of weights for {} nodes of a kernel", stored.theta.shape.rows, rows.size()),
        "retrain the model");
  }
  return std::make_shared<KernelNodes>(kernel, std::move(rows), num_attributes);
}

std::shared_ptr<const void> add_kernel_rows(const std::string& prefix, const SparseRows& rows,
                                            TaskSections& sections) {
  auto stored = std::make_shared<const StoredRows>(rows);
  sections.arrays.emplace_back(prefix + ".offsets", as_bytes(std::span(stored->offsets)));
  sections.arrays.emplace_back(prefix + ".ids", as_bytes(std::span(stored->ids)));
  sections.arrays.emplace_back(prefix + ".values", as_bytes(std::span(stored->values)));
  return stored;
}

SparseRows load_kernel_rows(const std::string& prefix, const StoredTask& stored, std::size_t num_attributes) {
  const auto load = [&]<class T>(const char* part, T) {
    const std::string name = prefix + part;
    if constexpr (std::is_floating_point_v<T>) return as_numbers<T>(stored.array(name), name, stored.file);
    return as_array<T>(stored.array(name), name, stored.file);
  };
  const auto offsets = load(".offsets", std::uint64_t{});
  const auto ids = load(".ids", std::uint32_t{});
  const auto values = load(".values", float{});
  const auto refuse = [&](const std::string& found) {
    throw Error::in(stored.file, found, "retrain the model");
  };
  if (offsets.empty() || offsets.front() != 0 || offsets.back() != ids.size() ||
      !std::is_sorted(offsets.begin(), offsets.end()) || (!values.empty() && values.size() != ids.size())) {
    refuse("nodes of a kernel that do not fit their attributes");
  }
  SparseRows rows;
  for (std::size_t v = 0; v + 1 < offsets.size(); ++v) {
    for (std::size_t j = offsets[v]; j < offsets[v + 1]; ++j) {
      if (ids[j] >= num_attributes || (j > offsets[v] && ids[j] <= ids[j - 1])) {
        refuse(fmt::format("attribute {} of {} in a node of a kernel", ids[j], num_attributes));
      }
      rows.add(ids[j], values.empty() ? 1.0f : values[j]);
    }
    rows.finish_row();
  }
  return rows;
}

Kernel stored_kernel(const StoredTask& stored) {
  const auto name = stored.settings.at("kernel").get<std::string>();
  try {
    return Kernel::parse(name);
  } catch (const Error&) {
    throw Error::in(stored.file, fmt::format("the kernel {}", in_quotes(name)), "retrain the model");
  }
}

std::string node_name(const KernelNodes& nodes, const Dictionary& attributes, std::size_t v) {
  std::string name = kNode;
  const SparseRows::Row row = nodes.rows().row(v);
  for (std::size_t j = 0; j < row.ids.size(); ++j) {
    name += ' ';
    for (const char c : attributes.name(row.ids[j])) {
      if (c == ' ' || c == ':' || c == '\\') name += '\\';
      name += c;
    }
    if (row.value(j) != 1) name += fmt::format(":{}", row.value(j));
  }
  return name;
}

std::optional<std::uint32_t> find_node(const KernelNodes& nodes, const Dictionary& attributes,
                                       std::string_view name) {
  if (!name.starts_with(kNode)) return std::nullopt;
  name.remove_prefix(std::string_view(kNode).size());
  SparseRows rows;
  while (!name.empty()) {
    if (name.front() != ' ') return std::nullopt;
    std::string attribute;
    std::size_t at = 1;
    for (; at < name.size() && name[at] != ' ' && name[at] != ':'; ++at) {
      if (name[at] == '\\' && at + 1 < name.size()) ++at;
      attribute += name[at];
    }
    float value = 1;
    if (at < name.size() && name[at] == ':') {
      const std::size_t end = std::min(name.find(' ', at), name.size());
      const auto parsed = std::from_chars(name.data() + at + 1, name.data() + end, value);
      if (parsed.ec != std::errc() || parsed.ptr != name.data() + end) return std::nullopt;
      at = end;
    }
    const auto id = attributes.find(attribute);
    if (!id) return std::nullopt;
    rows.add(*id, value);
    name.remove_prefix(at);
  }
  rows.finish_row();
  return nodes.find(rows.row(0));
}

std::string describe_kernel(const KernelNodes* nodes) {
  return nodes ? describe_kernel(nodes->kernel(), nodes->size()) : "";
}
std::string describe_kernel(const Kernel& kernel, std::size_t num_nodes) {
  return fmt::format(", kernel {} over {}", kernel.name(), counted(num_nodes, "node"));
}

}  // namespace espalier
