#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/base/json.h"
#include "espalier/base/options.h"
#include "espalier/solvers/registry.h"

namespace espalier {

// Options of solvers by name and text, as a command line has them. An option that several solvers have is
// given once, to all of them.
class SolverArguments {
 public:
  // The table must outlive it.
  explicit SolverArguments(std::span<const SolverEntry> table = solver_table()) : table_(table) {}

  // Every option of the table, in its order. A row takes what one of its solvers takes, and its help says
  // which they are. It has nothing to load from or to store to.
  std::vector<OptionRow> rows() const;

  void give(std::string_view name, std::string_view text);
  // Sets what was given in the options of these solvers. Throws Error if it is for none of them, with the
  // solvers that it is for.
  void apply(std::span<const SolverEntry> solvers, SolverOptions& options) const;
  // What belongs in the log of a run of these solvers, by their names: what was given, options that several
  // solvers have, and those of a single one where it is named.
  Json log(std::span<const std::string> solvers) const;

 private:
  struct Shared {  // one option, with the solvers that have it
    std::vector<const OwnOptions*> owners;
    std::vector<const OptionRow*> rows;
  };
  std::vector<Shared> shared() const;

  std::span<const SolverEntry> table_;
  std::map<std::string, std::string, std::less<>> given_;
};

}  // namespace espalier
