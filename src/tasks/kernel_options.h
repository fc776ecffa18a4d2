#pragma once

#include "espalier/base/options.h"

namespace espalier {

// The options of a kernel (features/kernel.h), which several tasks have.
template <class Options>
OptionOf<Options> kernel_option() {
  return {"kernel", &Options::kernel,
          "compare tokens, examples or nodes instead of weighing their attributes: linear, "
          "poly,DEGREE[,CONSTANT[,SCALE]] or rbf,GAMMA"};
}

template <class Options>
OptionOf<Options> kernel_memory_option() {
  return OptionOf<Options>("kernel_memory", &Options::kernel_memory,
                           "for the values of the kernel; values that do not fit are recomputed")
      .bytes()
      .logged_if([](const Options& options) { return !options.kernel.empty(); });
}

}  // namespace espalier
