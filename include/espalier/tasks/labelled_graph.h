#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace espalier {

// A graph whose nodes have labels, or are to get some: what a line of a file has (docs/formats.md). Nodes
// count from 0.
struct LabelledGraph {
  using Features = std::vector<std::pair<std::string, double>>;  // each at most once
  struct Node {
    std::string type = "node";
    std::optional<Features> features{};                   // none given: "constant", of the value 1
    std::vector<std::string> allowed{};                   // labels; none: all of the type
    double cost = 1;                                      // of a wrong label
    std::vector<std::pair<std::string, double>> costs{};  // of single labels
    std::optional<std::string> label{};                   // none: not known
  };
  struct Clique {
    std::string type = "clique";
    std::vector<std::uint32_t> nodes{};
    std::optional<Features> features{};
    std::vector<std::vector<std::string>> forbidden{};  // joint labellings of its nodes
  };
  std::vector<Node> nodes{};
  std::vector<Clique> cliques{};
  double weight = 1;  // how much it counts in training
};

}  // namespace espalier
