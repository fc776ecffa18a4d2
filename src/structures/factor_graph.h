#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace espalier {

// Discrete variables and cliques of them, each with a table of scores (a Markov random field without its
// numbers). The tables lie one after another: entry e of clique c is statistic begin(c) + e. In a table the
// first variable of the scope changes slowest, as in UAI files. Variable v takes one of the labels 0 ..
// cardinality(v) - 1.
class FactorGraph {
 public:
  // Requires that every variable has a label, that is cardinalities of 1 or more.
  explicit FactorGraph(std::vector<std::uint32_t> cardinalities);

  // Whether the entries of a clique of these variables, and of all before, can be counted.
  bool has_room(std::span<const std::uint32_t> scope) const;
  // Adds a clique and returns its index. Requires one variable or more, none of them twice, and room for its
  // table. Two cliques may have the same scope.
  std::size_t add_clique(std::span<const std::uint32_t> scope);
  // A hard constraint: no output has this entry of this clique.
  void forbid(std::size_t clique, std::size_t entry);

  std::size_t num_variables() const { return cardinalities_.size(); }
  std::uint32_t cardinality(std::size_t v) const { return cardinalities_[v]; }
  std::span<const std::uint32_t> cardinalities() const { return cardinalities_; }
  std::size_t num_cliques() const { return begin_.size() - 1; }
  std::span<const std::uint32_t> scope(std::size_t clique) const {
    return std::span(variables_)
        .subspan(scope_begin_[clique], scope_begin_[clique + 1] - scope_begin_[clique]);
  }
  std::size_t begin(std::size_t clique) const { return begin_[clique]; }
  std::size_t size(std::size_t clique) const { return begin_[clique + 1] - begin_[clique]; }
  std::size_t num_statistics() const { return begin_.back(); }
  // The statistics that no output has, in increasing order.
  std::span<const std::size_t> forbidden() const { return forbidden_; }

  // The entry of the clique that the labels y (one a variable) choose.
  std::size_t entry(std::size_t clique, std::span<const std::uint32_t> y) const;

  friend bool operator==(const FactorGraph&, const FactorGraph&) = default;

 private:
  std::vector<std::uint32_t> cardinalities_;
  std::vector<std::uint32_t> variables_;        // the scopes, one after another
  std::vector<std::size_t> scope_begin_ = {0};  // of each clique, and the end
  std::vector<std::size_t> begin_ = {0};        // of each clique's table, and the end
  std::vector<std::size_t> forbidden_;
};

}  // namespace espalier
