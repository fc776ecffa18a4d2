#include "structures/head_factors.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "structures/arc_set.h"
#include "support/second_order_arcs.h"

namespace espalier::head_factors_test {
namespace {

using test_support::RandomParts;

constexpr double kInfinite = std::numeric_limits<double>::infinity();

// Sums and maxima over all that a factor allows, for all heads.
struct Enumerated {
  double log_z = 0, best = 0;
  std::vector<double> yes, no;  // of each end: what is summed with its arc, and without
  std::vector<double> part_mu;
};

// One choice of a head's: its own head (0 where it is the root) and which of its modifiers it has.
struct Choice {
  double score;
  std::vector<bool> ends;  // of all ends
  std::vector<std::size_t> parts;
};

std::vector<Choice> choices_of(std::size_t h, const RandomParts& sentence, const HeadFactors& factors,
                               const std::vector<double>& in) {
  const std::size_t m = sentence.words;
  const auto find_end = [&](std::size_t head, std::size_t modifier, bool at_head) {
    // The ends of a factor lie together: those of arcs to it, then those of arcs from it.
    std::size_t found = factors.num_ends();
    for (std::size_t e = 0; e < factors.num_ends(); ++e) {
      if (factors.arcs()[e] != arc_matrix_index(m, head, modifier)) continue;
      // The factor of the head comes before that of the modifier where the head is the smaller word.
      if (at_head == (head < modifier)) return e;
      found = e;
    }
    return found;
  };
  std::vector<std::size_t> heads, modifiers;
  for (const TreePart& part : sentence.parts().siblings) {
    if (part.third != part.head) continue;
    if (part.head == h) modifiers.push_back(part.modifier);
    if (part.modifier == h) heads.push_back(part.head);
  }
  if (h == 0) heads.push_back(0);  // a choice that is none
  std::vector<Choice> choices;
  for (const std::size_t g : heads) {
    for (std::size_t set = 0; set < std::size_t{1} << modifiers.size(); ++set) {
      Choice choice{0, std::vector<bool>(in.size(), false), {}};
      const auto has = [&](std::size_t d) {
        for (std::size_t k = 0; k < modifiers.size(); ++k) {
          if (modifiers[k] == d) return (set >> k & 1) != 0;
        }
        return false;
      };
      if (h > 0 && has(g)) continue;
      const auto take = [&](std::size_t end) {
        choice.ends[end] = true;
        choice.score += in[end] == kInfinite ? 0 : in[end];
      };
      if (h > 0) take(find_end(g, h, false));
      for (const std::size_t d : modifiers) {
        if (has(d)) take(find_end(h, d, true));
      }
      std::size_t k = 0;
      for (const TreePart& part : sentence.parts().siblings) {
        bool there = part.head == h && has(part.modifier) && (part.third == h || has(part.third));
        for (std::size_t b = std::min(part.third, part.modifier) + 1; b < std::max(part.third, part.modifier);
             ++b)
          there = there && !has(b);
        if (there) choice.parts.push_back(k);
        ++k;
      }
      for (const TreePart& part : sentence.parts().grandparents) {
        if (part.head == h && part.third == g && has(part.modifier)) choice.parts.push_back(k);
        ++k;
      }
      for (const std::size_t part : choice.parts) choice.score += sentence.part_s[part];
      bool all_forced = true;
      for (std::size_t e = 0; e < in.size(); ++e) {
        const std::size_t head = factors.arcs()[e] % (m + 1), modifier = factors.arcs()[e] / (m + 1);
        const bool of_factor = (head == h && find_end(head, modifier, true) == e) ||
                               (modifier == h && find_end(head, modifier, false) == e);
        if (of_factor && in[e] == kInfinite && !choice.ends[e]) all_forced = false;
      }
      if (all_forced && choice.score > -kInfinite) choices.push_back(choice);
    }
  }
  return choices;
}

Enumerated enumerate(const RandomParts& sentence, const HeadFactors& factors, const std::vector<double>& in) {
  Enumerated sums;
  sums.yes.assign(in.size(), 0);
  sums.no.assign(in.size(), 0);
  sums.part_mu.assign(sentence.part_s.size(), 0);
  for (std::size_t h = 0; h <= sentence.words; ++h) {
    const auto choices = choices_of(h, sentence, factors, in);
    double highest = -kInfinite, z = 0;
    for (const Choice& choice : choices) highest = std::max(highest, choice.score);
    for (const Choice& choice : choices) z += std::exp(choice.score - highest);
    sums.log_z += highest + std::log(z);
    sums.best += highest;
    std::vector<bool> seen(in.size(), false);
    for (const Choice& choice : choices) {
      for (std::size_t e = 0; e < in.size(); ++e) {
        if (choice.ends[e]) seen[e] = true;
      }
    }
    for (const Choice& choice : choices) {
      const double p = std::exp(choice.score - highest) / z;
      for (std::size_t e = 0; e < in.size(); ++e) {
        if (seen[e]) (choice.ends[e] ? sums.yes : sums.no)[e] += p;
      }
      for (const std::size_t part : choice.parts) sums.part_mu[part] += p;
    }
  }
  return sums;
}

// Scores of arcs at both ends: within a range, and some infinite ones.
std::vector<double> any_ends(std::size_t n, double range, double excluded, Random& random) {
  std::vector<double> in(n);
  for (double& x : in) x = random.uniform() < excluded ? -kInfinite : range * (2 * random.uniform() - 1);
  return in;
}

RC_GTEST_PROP(HeadFactors, SumsAndMaximaAreThoseOfEnumeration, (std::uint64_t seed)) {
  Random random(seed);
  const double range = *rc::gen::element(1.0, 5.0, 400.0);
  const RandomParts sentence(2 + random.below(3), random.below(2) == 0, range, random);
  Workspace ws;
  Workspace::Frame frame(ws);
  HeadFactors factors(sentence.words, sentence.parts(), frame);
  factors.set_scores(sentence.part_s, 1);
  const std::size_t ends = factors.num_ends();
  auto in = any_ends(ends, range, 0, random);
  // Arcs that are in all that is summed, one of a head's modifiers among them; those that are in nothing.
  const bool forced = random.below(2) == 0;
  if (forced) {
    for (std::size_t e = 0; e < ends; ++e) {
      const std::size_t h = factors.arcs()[e] % (sentence.words + 1),
                        d = factors.arcs()[e] / (sentence.words + 1);
      if (h + 1 == d && random.below(2) == 0) in[e] = kInfinite;  // of a chain
      if (h > d && random.below(4) == 0) in[e] = -kInfinite;
    }
  }
  const auto expected = enumerate(sentence, factors, in);
  std::vector<double> odds(ends), part_mu(sentence.part_s.size());
  const double log_z = factors.log_partition(in, odds, part_mu, ws);
  RC_ASSERT(std::abs(log_z - expected.log_z) <= 1e-11 * (1 + range * static_cast<double>(ends)));
  for (std::size_t e = 0; e < ends; ++e) {
    if (expected.no[e] < 1e-200 || expected.yes[e] < 1e-200) continue;  // beyond what enumeration knows
    RC_ASSERT(std::abs(odds[e] - std::log(expected.yes[e] / expected.no[e])) <= 1e-9 * (1 + range));
  }
  for (std::size_t k = 0; k < part_mu.size(); ++k)
    RC_ASSERT(std::abs(part_mu[k] - expected.part_mu[k]) <= 1e-9);
  if (forced) return;
  std::vector<std::uint8_t> chosen(ends);
  const double best = factors.best(in, chosen, ws);
  RC_ASSERT(std::abs(best - expected.best) <= 1e-11 * (1 + range * static_cast<double>(ends)));
}

// What is certain of one head is a matter of arcs alone: the odds of the others are right however large they
// are.
TEST(HeadFactors, OddsOfArcsThatAreNearlyCertainKeepTheirDigits) {
  Random random(1);
  const RandomParts sentence(3, true, 0, random);
  Workspace ws;
  Workspace::Frame frame(ws);
  HeadFactors factors(3, sentence.parts(), frame);
  factors.set_scores(sentence.part_s, 1);
  for (const double size : {30.0, 200.0, 1000.0}) {
    std::vector<double> in(factors.num_ends()), odds(in.size());
    for (std::size_t e = 0; e < in.size(); ++e) in[e] = factors.arcs()[e] % 4 == 0 ? size : -size;
    factors.log_partition(in, odds, {}, ws);
    // Arcs from the root are independent in its factor.
    for (std::size_t e = 0; e < 3; ++e) EXPECT_NEAR(odds[e], size, 1e-9 * size);
  }
}

}  // namespace
}  // namespace espalier::head_factors_test
