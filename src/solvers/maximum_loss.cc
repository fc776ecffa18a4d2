#include "solvers/maximum_loss.h"

#include <fmt/format.h>

#include "espalier/base/error.h"

namespace espalier {

void check_maximum_loss(std::string_view solver, const Loss& loss, std::string_view expected) {
  if (loss.smooth()) throw Error::in(solver, fmt::format("the loss {} is smooth", loss.name()), expected);
}

}  // namespace espalier
