#include "structures/kbest_memory.h"

#include "espalier/base/error.h"

namespace espalier {

void KbestMemory::refuse() {
  throw Error::in(setting("kbest"), "that many outputs take more than 1 GiB of memory",
                  "expected a smaller number");
}

}  // namespace espalier
