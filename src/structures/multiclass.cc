#include "structures/multiclass.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "espalier/base/error.h"
#include "kernels/softmax.h"
#include "kernels/vectors.h"

namespace espalier {
namespace {

template <class Real>
std::size_t first_maximum(std::span<const Real> s) {
  return static_cast<std::size_t>(std::max_element(s.begin(), s.end()) - s.begin());
}

template <class Real>
void set_indicator(std::size_t y, std::span<Real> mu) {
  std::fill(mu.begin(), mu.end(), Real{0});
  mu[y] = 1;
}

template <class Real>
double argmax_of(std::span<const Real> s, std::span<Real> mu) {
  const std::size_t y = first_maximum(s);
  set_indicator(y, mu);
  return s[y];
}

}  // namespace

double Multiclass::log_partition(std::span<const float> s, std::span<float> mu, Workspace&) const {
  ESPALIER_EXPECT(s.size() == num_labels_ && mu.size() == num_labels_);
  return kernels::softmax(s.data(), s.size(), mu.data());
}
double Multiclass::log_partition(std::span<const double> s, std::span<double> mu, Workspace&) const {
  ESPALIER_EXPECT(s.size() == num_labels_ && mu.size() == num_labels_);
  return kernels::softmax(s.data(), s.size(), mu.data());
}

double Multiclass::argmax(std::span<const float> s, std::span<float> mu, Workspace&) const {
  return argmax_of(s, mu);
}
double Multiclass::argmax(std::span<const double> s, std::span<double> mu, Workspace&) const {
  return argmax_of(s, mu);
}
Multiclass::Output Multiclass::decode(std::span<const float> s, Workspace&) const {
  return static_cast<Output>(first_maximum(s));
}
Multiclass::Output Multiclass::decode(std::span<const double> s, Workspace&) const {
  return static_cast<Output>(first_maximum(s));
}
void Multiclass::indicator(Output y, std::span<float> mu) const { set_indicator(y, mu); }
void Multiclass::indicator(Output y, std::span<double> mu) const { set_indicator(y, mu); }

void Multiclass::centre(std::span<const float> mu, std::span<float> d) const {
  const auto mean = static_cast<float>(kernels::dot(mu.data(), d.data(), num_labels_));
  for (float& x : d) x -= mean;
}

std::vector<Multiclass::Scored> Multiclass::kbest(std::span<const double> s, std::size_t k) const {
  std::vector<Output> order;
  for (Output y = 0; y < num_labels_; ++y) {
    if (s[y] > -std::numeric_limits<double>::infinity()) order.push_back(y);
  }
  k = std::min(k, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(k), order.end(),
                    [&](Output a, Output b) { return s[a] != s[b] ? s[a] > s[b] : a < b; });
  std::vector<Scored> best;
  for (std::size_t r = 0; r < k; ++r) best.push_back({order[r], s[order[r]]});
  return best;
}

Multiclass::Output Multiclass::sample(std::span<const double> s, Random& random, Workspace& ws) const {
  Workspace::Frame frame(ws);
  const auto mu = frame.take<double>(num_labels_);
  log_partition(s, mu, ws);
  double left = random.uniform();
  std::size_t last_possible = 0;
  for (std::size_t k = 0; k < num_labels_; ++k) {
    if (mu[k] == 0) continue;
    last_possible = k;
    left -= mu[k];
    if (left < 0) break;
  }
  return static_cast<Output>(last_possible);
}

double Multiclass::entropy(std::span<const double> s, Workspace& ws) const {
  Workspace::Frame frame(ws);
  const auto mu = frame.take<double>(num_labels_);
  log_partition(s, mu, ws);
  return clique_entropy(mu);
}

double Multiclass::clique_entropy(std::span<const double> clique_mu) const {
  double sum = 0;
  for (const double p : clique_mu) {
    if (p > 0) sum -= p * std::log(p);
  }
  return sum;
}

}  // namespace espalier
