#include "espalier/tasks/graph.h"

#include <fmt/format.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <memory>

#include "bind.h"
#include "blocks.h"
#include "espalier/base/error.h"
#include "espalier/model/model.h"
#include "espalier/tasks/sampling.h"
#include "items.h"
#include "json.h"
#include "settings.h"
#include "training.h"

namespace espalier::python {
namespace {

using Labels = std::vector<std::string>;

// One graph of Python: the keys that docs/formats.md has of JSON, where features may be arrays and edges are
// cliques of two nodes.
class GraphOf {
 public:
  explicit GraphOf(Place place) : place_(place) {}

  LabelledGraph graph(const py::handle& object) {
    if (!py::isinstance<py::dict>(object)) refuse(object, "expected a dict with nodes, and edges or cliques");
    const auto dict = py::reinterpret_borrow<py::dict>(object);
    if (!dict.contains("nodes")) refuse(object, "expected nodes");
    LabelledGraph graph;
    take_nodes(dict["nodes"], graph);
    if (has(dict, "edges")) {
      const py::object features =
          has(dict, "edge_features") ? py::object(dict["edge_features"]) : py::object(py::none());
      take_edges(dict["edges"], features, graph);
    }
    if (has(dict, "cliques")) {
      where_ = "cliques";
      for (const py::handle clique : iterable(dict["cliques"], "expected a list of cliques"))
        graph.cliques.push_back(this->clique(clique));
    }
    if (has(dict, "weight")) graph.weight = number(dict["weight"]);
    return graph;
  }

  static void label(const py::handle& labels, const Place& place, LabelledGraph& graph) {
    if (PyUnicode_Check(labels.ptr()) || !py::isinstance<py::sequence>(labels))
      throw Error::in(place.text(), std::string(py::repr(labels)), "expected a list of labels");
    const auto list = py::reinterpret_borrow<py::sequence>(labels);
    if (py::len(list) != graph.nodes.size()) {
      throw Error(fmt::format("{} has {} labels for {} nodes; expected one for each", place.text(),
                              py::len(list), graph.nodes.size()));
    }
    for (std::size_t v = 0; v < graph.nodes.size(); ++v)
      graph.nodes[v].label = std::string(text_of(py::object(list[v]), place, "expected texts as labels"));
  }

  static Labels names(const py::handle& list, const Place& place) {
    Labels result;
    for (const py::handle name : list) result.emplace_back(text_of(name, place, "expected texts"));
    return result;
  }
  static std::vector<Labels> lists(const py::handle& list, const Place& place) {
    std::vector<Labels> result;
    for (const py::handle one : list) result.push_back(names(one, place));
    return result;
  }

 private:
  static bool has(const py::dict& dict, const char* key) {
    return dict.contains(key) && !dict[key].is_none();
  }

  [[noreturn]] void refuse(const py::handle& found, const char* expected) const {
    std::string text = py::repr(found);
    constexpr std::size_t kLong = 80;
    if (text.size() > kLong) text = text.substr(0, kLong) + "...";
    throw Error::in(place_.text() + (where_.empty() ? "" : ", " + where_), text, expected);
  }

  py::object iterable(const py::handle& object, const char* expected) const {
    if (PyUnicode_Check(object.ptr()) || PyDict_Check(object.ptr()) || !PySequence_Check(object.ptr()))
      refuse(object, expected);
    return py::reinterpret_borrow<py::object>(object);
  }

  double number(const py::handle& object) const {
    const double value = PyFloat_AsDouble(object.ptr());
    if (value == -1 && PyErr_Occurred()) {
      PyErr_Clear();
      refuse(object, "expected a number");
    }
    return value;
  }

  void take_nodes(const py::handle& nodes, LabelledGraph& graph) {
    where_ = "nodes";
    if (is_array(nodes)) {
      for (LabelledGraph::Features& row : rows_of(nodes)) graph.nodes.push_back({.features = std::move(row)});
      return;
    }
    for (const py::handle node : iterable(nodes, "expected a list of nodes, or an array with a row for each"))
      graph.nodes.push_back(this->node(node));
  }

  // A row of numbers for each: their names are their places.
  std::vector<LabelledGraph::Features> rows_of(const py::handle& object) const {
    const auto array = py::array_t<double, py::array::c_style | py::array::forcecast>::ensure(object);
    if (!array || array.ndim() != 2) {
      PyErr_Clear();
      refuse(object, "expected an array of two dimensions, a row of features for each");
    }
    std::vector<LabelledGraph::Features> rows(static_cast<std::size_t>(array.shape(0)));
    const double* at = array.data();
    for (auto& row : rows) {
      for (py::ssize_t c = 0; c < array.shape(1); ++c) row.emplace_back(fmt::to_string(c), *at++);
    }
    return rows;
  }

  std::optional<LabelledGraph::Features> features(const py::handle& object) const {
    if (object.is_none()) return std::nullopt;
    LabelledGraph::Features result;
    if (PyDict_Check(object.ptr())) {
      for (const auto& [name, value] : py::reinterpret_borrow<py::dict>(object))
        result.emplace_back(text_of(name, place_, "expected texts as names of features"), number(value));
      return result;
    }
    std::size_t position = 0;
    for (const py::handle one :
         iterable(object, "expected a dict of features, a list of their names, or a row of numbers")) {
      if (PyUnicode_Check(one.ptr()) || PyBytes_Check(one.ptr())) {
        result.emplace_back(text_of(one, place_, ""), 1.0);
      } else {
        result.emplace_back(fmt::to_string(position++), number(one));
      }
    }
    return result;
  }

  LabelledGraph::Node node(const py::handle& object) const {
    LabelledGraph::Node node;
    if (!PyDict_Check(object.ptr())) {
      node.features = features(object);
      return node;
    }
    for (const auto& [key, value] : py::reinterpret_borrow<py::dict>(object)) {
      const std::string_view name = text_of(key, place_, "expected texts as keys of a node");
      if (name == "type") {
        node.type = text_of(value, place_, "expected a text as the type of a node");
      } else if (name == "features") {
        node.features = features(value);
      } else if (name == "allowed") {
        node.allowed = names(value, place_);
      } else if (name == "cost" && PyDict_Check(value.ptr())) {
        for (const auto& [label, cost] : py::reinterpret_borrow<py::dict>(value))
          node.costs.emplace_back(text_of(label, place_, "expected texts as labels"), number(cost));
      } else if (name == "cost") {
        node.cost = number(value);
      } else {
        refuse(key, "expected type, features, allowed or cost as keys of a node");
      }
    }
    return node;
  }

  std::vector<std::uint32_t> nodes_of(const py::handle& object) const {
    std::vector<std::uint32_t> nodes;
    for (const py::handle node : iterable(object, "expected the numbers of nodes")) {
      if (!PyIndex_Check(node.ptr())) refuse(object, "expected the numbers of nodes");
      const auto index = py::int_(py::reinterpret_borrow<py::object>(node)).cast<long long>();
      if (index < 0 || index > 0xffff'fffeLL) refuse(object, "expected the numbers of nodes, from 0");
      nodes.push_back(static_cast<std::uint32_t>(index));
    }
    return nodes;
  }

  LabelledGraph::Clique clique(const py::handle& object) const {
    LabelledGraph::Clique clique;
    if (!PyDict_Check(object.ptr())) {
      clique.nodes = nodes_of(object);
      return clique;
    }
    for (const auto& [key, value] : py::reinterpret_borrow<py::dict>(object)) {
      const std::string_view name = text_of(key, place_, "expected texts as keys of a clique");
      if (name == "type") {
        clique.type = text_of(value, place_, "expected a text as the type of a clique");
      } else if (name == "nodes") {
        clique.nodes = nodes_of(value);
      } else if (name == "features") {
        clique.features = features(value);
      } else if (name == "forbidden") {
        clique.forbidden = lists(value, place_);
      } else {
        refuse(key, "expected type, nodes, features or forbidden as keys of a clique");
      }
    }
    return clique;
  }

  void take_edges(const py::handle& edges, const py::object& of_edges, LabelledGraph& graph) {
    where_ = "edges";
    std::vector<LabelledGraph::Clique> cliques;
    for (const py::handle edge : iterable(edges, "expected pairs of nodes")) {
      LabelledGraph::Clique& clique = cliques.emplace_back();
      clique.type = "edge";
      clique.nodes = nodes_of(edge);
      if (clique.nodes.size() != 2) refuse(edge, "expected two nodes");
    }
    if (!of_edges.is_none()) {
      where_ = "edge_features";
      if (py::len(of_edges) != cliques.size()) refuse(of_edges, "expected a row for each edge");
      std::size_t k = 0;
      for (const py::handle row : of_edges) cliques[k++].features = features(row);
    }
    for (auto& clique : cliques) graph.cliques.push_back(std::move(clique));
  }

  Place place_;
  std::string where_;
};

// Graphs of Python, with their labels or without.
class Graphs {
 public:
  Graphs(const py::sequence& X, const py::object& y, const py::object& types, const char* x_name,
         const char* y_name) {
    const std::size_t size = py::len(X);
    if (!y.is_none() && py::len(y) != size)
      throw Error(
          fmt::format("{} has {} graphs and {} has {}; expected as many", x_name, size, y_name, py::len(y)));
    if (!types.is_none()) declare(types);
    for (std::size_t i = 0; i < size; ++i) {
      if (i % 64 == 0 && PyErr_CheckSignals() != 0) throw py::error_already_set();
      const Place place{x_name, static_cast<std::ptrdiff_t>(i)};
      LabelledGraph graph = GraphOf(place).graph(py::object(X[i]));
      if (!y.is_none())
        GraphOf::label(py::object(y[py::int_(i)]), {y_name, static_cast<std::ptrdiff_t>(i)}, graph);
      data_.add(std::move(graph));
    }
  }
  const GraphData& data() const { return data_; }

 private:
  // {"word": {"labels": [...]}, "next": {"nodes": ["word", "word"], "forbidden": [...]}}
  void declare(const py::object& types) {
    const Place place{"types"};
    if (!py::isinstance<py::dict>(types))
      throw Error::in("types", std::string(py::repr(types)), "expected a dict of types by name");
    for (const auto& [key, value] : py::reinterpret_borrow<py::dict>(types)) {
      const std::string name(text_of(key, place, "expected texts as names of types"));
      const auto type = py::reinterpret_borrow<py::dict>(value);
      if (!py::isinstance<py::dict>(value) || (!type.contains("labels") && !type.contains("nodes")))
        throw Error::in("types", fmt::format("the type {}", in_quotes(name)),
                        "expected a dict with labels, or with nodes");
      if (type.contains("labels")) {
        data_.declare(GraphData::NodeType{name, GraphOf::names(type["labels"], place)});
        continue;
      }
      GraphData::CliqueType clique{name, GraphOf::names(type["nodes"], place)};
      if (type.contains("forbidden")) clique.forbidden = GraphOf::lists(type["forbidden"], place);
      data_.declare(std::move(clique));
    }
  }

  GraphData data_;
};

std::unique_ptr<TrainingData> make_training(const Graphs& train, const Graphs* dev, py::dict options) {
  OptionValues values(task_named("graph").options());
  options = options.attr("copy")();
  take_options(options, values);
  refuse_rest(options);
  values.check_effective();
  const py::gil_scoped_release release;
  auto result = std::make_unique<TrainingData>();
  result->set = make_graph_training(train.data(), values.as<GraphOptions>(), dev ? &dev->data() : nullptr);
  return result;
}

// A labeller that all threads of Python share.
class SharedLabeller {
 public:
  explicit SharedLabeller(Model model) : model_(std::move(model)), labeller_(model_.graph_labeller()) {}

  py::list labels(const Graphs& X) const {
    std::vector<Labels> all(X.data().size());
    py::list result;
    GraphLabeller::Graph graph(labeller_);
    for_each_in_blocks(
        all.size(), kBlock,
        [&](std::size_t i) {
          graph.set(X.data().graph(i));
          all[i] = names(graph, graph.labels());
        },
        [&](std::size_t i) { result.append(py::cast(std::exchange(all[i], {}))); });
    return result;
  }

  py::list marginals(const Graphs& X) const {
    using Node = std::vector<std::pair<std::string, double>>;
    std::vector<std::vector<Node>> all(X.data().size());
    py::list result;
    GraphLabeller::Graph graph(labeller_);
    for_each_in_blocks(
        all.size(), kBlock,
        [&](std::size_t i) {
          graph.set(X.data().graph(i));
          for (std::size_t v = 0; v < graph.size(); ++v) {
            const auto mu = graph.marginals(v);
            Node& node = all[i].emplace_back();
            for (std::uint32_t y = 0; y < mu.size(); ++y) node.emplace_back(graph.label(v, y), mu[y]);
          }
        },
        [&](std::size_t i) {
          py::list nodes;
          for (const Node& node : all[i]) {
            py::dict of_node;
            for (const auto& [label, p] : node) of_node[py::str(label)] = p;
            nodes.append(std::move(of_node));
          }
          result.append(std::move(nodes));
          all[i] = {};
        });
    return result;
  }

  py::list kbest(const Graphs& X, std::size_t k) const {
    return scored(X, [&](GraphLabeller::Graph& graph, std::size_t) { return graph.kbest(k); });
  }
  py::list samples(const Graphs& X, std::size_t n, std::uint64_t seed) const {
    return scored(X, [&](GraphLabeller::Graph& graph, std::size_t i) {
      return graph.samples(n, seed_of_item(seed, i));
    });
  }

  py::list entropies(const Graphs& X) const {
    std::vector<double> all(X.data().size());
    py::list result;
    GraphLabeller::Graph graph(labeller_);
    for_each_in_blocks(
        all.size(), kBlock,
        [&](std::size_t i) {
          graph.set(X.data().graph(i));
          all[i] = graph.entropy();
        },
        [&](std::size_t i) { result.append(all[i]); });
    return result;
  }

  // Lists of (labels, score, probability); None where the model has no probabilities.
  template <class List>
  py::list scored(const Graphs& X, const List& list) const {
    struct Best {
      Labels labels;
      double score, probability;
    };
    std::vector<std::vector<Best>> all(X.data().size());
    py::list result;
    GraphLabeller::Graph graph(labeller_);
    const bool smooth = labeller_.has_probabilities();
    for_each_in_blocks(
        all.size(), kBlock,
        [&](std::size_t i) {
          graph.set(X.data().graph(i));
          for (const auto& [labels, score] : list(graph, i))
            all[i].push_back({names(graph, labels), score, smooth ? graph.probability(score) : 0});
        },
        [&](std::size_t i) {
          py::list best;
          for (const auto& [labels, score, probability] : all[i]) {
            py::object p = py::none();
            if (smooth) p = py::float_(probability);
            best.append(py::make_tuple(py::cast(labels), score, p));
          }
          result.append(std::move(best));
          all[i] = {};
        });
    return result;
  }

  py::object evaluate(const Graphs& gold) const {
    Evaluation evaluation;
    {
      const py::gil_scoped_release release;
      evaluation = labeller_.evaluate(gold.data());
    }
    return to_python(evaluation.report);
  }

 private:
  static constexpr std::size_t kBlock = 4;

  static Labels names(const GraphLabeller::Graph& graph, std::span<const std::uint32_t> labels) {
    Labels result;
    for (std::size_t v = 0; v < labels.size(); ++v) result.emplace_back(graph.label(v, labels[v]));
    return result;
  }

  Model model_;
  const GraphLabeller& labeller_;
};

}  // namespace

void bind_graph(py::module_& module) {
  py::class_<Graphs>(module, "Graphs")
      .def(py::init<const py::sequence&, const py::object&, const py::object&, const char*, const char*>(),
           py::arg("X"), py::arg("y") = py::none(), py::arg("types") = py::none(), py::arg("x_name") = "X",
           py::arg("y_name") = "y")
      .def("__len__", [](const Graphs& graphs) { return graphs.data().size(); });
  module.def("graph_training", &make_training, py::arg("train"), py::arg("dev"), py::arg("options"));
  py::class_<SharedLabeller>(module, "GraphLabeller")
      .def(py::init<Model>(), py::arg("model"))
      .def("labels", &SharedLabeller::labels, py::arg("X"))
      .def("marginals", &SharedLabeller::marginals, py::arg("X"))
      .def("kbest", &SharedLabeller::kbest, py::arg("X"), py::arg("k"))
      .def("samples", &SharedLabeller::samples, py::arg("X"), py::arg("n"), py::arg("seed"))
      .def("entropies", &SharedLabeller::entropies, py::arg("X"))
      .def("evaluate", &SharedLabeller::evaluate, py::arg("X"));
}

}  // namespace espalier::python
