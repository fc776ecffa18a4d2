#include "solvers/vertex_sets.h"

#include <algorithm>
#include <numeric>

#include "espalier/base/error.h"

namespace espalier {
namespace {

// s.mu, several sums at once, because an addition takes as long as several of them.
double mixed_dot(In s, DoubleIn mu) {
  constexpr std::size_t kSums = 8;
  double sums[kSums] = {};
  const std::size_t whole = s.size() / kSums * kSums;
  for (std::size_t j = 0; j < whole; j += kSums) {
    for (std::size_t k = 0; k < kSums; ++k) sums[k] += s[j + k] * mu[j + k];
  }
  for (std::size_t j = whole; j < s.size(); ++j) sums[0] += s[j] * mu[j];
  return std::accumulate(sums, sums + kSums, 0.0);
}

}  // namespace

VertexSets::VertexSets(const Problem& problem, const MeanState& means, bool keep_outputs)
    : rest_(means), examples_(problem.size()) {
  std::size_t offset = 0;
  std::vector<float> gold;
  for (std::size_t i = 0; i < problem.size(); ++i) {
    // Outputs have about as many parts as the gold one; some structures' have a few more.
    gold.assign(problem.num_statistics(i), 0.0f);
    problem.add_gold(i, 1.0f, gold);
    const double parts = std::accumulate(gold.begin(), gold.end(), 0.0);
    Example& e = examples_[i];
    e.weights[0] = 1;
    if (keep_outputs)
      e.room = static_cast<std::uint32_t>(std::min(1.25 * parts + 2, static_cast<double>(gold.size())));
    e.offset = offset;
    e.roundings = means.roundings();
    offset += (kAtoms - 1) * e.room;
  }
  entries_ = ZeroedArray<Entry>(offset);
}

std::size_t VertexSets::find(std::size_t i, Output output) const {
  const Example& e = examples_[i];
  for (std::size_t k = 1; k < kAtoms; ++k) {
    if (e.weights[k] > 0 && std::ranges::equal(entries(e, k), output)) return k;
  }
  return 0;
}

std::size_t VertexSets::free_place(std::size_t i) const {
  const Example& e = examples_[i];
  for (std::size_t k = 1; k < kAtoms; ++k) {
    if (e.weights[k] == 0) return k;
  }
  return 0;
}

void VertexSets::set(std::size_t i, std::size_t k, Output output) {
  ESPALIER_EXPECT(k > 0 && k < kAtoms && examples_[i].weights[k] == 0 && fits(i, output));
  Example& e = examples_[i];
  std::copy(output.begin(), output.end(), entries_.data() + e.offset + (k - 1) * e.room);
  e.sizes[k] = static_cast<std::uint32_t>(output.size());
}

// rest <- (a_0 rest + weight output) / (a_0 + weight)
void VertexSets::add_to_rest(std::size_t i, Output output, double weight) {
  Example& e = examples_[i];
  const double sum = e.weights[0] + weight;
  const DoubleOut rest = rest_.mu(i);
  const double shrink = e.weights[0] / sum, share = weight / sum;
  for (double& r : rest) r *= shrink;
  for (const Entry& entry : output) rest[entry.index] += share * static_cast<double>(entry.count);
  // Of the sum, a quotient, a product and a sum; an output alone has none.
  constexpr double kRoundings = 4;
  e.roundings = e.weights[0] > 0 ? e.roundings + kRoundings : 0;
  e.weights[0] = sum;
}

void VertexSets::merge(std::size_t i, std::size_t k) {
  ESPALIER_EXPECT(k > 0 && k < kAtoms);
  Example& e = examples_[i];
  // The point at lambda between two others, seen from a third: lambda D_0l + (1 - lambda) D_kl - lambda (1 -
  // lambda) D_0k.
  const double lambda = e.weights[0] / (e.weights[0] + e.weights[k]);
  const double between = e.weights[0] > 0 ? lambda * (1 - lambda) * e.distances[0][k] : 0;
  for (std::size_t l = 1; l < kAtoms; ++l) {
    if (l == k || e.weights[l] == 0) continue;
    const double from_rest = e.weights[0] > 0 ? lambda * e.distances[0][l] : 0;
    const double distance = std::max(0.0, from_rest + (1 - lambda) * e.distances[k][l] - between);
    e.distances[0][l] = e.distances[l][0] = static_cast<float>(distance);
  }
  add_to_rest(i, entries(e, k), e.weights[k]);
  e.weights[k] = 0;
}

void VertexSets::mix_into_rest(std::size_t i, Output output, double eta) {
  for (double& weight : examples_[i].weights) weight *= 1 - eta;
  add_to_rest(i, output, eta);
}

template <class Real>
void VertexSets::add_of(std::size_t i, std::size_t k, Real scale, std::span<Real> out) const {
  if (k == 0) {
    const DoubleIn rest = rest_.mu(i);
    for (std::size_t j = 0; j < out.size(); ++j) out[j] += scale * static_cast<Real>(rest[j]);
    return;
  }
  for (const Entry& entry : entries(examples_[i], k))
    out[entry.index] += scale * static_cast<Real>(entry.count);
}
void VertexSets::add(std::size_t i, std::size_t k, float scale, Out out) const { add_of(i, k, scale, out); }
void VertexSets::add(std::size_t i, std::size_t k, double scale, DoubleOut out) const {
  add_of(i, k, scale, out);
}

double VertexSets::score(std::size_t i, std::size_t k, In s) const {
  if (k == 0) return mixed_dot(s, rest_.mu(i));
  double sum = 0;
  for (const Entry& entry : entries(examples_[i], k))
    sum += static_cast<double>(entry.count) * s[entry.index];
  return sum;
}

double VertexSets::mean(std::size_t i, DoubleOut mu) const {
  const Example& e = examples_[i];
  std::fill(mu.begin(), mu.end(), 0.0);
  // Thousands of moves between atoms leave a sum that is not quite one.
  const double total = std::accumulate(e.weights, e.weights + kAtoms, 0.0);
  for (std::size_t k = 0; k < kAtoms; ++k) {
    if (e.weights[k] > 0) add(i, k, e.weights[k] / total, mu);
  }
  // All mass on one atom is that atom, to the bit. Else: two sums over all of them, a quotient, and a
  // product.
  const bool one = std::ranges::any_of(e.weights, [total](double weight) { return weight == total; });
  return e.roundings + (one ? 0 : 2 * kAtoms + 2);
}

void VertexSets::prefetch(std::size_t i, Prefetch what) const {
  const auto prefetch_bytes = [](const void* begin, std::size_t bytes) {
    for (std::size_t b = 0; b < bytes; b += kCacheLine)
      __builtin_prefetch(static_cast<const char*>(begin) + b);
  };
  if (what == Prefetch::location) {
    prefetch_bytes(&examples_[i], sizeof(Example));
    return;
  }
  const Example& e = examples_[i];
  constexpr std::size_t kTypical = 5;  // atoms that have weight
  prefetch_bytes(entries_.data() + e.offset, kTypical * e.room * sizeof(Entry));
  rest_.prefetch(i, what);
}

}  // namespace espalier
