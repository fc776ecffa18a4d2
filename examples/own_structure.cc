// Trains over a structure that the library does not have: several labels an example (subset.h), with a margin
// for every label that is missing or too many (subset_examples.h). docs/adding-a-structure.md goes through
// it.

#include <espalier/espalier.h>
#include <fmt/format.h>

#include <vector>

#include "subset_examples.h"

int main() {
  // Words of a headline (0 goal, 1 bank, 2 film, 3 buys, 4 and a constant) and its topics (sport, money,
  // arts).
  espalier::SparseRows rows;
  for (const std::vector<std::uint32_t>& words :
       {std::vector<std::uint32_t>{0, 4}, {1, 4}, {2, 4}, {0, 3, 4}, {2, 3, 4}, {1, 2, 4}}) {
    for (const std::uint32_t word : words) rows.add(word, 1);
    rows.finish_row();
  }
  const std::vector<example::Subset::Output> gold{{true, false, false}, {false, true, false},
                                                  {false, false, true}, {true, true, false},
                                                  {false, true, true},  {false, true, true}};
  const example::SubsetProblem problem(example::SubsetExamples(rows, 5, gold));
  const espalier::Objective objective{problem, espalier::Loss::softmax_margin(), /*l2=*/0.1};
  espalier::DualState dual(problem);
  espalier::Weights theta;
  fmt::print("{}\n", espalier::eg(objective, {}, dual, theta).message);

  std::size_t right = 0;
  espalier::Workspace workspace;
  std::vector<double> s(3);
  for (std::size_t i = 0; i < problem.size(); ++i) {
    problem.score(i, theta, 1.0, s, workspace);
    right += example::Subset(3).decode(std::span<const double>(s), workspace) == gold[i] ? 1 : 0;
  }
  fmt::print("{} of {} headlines have all of their topics and no other\n", right, problem.size());
  return right == problem.size() && espalier::certify(objective, theta, dual).relative_gap() <= 1e-3 ? 0 : 1;
}
