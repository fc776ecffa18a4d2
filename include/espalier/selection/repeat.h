#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "espalier/base/progress.h"
#include "espalier/learning/certificate.h"

namespace espalier {

// One of several runs that differ in their seed.
struct RepeatedRun {
  std::uint64_t seed = 0;
  Certificate certificate;
  Status status = Status::not_run;
  std::string message;
};

struct Repeats {
  std::vector<RepeatedRun> runs;
  std::size_t best = 0;  // the run of the largest dual; the first of equals

  // Runs that came to their end: neither stopped nor failed.
  std::size_t ended() const;
  // Collins et al. 2008, section 5.1. How far a run's dual ends below the optimum is a random number that is
  // never negative, so by Markov's inequality it is more than twice its mean for at most every other seed.
  // With at least this probability, 1 - 2^-k for k runs that ended, the best dual is at most twice that mean
  // from the optimum; and so, for eg with safe steps and random order, within twice the bound of Theorem 2.
  double confidence() const;
};

}  // namespace espalier
