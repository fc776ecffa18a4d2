#include "features/step_tables.h"

namespace espalier {

void StepTables::append(std::span<const std::uint32_t> steps, std::vector<std::uint32_t>& rows,
                        std::vector<std::uint32_t>& tables) {
  constexpr std::uint32_t kNone = ~std::uint32_t{0};
  const std::size_t begin = rows.size();
  for (const std::uint32_t row : steps) {
    if (row >= table_of_row_.size()) table_of_row_.resize(row + std::size_t{1}, kNone);
    if (table_of_row_[row] == kNone) {
      table_of_row_[row] = static_cast<std::uint32_t>(rows.size() - begin);
      rows.push_back(row);
    }
    tables.push_back(table_of_row_[row]);
  }
  for (std::size_t r = begin; r < rows.size(); ++r) table_of_row_[rows[r]] = kNone;
}

}  // namespace espalier
