#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"
#include "espalier/base/memory.h"
#include "features/arc_features.h"
#include "features/dependency_features.h"
#include "features/relation_features.h"
#include "support/random_dependencies.h"

namespace espalier::test_support {

// The laws of a linear operator between weights and the arcs of a sentence, for all features that have the
// interface of ArcFeatures. Weights start on a cache line, as they do elsewhere; each check answers with what
// is wrong, or with nothing.

inline std::size_t num_weights(const ArcFeatures& features) { return features.num_weights(); }
inline std::size_t num_weights(const RelationFeatures& features) { return features.num_weights(); }
inline std::size_t num_weights(const DependencyFeatures& features) { return features.weight_shape().rows; }

inline std::size_t num_labels(const ArcFeatures&) { return 1; }
inline std::size_t num_labels(const RelationFeatures& features) { return features.num_labels(); }
inline std::size_t num_labels(const DependencyFeatures& features) { return features.num_labels(); }

using Words = std::span<const WordAtoms>;

// F'w scaled, by what each kind of features calls it.
template <class Scale, class Features, class Real>
AlignedVector<Scale> scores_of(const Features& features, Words words, const ArcSet& arcs,
                               const AlignedVector<Real>& w, Scale scale = 1) {
  Workspace ws;
  const std::size_t size = arcs.size() * num_labels(features);
  if constexpr (requires(std::span<Scale> s) { features.add_score(words, arcs, w.data(), scale, s, ws); }) {
    AlignedVector<Scale> s(size, Scale{0});
    features.add_score(words, arcs, w.data(), scale, std::span<Scale>(s), ws);
    return s;
  } else {
    AlignedVector<Scale> s(size, std::numeric_limits<Scale>::quiet_NaN());
    features.score(words, arcs, w.data(), scale, std::span<Scale>(s), ws);
    return s;
  }
}

// F delta.
template <class Real, class Features>
AlignedVector<Real> image_of(const Features& features, Words words, const ArcSet& arcs,
                             const AlignedVector<Real>& delta, Real negligible = 0) {
  Workspace ws;
  AlignedVector<Real> w(num_weights(features), Real{0});
  features.accumulate(words, arcs, std::span<const Real>(delta), negligible, WeightsSink(w.data()), ws);
  return w;
}

template <class Real>
AlignedVector<Real> random_values(Random& random, std::size_t n) {
  AlignedVector<Real> values(n);
  for (Real& v : values) v = static_cast<Real>(2 * random.uniform() - 1);
  return values;
}

template <class A, class B>
double product(const AlignedVector<A>& a, const AlignedVector<B>& b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += static_cast<double>(a[k]) * b[k];
  return sum;
}

// <F'w, delta> = <w, F delta>, |F delta|^2 = squared_norm(delta), scores scale, accumulate() adds.
template <class Real, class Features>
std::string check_operator(const Features& features, Words words, const ArcSet& arcs, Random& random,
                           double tolerance) {
  const std::size_t size = arcs.size() * num_labels(features);
  const auto delta = random_values<Real>(random, size),
             w = random_values<Real>(random, num_weights(features));
  const auto s = scores_of<Real>(features, words, arcs, w);
  const auto image = image_of<Real>(features, words, arcs, delta);

  const double left = product(s, delta), right = product(w, image);
  // Scores are sums of about a hundred weights.
  const double bound = 1 + std::sqrt(product(s, s) * product(delta, delta)) + product(image, image);
  if (!(std::abs(left - right) <= tolerance * bound))
    return fmt::format("<F'w, delta> is {}, <w, F delta> is {}", left, right);

  Workspace ws;
  const double norm = product(image, image);
  const double told = features.squared_norm(words, arcs, std::span<const Real>(delta), Real{0}, ws);
  if (!(std::abs(told - norm) <= tolerance * (1 + norm)))
    return fmt::format("squared_norm is {}, |F delta|^2 is {}", told, norm);

  const auto half = scores_of<Real>(features, words, arcs, w, Real{-0.5});
  for (std::size_t k = 0; k < size; ++k) {
    if (!(std::abs(half[k] + s[k] / 2) <= tolerance * (1 + std::abs(s[k]))))
      return fmt::format("score {} is {}, and {} when scaled by -0.5", k, s[k], half[k]);
  }

  // A weight that many arcs share is a sum of many terms: it errs in proportion to their sizes.
  auto sizes = delta;
  for (Real& d : sizes) d = std::abs(d);
  const auto largest = image_of<Real>(features, words, arcs, sizes);
  AlignedVector<Real> sum = w;
  features.accumulate(words, arcs, std::span<const Real>(delta), Real{0}, WeightsSink(sum.data()), ws);
  for (std::size_t j = 0; j < w.size(); ++j) {
    if (!(std::abs(sum[j] - w[j] - image[j]) <= tolerance * (1 + largest[j])))
      return fmt::format("weight {} is {} where {} was added to {}", j, sum[j], image[j], w[j]);
  }
  return "";
}

// Float weights give the scores of the same weights in double: to the bit where sums are in double, too.
template <class Features>
std::string check_precisions(const Features& features, Words words, const ArcSet& arcs, Random& random) {
  const auto w = random_values<float>(random, num_weights(features));
  const AlignedVector<double> widened(w.begin(), w.end());
  const auto single = scores_of<float>(features, words, arcs, w, 1.5f);
  const auto mixed = scores_of<double>(features, words, arcs, w, 1.5);
  const auto exact = scores_of<double>(features, words, arcs, widened, 1.5);
  for (std::size_t k = 0; k < exact.size(); ++k) {
    if (!(std::abs(mixed[k] - exact[k]) <= 1e-13 * (1 + std::abs(exact[k]))))
      return fmt::format("score {} is {} from float weights, {} from double ones", k, mixed[k], exact[k]);
    if (!(std::abs(single[k] - exact[k]) <= 3e-5))
      return fmt::format("score {} is {} in float, {} in double", k, single[k], exact[k]);
  }
  return "";
}

// What shares add is disjoint, and the whole when taken together.
template <class Features>
std::string check_shares(const Features& features, Words words, const ArcSet& arcs, std::size_t of,
                         Random& random) {
  const auto delta = random_values<double>(random, arcs.size() * num_labels(features));
  const auto whole = image_of<double>(features, words, arcs, delta);
  AlignedVector<double> sum(whole.size(), 0.0);
  Workspace ws;
  RowChanges<double> changes;
  changes.start(of);
  features.accumulate(words, arcs, std::span<const double>(delta), 0.0, ListSink(changes), ws);
  for (std::size_t part = 0; part < of; ++part) {
    AlignedVector<double> some(whole.size(), 0.0);
    changes.add_to(part, some.data());
    for (std::size_t j = 0; j < sum.size(); ++j) {
      if (some[j] != 0 && sum[j] != 0) return fmt::format("weight {} is in two shares of {}", j, of);
      sum[j] += some[j];
    }
  }
  if (sum != whole) return fmt::format("{} shares are not the whole", of);
  return "";
}

// An arc looks the same whichever others are allowed.
template <class Features>
std::string check_pruned(const Features& features, Words words, const ArcSet& some, Random& random) {
  const ArcSet all(words.size());
  const std::size_t labels = num_labels(features);
  const auto w = random_values<double>(random, num_weights(features));
  const auto expected = scores_of<double>(features, words, all, w);
  const auto s = scores_of<double>(features, words, some, w);
  const auto delta = random_values<double>(random, some.size() * labels);
  AlignedVector<double> spread(all.size() * labels, 0.0);
  for (std::size_t d = 1; d <= words.size(); ++d) {
    for (std::size_t a = some.begin(d); a < some.end(d); ++a) {
      const std::size_t among_all = all.find(some.head(a, d), d);
      for (std::size_t l = 0; l < labels; ++l) {
        if (s[a * labels + l] != expected[among_all * labels + l])
          return fmt::format("the arc from {} to {} scores {}, and {} among all arcs", some.head(a, d), d,
                             s[a * labels + l], expected[among_all * labels + l]);
        spread[among_all * labels + l] = delta[a * labels + l];
      }
    }
  }
  if (image_of<double>(features, words, some, delta) != image_of<double>(features, words, all, spread))
    return "arcs that are not allowed make a difference to F delta";
  return "";
}

// All of these, with all arcs of a sentence and with some.
template <class Features>
std::string check_arc_features(const Features& features, Words words, Random& random) {
  const std::vector<std::uint32_t> on_the_root(words.size(), 0);
  const OwnedArcs some = random_arcs(random, on_the_root, random.uniform());
  for (const ArcSet& arcs : {ArcSet(words.size()), some.view()}) {
    for (const std::string& found : {check_operator<double>(features, words, arcs, random, 1e-13),
                                     check_operator<float>(features, words, arcs, random, 3e-6),
                                     check_precisions(features, words, arcs, random),
                                     check_shares(features, words, arcs, 1 + random.below(5), random)}) {
      if (!found.empty()) return found;
    }
  }
  return check_pruned(features, words, some.view(), random);
}

}  // namespace espalier::test_support
