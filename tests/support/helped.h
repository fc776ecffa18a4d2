#pragma once

#include <atomic>
#include <cstddef>

#include "base/helping.h"
#include "base/team.h"

namespace espalier {
namespace test_support {

// call(ws), while so many others help with what it shares.
template <class Call>
void with_helpers(std::size_t helpers, const Call& call) {
  SharedWork shared;
  std::atomic<bool> over{false};
  Team team(1 + helpers);
  team.run([&](std::size_t k) {
    Workspace ws;
    while (k > 0 && !over) shared.help(ws);
    if (k > 0) return;
    ws.set_shared_work(&shared);
    call(ws);
    over = true;
  });
}

}  // namespace test_support
}  // namespace espalier
