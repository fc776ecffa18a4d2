// The kernels against their scalar references, on rows like those of MNIST. Rates are multiplications and
// additions (or exponentials) per second.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/random.h"
#include "digits.h"
#include "espalier/features/weights.h"
#include "kernels/rows.h"
#include "kernels/softmax.h"

namespace espalier::bench {
namespace {

// Widths of two labels, digits, letters, and a large set of tags.
void widths(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgName("width")->Arg(2)->Arg(10)->Arg(26)->Arg(100);
}

template <class Real>
std::vector<Real> random_values(Random& random, std::size_t n) {
  std::vector<Real> values(n);
  for (Real& v : values) v = static_cast<Real>(2 * random.uniform() - 1);
  return values;
}

// A digit and weights for it.
template <class Real>
struct Operands {
  explicit Operands(std::size_t width) : weights({kPixels, width}) {
    Random random(1);
    append_digit(random, rows);
    for (std::size_t r = 0; r < kPixels; ++r) {
      const auto values = random_values<Real>(random, width);
      std::copy(values.begin(), values.end(), weights.row(r));
    }
    labels = random_values<Real>(random, width);
  }
  kernels::SparseRow row() const {
    const auto row = rows.row(0);
    return {row.ids.data(), row.values.data(), row.ids.size()};
  }
  kernels::RowTable<const Real> read() const {
    return {weights.row(0), weights.shape().width, weights.stride()};
  }
  kernels::RowTable<Real> write() { return {weights.row(0), weights.shape().width, weights.stride()}; }

  SparseRows rows;
  BasicWeights<Real> weights;
  std::vector<Real> labels;  // one value per label
};

void count(benchmark::State& state, std::size_t per_iteration) {
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(per_iteration));
}

template <class W, class Real, bool scalar>
void score_rows(benchmark::State& state) {
  const auto width = static_cast<std::size_t>(state.range(0));
  const Operands<W> operands(width);
  std::vector<Real> s(width);
  for (auto _ : state) {
    if constexpr (scalar) {
      kernels::reference::score_rows(operands.read(), operands.row(), Real{1}, s.data());
    } else {
      kernels::score_rows(operands.read(), operands.row(), Real{1}, s.data());
    }
    benchmark::DoNotOptimize(s.data());
    benchmark::ClobberMemory();
  }
  count(state, width * kInk);
}

template <class Real, bool scalar>
void accumulate_rows(benchmark::State& state) {
  const auto width = static_cast<std::size_t>(state.range(0));
  Operands<Real> operands(width);
  std::vector<Real> delta = operands.labels;
  for (auto _ : state) {
    if constexpr (scalar) {
      kernels::reference::accumulate_rows(operands.write(), operands.row(), delta.data());
    } else {
      kernels::accumulate_rows(operands.write(), operands.row(), delta.data());
    }
    for (Real& change : delta) change = -change;  // or the weights would grow without end
    benchmark::ClobberMemory();
  }
  count(state, width * kInk);
}

template <class Real, bool scalar>
void softmax(benchmark::State& state) {
  const auto width = static_cast<std::size_t>(state.range(0));
  Random random(1);
  const auto s = random_values<Real>(random, width);
  std::vector<Real> mu(width);
  for (auto _ : state) {
    if constexpr (scalar) {
      benchmark::DoNotOptimize(kernels::reference::softmax(s.data(), width, mu.data()));
    } else {
      benchmark::DoNotOptimize(kernels::softmax(s.data(), width, mu.data()));
    }
    benchmark::ClobberMemory();
  }
  count(state, width);
}

constexpr bool kKernel = false, kScalar = true;

BENCHMARK(score_rows<float, float, kKernel>)->Name("score_rows/float")->Apply(widths);
BENCHMARK(score_rows<float, float, kScalar>)->Name("score_rows/float/scalar")->Apply(widths);
BENCHMARK(score_rows<float, double, kKernel>)->Name("score_rows/float-to-double")->Apply(widths);
BENCHMARK(score_rows<float, double, kScalar>)->Name("score_rows/float-to-double/scalar")->Apply(widths);
BENCHMARK(score_rows<double, double, kKernel>)->Name("score_rows/double")->Apply(widths);
BENCHMARK(score_rows<double, double, kScalar>)->Name("score_rows/double/scalar")->Apply(widths);
BENCHMARK(accumulate_rows<float, kKernel>)->Name("accumulate_rows/float")->Apply(widths);
BENCHMARK(accumulate_rows<float, kScalar>)->Name("accumulate_rows/float/scalar")->Apply(widths);
BENCHMARK(accumulate_rows<double, kKernel>)->Name("accumulate_rows/double")->Apply(widths);
BENCHMARK(accumulate_rows<double, kScalar>)->Name("accumulate_rows/double/scalar")->Apply(widths);
BENCHMARK(softmax<float, kKernel>)->Name("softmax/float")->Apply(widths);
BENCHMARK(softmax<float, kScalar>)->Name("softmax/float/scalar")->Apply(widths);
BENCHMARK(softmax<double, kKernel>)->Name("softmax/double")->Apply(widths);
BENCHMARK(softmax<double, kScalar>)->Name("softmax/double/scalar")->Apply(widths);

}  // namespace
}  // namespace espalier::bench
