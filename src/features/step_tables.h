#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace espalier {

// Which steps of a sequence share a table of transitions: those with the same row of Sequences::transitions.
// Tables are numbered in order of appearance.
class StepTables {
 public:
  // For the steps of one sequence, given by their rows: appends each distinct row to `rows`, and the table of
  // each step to `tables`. Allocates no more once it has seen the largest row.
  void append(std::span<const std::uint32_t> steps, std::vector<std::uint32_t>& rows,
              std::vector<std::uint32_t>& tables);

 private:
  std::vector<std::uint32_t> table_of_row_;  // kNone between two calls
};

}  // namespace espalier
