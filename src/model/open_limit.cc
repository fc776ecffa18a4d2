#include "espalier/model/open_limit.h"

#include <fmt/format.h>

#include "base/free_memory.h"
#include "base/text.h"
#include "espalier/base/error.h"
#include "model/make_model.h"

namespace espalier {

void check_memory_to_open(const std::string& path, std::size_t limit) {
  if (limit == 0) return;
  const double needed = static_cast<double>(resident_memory()) + memory_to_open(path);
  if (needed <= static_cast<double>(limit)) return;
  throw Error::in(
      path, fmt::format("a model that takes about {}", in_bytes(needed)),
      fmt::format("expected at most {} ({})", in_bytes(static_cast<double>(limit)), setting("memory")));
}

}  // namespace espalier
