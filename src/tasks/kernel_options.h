#pragma once

#include "espalier/base/error.h"
#include "espalier/base/options.h"

namespace espalier {

// The options of a kernel (features/kernel.h), which several tasks have.
template <class Options>
OptionOf<Options> kernel_option() {
  return OptionOf<Options>("kernel", &Options::kernel,
                           "linear, poly,DEGREE[,CONSTANT[,SCALE]] or rbf,GAMMA, instead of weights");
}

template <class Options>
OptionOf<Options> kernel_memory_option() {
  return OptionOf<Options>("kernel_memory", &Options::kernel_memory,
                           "memory for values of the kernel; those that do not fit are recomputed")
      .bytes()
      .only_if([](const Options& options) { return !options.kernel.empty(); }, setting("kernel"));
}

}  // namespace espalier
