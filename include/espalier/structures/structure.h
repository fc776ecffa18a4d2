#pragma once

#include <concepts>
#include <cstddef>
#include <span>

#include "espalier/base/workspace.h"

namespace espalier {

// A family of outputs Y(x), seen through its statistics: the output y has the counts chi(y), and the scores s
// give it the score s.chi(y) and the probability u(y) proportional to exp(s.chi(y)). How a structure computes
// is its own affair.
template <class T, class Real>
concept StructureOver = requires(const T t, std::span<const Real> s, std::span<Real> mu,
                                 const typename T::Output& y, Workspace& ws) {
  { t.num_statistics() } -> std::convertible_to<std::size_t>;  // K
  { t.log_partition(s, mu, ws) } -> std::same_as<double>;      // log Z(s);  mu <- E[chi]
  { t.argmax(s, mu, ws) } -> std::same_as<double>;             // max score; mu <- chi(y*)
  { t.indicator(y, mu) } -> std::same_as<void>;                // mu <- chi(y)
  { t.decode(s, ws) } -> std::same_as<typename T::Output>;     // y* itself: ties may hide it in chi
};

template <class T>
concept Structure = StructureOver<T, float> && StructureOver<T, double>;

}  // namespace espalier
