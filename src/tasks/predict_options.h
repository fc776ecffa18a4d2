#pragma once

#include <string>
#include <utility>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/base/options.h"

namespace espalier {

// Options of predictions that most tasks have.
template <class Options>
OptionOf<Options> marginals_option(std::string help) {
  return OptionOf<Options>("marginals", &Options::marginals,
                           std::vector<std::pair<std::string, bool>>{{"label", true}}, std::move(help))
      .implied("label")
      .basic();
}

template <class Options>
OptionOf<Options> kbest_option() {
  return OptionOf<Options>(
             "kbest", &Options::kbest,
             "write the K best outputs, each with its probability (with its score if beta is infinite)")
      .from(1)
      .value("K")
      .basic();
}

template <class Options>
OptionOf<Options> samples_option() {
  return OptionOf<Options>(
             "samples", &Options::samples,
             "write N outputs drawn from the distribution of the model, each with its probability")
      .from(1)
      .value("N");
}

template <class Options>
OptionOf<Options> sample_seed_option() {
  return OptionOf<Options>("seed", &Options::seed, "seed of the draws")
      .only_if([](const Options& options) { return options.samples > 0; }, setting("samples"));
}

template <class Options>
OptionOf<Options> entropy_option() {
  return OptionOf<Options>("entropy", &Options::entropy,
                           "add the entropy of the distribution over outputs, in nats");
}

template <class Options>
OptionOf<Options> json_option() {
  return OptionOf<Options>("json", &Options::json,
                           "JSON Lines: one object per sequence, example, sentence, graph or pair");
}

template <class Options>
OptionOf<Options> threads_option() {
  return OptionOf<Options>("threads", &Options::threads, "number of threads; 0: one for each processor")
      .from(0)
      .basic();
}

}  // namespace espalier
