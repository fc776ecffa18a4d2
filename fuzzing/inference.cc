// Two ways to one answer: vectors and no vectors, scaled probabilities and logarithms, floats and doubles.

#include <hwy/targets.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

#include "espalier/base/workspace.h"
#include "fuzzing/targets.h"
#include "structures/chain.h"

namespace espalier::fuzz {
namespace {

// Scores from bytes: of any size where `wild`, else moderate.
std::vector<double> scores_from(std::string_view bytes, std::size_t count, bool wild) {
  std::vector<double> scores(count);
  for (std::size_t k = 0; k < count && !bytes.empty(); ++k) {
    const auto byte = static_cast<signed char>(bytes[k % bytes.size()]);
    scores[k] = byte * (wild ? std::ldexp(1.0, byte % 8) : 0.05);
  }
  return scores;
}

// Up to rounding of sums as large as `scale`.
void expect_near(double a, double b, double tolerance, double scale, const char* what) {
  if (a == b || std::abs(a - b) <= tolerance * (1 + std::abs(b) + scale)) return;
  std::fprintf(stderr, "%.17g and %.17g\n", a, b);
  expect(false, what);
}

double sum_of_sizes(const std::vector<double>& scores) {
  double sum = 0;
  for (const double score : scores) sum += std::abs(score);
  return sum;
}

// Calls for every width of vectors that is compiled and runs here.
template <class Call>
void for_each_target(const Call& call) {
  for (const auto target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    call();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace

void chains(std::string_view bytes) {
  Choices choices(bytes);
  const std::size_t labels = 1 + choices.below(9), length = 1 + choices.below(7);
  const bool wild = choices.flag();
  const Chain chain(length, labels);
  const std::vector<double> s = scores_from(bytes, chain.num_statistics(), wild);
  const std::vector<float> s_float(s.begin(), s.end());
  const double scale = sum_of_sizes(s);
  Workspace ws;
  std::vector<double> exact(s.size());
  const double exact_log_z = chain.log_partition_reference(s, exact, ws);
  const double exact_best = chain.kbest(s, 1).front().score;
  for_each_target([&] {
    std::vector<double> mu(s.size());
    expect_near(chain.log_partition(s, mu, ws), exact_log_z, 1e-12, scale, "log Z");
    for (std::size_t k = 0; k < s.size(); ++k) expect_near(mu[k], exact[k], 1e-9, 0, "marginals");
    expect_near(chain.log_partition(s, ws), exact_log_z, 1e-12, scale, "log Z alone");
    std::vector<float> mu_float(s.size());
    expect_near(chain.log_partition(s_float, mu_float, ws), exact_log_z, 1e-4, scale, "log Z of floats");
    for (std::size_t k = 0; k < s.size(); ++k)
      expect_near(mu_float[k], exact[k], wild ? 1e-2 : 1e-4, 0, "marginals of floats");
    expect_near(chain.decode(s, ws).size() == length ? chain.argmax(s, mu, ws) : NAN, exact_best, 1e-12,
                scale, "the best sequence");
  });
}

}  // namespace espalier::fuzz
