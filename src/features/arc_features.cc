#include "features/arc_features.h"

#include <algorithm>
#include <cmath>

#include "base/helping.h"
#include "espalier/base/error.h"
#include "features/sparse_sum.h"
#include "kernels/arcs.h"
#include "kernels/relaxed.h"
#include "kernels/vectors.h"

namespace espalier {
namespace {

using kernels::ArcEnd;
using kernels::kLineOfWeights;
using kernels::RowSum;

// Distances 1, 2, 3, 4, 5, 6 to 10, and more; their columns: 0 has the feature without a distance.
constexpr std::uint32_t distance_column(std::size_t distance) {
  return distance <= 5 ? static_cast<std::uint32_t>(distance) : distance <= 10 ? 6 : 7;
}
static_assert(distance_column(1000) < kernels::kArcColumns);

// More would be slow, and mostly noise.
constexpr std::size_t kMostBetween = 16;

// Asks for the weights of a feature, into the second cache, which has room for more requests than the first.
template <int kWrite, class Real>
void ask_for(const Real* w, std::uint32_t place) {
  constexpr int kSecondCache = 2;
  __builtin_prefetch(w + place, kWrite, kSecondCache);
}

// The arcs of a modifier that are wanted and have their heads on one side, from the nearest to the farthest:
// what lies between only grows.
struct ArcSide {
  std::size_t modifier, size;
  bool left;
  const std::size_t* numbers;  // of these arcs
  const ArcEnd* arcs;
  // The keys of words between, of every kind one: of template t those from t * kMostBetween on, the nearest
  // first; and how many of them each arc has, from t * words on.
  const std::uint32_t *between, *num_between;
};

// Modifiers from the first to the last.
struct Modifiers {
  std::size_t first, last;
};

// Calls use(side) for each of theirs that is not empty.
template <class Wanted, class Use>
void for_each_side(const ArcSentence& sentence, const ArcSet& arcs, const Modifiers& modifiers,
                   const Wanted& wanted, const Use& use, Workspace& ws) {
  Workspace::Frame frame(ws);
  const std::size_t m = sentence.words, num_templates = sentence.num_between;
  const auto numbers = frame.take<std::size_t>(m);
  const auto ends = frame.take<ArcEnd>(m);
  const auto between = frame.take<std::uint32_t>(num_templates * kMostBetween),
             num_between = frame.take<std::uint32_t>(num_templates * m);
  // The last side on which words of a kind were met.
  const auto met_on = frame.take<std::uint32_t>(m + 1);
  std::ranges::fill(met_on, 0u);
  std::uint32_t meeting = 0;
  for (std::size_t d = modifiers.first; d <= modifiers.last; ++d) {
    const std::size_t first = arcs.begin(d), last = arcs.end(d);
    std::size_t middle = first;
    while (middle < last && arcs.head(middle, d) < d) ++middle;
    for (const bool left : {true, false}) {
      std::size_t n = 0;
      const auto meet = [&](std::size_t a) {
        if (!wanted(a)) return;
        const std::size_t h = arcs.head(a, d);
        numbers[n] = a;
        ends[n++] = {static_cast<std::uint32_t>(h), distance_column(left ? d - h : h - d)};
      };
      if (left) {
        for (std::size_t a = middle; a > first; --a) meet(a - 1);
      } else {
        for (std::size_t a = middle; a < last; ++a) meet(a);
      }
      if (n == 0) continue;
      for (std::size_t t = 0; t < num_templates; ++t) {
        ++meeting;
        const std::uint32_t *keys = sentence.between.data() + t * (m + 1),
                            *kinds = sentence.between_kinds.data() + t * (m + 1);
        std::uint32_t *to = between.data() + t * kMostBetween, *counts = num_between.data() + t * m;
        std::uint32_t found = 0;
        for (std::size_t j = 0, passed = left ? d - 1 : d + 1; j < n; ++j) {
          for (; passed != ends[j].head; left ? --passed : ++passed) {
            std::uint32_t& met = met_on[kinds[passed]];
            if (met == meeting || found == kMostBetween) continue;
            met = meeting;
            to[found++] = keys[passed];
          }
          counts[j] = found;
        }
      }
      use(ArcSide{d, n, left, numbers.data(), ends.data(), between.data(), num_between.data()});
    }
  }
}

// The keys of one side: those of the modifier, with the direction.
struct SideKeys {
  SideKeys(const ArcSentence& of, std::size_t d, bool left, std::span<std::uint32_t> memory)
      : sentence(of), modifier(memory.data()) {
    const std::uint32_t direction = direction_key(left);
    const std::uint32_t* keys = of.modifiers.data() + d * of.stride;
    for (std::size_t t = 0; t < of.stride; ++t) memory[t] = keys[t] ^ direction;
  }
  const std::uint32_t* head(std::size_t h) const { return sentence.heads.data() + h * sentence.stride; }
  std::uint32_t place(std::size_t h, std::size_t t, std::uint32_t third) const {
    return (head(h)[t] ^ modifier[t] ^ third) & sentence.mask;
  }
  // Calls put(place) for all templates of a range.
  template <class Put>
  void for_each_place(std::size_t h, ArcGroups::Range range, const Put& put) const {
    const std::uint32_t *of_head = head(h), mask = sentence.mask;
    for (std::size_t t = range.begin; t < range.end; ++t) put((of_head[t] ^ modifier[t]) & mask);
  }
  // Those of the templates from the first of a range on.
  kernels::ArcKeyRows rows(ArcGroups::Range range) const {
    return {sentence.heads.data() + range.begin, modifier + range.begin, sentence.stride, range.size(),
            sentence.mask};
  }

  const ArcSentence& sentence;
  const std::uint32_t* modifier;
};

// A list of places that grows at its end.
template <int kWrite, class Real>
struct AskedPlaces {
  const Real* w;
  std::uint32_t* end;

  void add(std::uint32_t place) {
    *end++ = place;
    ask_for<kWrite>(w, place);
  }
  std::uint32_t add(const SideKeys& keys, std::size_t h, ArcGroups::Range range) {
    keys.for_each_place(h, range, [&](std::uint32_t place) { add(place); });
    return static_cast<std::uint32_t>(range.size());
  }
};

// Scores of all arcs of a sentence. Features that arcs share are summed once, into rows with all distances.
// Along a side, the rows of words between grow as heads of a kind need them. What a side needs is asked for
// while the side before is summed.
template <class Real, class Scale>
class ArcScorer {
 public:
  ArcScorer(const ArcGroups& groups, const ArcSentence& sentence, const Real* w, double threshold,
            Workspace::Frame& frame)
      : groups_(groups),
        sentence_(sentence),
        w_(w),
        threshold_(static_cast<Scale>(threshold)),
        kinds_(sentence.num_kinds[0]) {
    const std::size_t m = sentence.words, places = m + 1, num_groups = groups.by_head().size();
    first_of_heads_ = static_cast<std::uint32_t>(kFirstOfKinds + num_groups * places);
    first_by_modifier_ = static_cast<std::uint32_t>(first_of_heads_ + 2 * places);
    rows_ = frame.take<Scale>((first_by_modifier_ + 2 * places * kinds_) * kLineOfWeights);
    std::fill_n(rows_.begin(), kLineOfWeights, Scale{0});
    known_ = frame.take<std::uint32_t>(places);
    side_keys_ = frame.take<std::uint32_t>(sentence.stride);
    by_modifier_known_ = frame.take<std::uint32_t>(2 * places * kinds_);
    std::ranges::fill(by_modifier_known_, 0u);
    totals_ = frame.take<Scale>(2 * places);
    std::ranges::fill(totals_, Scale{0});
    for (Plan& plan : plans_) {
      plan.size = 0;
      plan.numbers = frame.take<std::size_t>(m);
      plan.arcs = frame.take<ArcEnd>(m);
      plan.sums = frame.take<RowSum>(1 + m * (num_groups + 1));
      const std::size_t shared = groups.size() + kMostBetween * sentence.num_between;
      plan.shared = frame.take<std::uint32_t>((m + 1) * shared);
      plan.pairs = frame.take<std::uint32_t>(2 * m * groups.pairs().size() + 16);
    }
    sum_heads(frame);
  }

  // Sums the side before, into s.
  void add(const ArcSide& side, Scale scale, std::span<Scale> s) {
    make_plan(side, plans_[next_]);
    next_ = 1 - next_;
    follow(plans_[next_], scale, s);
    plans_[next_].size = 0;
  }
  void finish(Scale scale, std::span<Scale> s) { follow(plans_[1 - next_], scale, s); }

 private:
  struct Plan {
    std::size_t size;  // arcs
    std::span<std::size_t> numbers;
    std::span<ArcEnd> arcs;
    std::span<RowSum> sums;                  // of the modifier, then for each group one an arc
    std::span<std::uint32_t> shared, pairs;  // places
  };
  static constexpr std::uint32_t kZero = 0, kOfModifier = 1, kFirstOfKinds = 2;  // rows

  std::uint32_t from(std::size_t h, bool left) const {
    return static_cast<std::uint32_t>(2 * h + (left ? 1 : 0));
  }

  // What is seen of a head alone, on both sides.
  void sum_heads(Workspace::Frame& frame) {
    const std::size_t places = sentence_.words + 1;
    const auto sums = frame.take<RowSum>(2 * places);
    const auto ends = frame.take<ArcEnd>(2 * places);
    const auto list = frame.take<std::uint32_t>(2 * places * groups_.head().size());
    AskedPlaces<0, Real> asked{w_, list.data()};
    const std::size_t num_places = groups_.head().size();
    for (const bool left : {false, true}) {
      const SideKeys keys(sentence_, 0, left, side_keys_);
      for (std::size_t h = 0; h < places; ++h) {
        const std::uint32_t k = from(h, left);
        asked.end = list.data() + k * num_places;
        sums[k] = {first_of_heads_ + k, kZero, asked.add(keys, h, groups_.head())};
        ends[k] = {0, 0};
      }
    }
    kernels::sum_rows_of_arcs(w_, threshold_, list.data(), sums.data(), ends.data(), sums.size(),
                              rows_.data(), totals_.data());
  }

  void make_plan(const ArcSide& side, Plan& plan) {
    const SideKeys keys(sentence_, side.modifier, side.left, side_keys_);
    const std::size_t n = side.size, m = sentence_.words;
    plan.size = n;
    std::copy_n(side.numbers, n, plan.numbers.begin());
    std::copy_n(side.arcs, n, plan.arcs.begin());
    const ArcEnd* arcs = plan.arcs.data();
    AskedPlaces<0, Real> asked{w_, plan.shared.data()};
    RowSum* sum = plan.sums.data();
    *sum++ = {kOfModifier, kZero, asked.add(keys, 0, groups_.modifier())};
    std::uint32_t* known = known_.data();  // of each kind one more than the number of words between
    const std::uint32_t *between = side.between, *num_between = side.num_between;
    std::uint32_t first_row = kFirstOfKinds;
    const std::uint32_t* kinds = sentence_.kinds.data();
    std::uint32_t start = kOfModifier;
    for (const ArcGroups::HeadKinds& group : groups_.by_head()) {
      std::fill_n(known, m + 1, 0u);
      const bool with_between = group.between.size() > 0;
      for (std::size_t j = 0; j < n; ++j) {
        const std::size_t h = arcs[j].head;
        const std::uint32_t kind = kinds[h];
        const std::uint32_t wanted = 1 + (with_between ? num_between[j] : 0);
        std::uint32_t have = known[kind];
        RowSum here{first_row + kind, first_row + kind, 0};
        if (have == 0) {
          here.start = start;
          here.num_places = asked.add(keys, h, group.plain);
          have = 1;
        }
        here.num_places += wanted - have;
        for (; have < wanted; ++have) asked.add(keys.place(h, group.between.begin, between[have - 1]));
        known[kind] = wanted;
        *sum++ = here;
      }
      start = kZero;
      first_row += static_cast<std::uint32_t>(m + 1);
      kinds += m + 1;
      if (with_between) {
        between += kMostBetween;
        num_between += m;
      }
    }
    const std::uint32_t kind = sentence_.kinds[side.modifier];
    for (std::size_t j = 0; j < n; ++j) {
      const std::uint32_t h = from(arcs[j].head, side.left),
                          k = h * static_cast<std::uint32_t>(kinds_) + kind;
      RowSum here{first_by_modifier_ + k, first_by_modifier_ + k, 0};
      if (by_modifier_known_[k] == 0) {
        by_modifier_known_[k] = 1;
        here.start = first_of_heads_ + h;
        here.num_places = asked.add(keys, arcs[j].head, groups_.by_modifier());
      }
      *sum++ = here;
    }
    const std::size_t pairs = groups_.pairs().size();
    kernels::arc_places(keys.rows(groups_.pairs()), arcs, n, plan.pairs.data());
    const std::uint32_t* place = plan.pairs.data();
    for (std::size_t j = 0; j < n; ++j, place += 2 * pairs) {
      for (std::size_t t = 0; t < pairs; ++t) ask_for<0>(w_, place[t]);
    }
  }

  void follow(const Plan& plan, Scale scale, std::span<Scale> s) {
    const std::size_t n = plan.size;
    if (n == 0) return;
    const std::uint32_t* places = plan.shared.data();
    const RowSum* sum = plan.sums.data();
    const auto next = [&](std::size_t count, const ArcEnd* arcs) {
      kernels::sum_rows_of_arcs(w_, threshold_, places, sum, arcs, count, rows_.data(), totals_.data());
      for (std::size_t k = 0; k < count; ++k) places += sum++->num_places;
    };
    next(1, plan.arcs.data());  // of the modifier: its total is not one yet
    std::fill_n(totals_.begin(), n, Scale{0});
    for (std::size_t g = 0; g <= groups_.by_head().size(); ++g) next(n, plan.arcs.data());

    const std::size_t pairs = 2 * groups_.pairs().size();
    const std::uint32_t* place = plan.pairs.data();
    for (std::size_t j = 0; j < n; ++j) {
      // Several sums at once, because an addition takes as long as several of them.
      Scale sums[4] = {totals_[j], 0, 0, 0};
      const std::uint32_t* end = place + pairs;
      for (; end - place >= 4; place += 4) {
        sums[0] += weight(place[0]);
        sums[1] += weight(place[1]);
        sums[2] += weight(place[2]);
        sums[3] += weight(place[3]);
      }
      for (; place < end; ++place) sums[0] += weight(*place);
      s[plan.numbers[j]] = scale * ((sums[0] + sums[1]) + (sums[2] + sums[3]));
    }
  }
  Scale weight(std::uint32_t place) const {
    return soft(static_cast<Scale>(kernels::relaxed_load(w_ + place)), threshold_);
  }

  const ArcGroups& groups_;
  const ArcSentence& sentence_;
  const Real* w_;
  Scale threshold_;
  std::size_t kinds_;
  std::uint32_t first_of_heads_, first_by_modifier_;
  std::span<Scale> rows_, totals_;
  std::span<std::uint32_t> known_, by_modifier_known_, side_keys_;
  Plan plans_[2];
  std::size_t next_ = 0;
};

}  // namespace

ArcFeatures::ArcFeatures(const ArcTemplates& templates, unsigned bits)
    : shared_(templates, ArcGroups::Sharing::all), apart_(templates, ArcGroups::Sharing::apart), bits_(bits) {
  ESPALIER_EXPECT(bits >= 4 && bits <= 31);
}

double ArcFeatures::typical_size() const {
  constexpr double kTypicalBetween = 3;
  const ArcTemplates& templates = apart_.templates();
  return 2 * (static_cast<double>(templates.size()) +
              kTypicalBetween * static_cast<double>(templates.num_between()));
}

double ArcFeatures::largest_size() const {
  const ArcTemplates& templates = apart_.templates();
  return 2 * static_cast<double>(templates.size() + kMostBetween * templates.num_between());
}

double ArcFeatures::common_share() const {
  const ArcTemplates& templates = apart_.templates();
  std::size_t common = 0;
  for (std::size_t t = 0; t < templates.size(); ++t) common += templates.is_lexical(t) ? 0 : 1;
  return static_cast<double>(common) / static_cast<double>(templates.size());
}

// By how many arcs there are for each word: with all of them, sharing saves half of the lookups, and where
// most are pruned next to nothing.
const ArcGroups& ArcFeatures::groups_for(std::size_t arcs, std::size_t words) const {
  constexpr std::size_t kWorthSharing = 6;
  return arcs >= kWorthSharing * words ? shared_ : apart_;
}

template <class Real, class Scale>
void ArcFeatures::score(std::span<const WordAtoms> words, const ArcSet& arcs, const Real* w, Scale scale,
                        std::span<Scale> s, Workspace& ws, double threshold) const {
  Workspace::Frame frame(ws);
  const ArcGroups& groups = shared_;
  const ArcSentence sentence(groups, words, mask(), frame);
  // Arcs of a part: some ten microseconds. What several modifiers share is summed anew in each part.
  constexpr std::size_t kArcsOfPart = 256;
  const std::size_t m = words.size(),
                    parts = ws.shared_work() ? std::clamp<std::size_t>(arcs.size() / kArcsOfPart, 1, m) : 1;
  in_parts(ws, parts, [&](std::size_t part, Workspace& own) {
    Workspace::Frame of_part(own);
    ArcScorer<Real, Scale> scorer(groups, sentence, w, threshold, of_part);
    for_each_side(
        sentence, arcs, {m * part / parts + 1, m * (part + 1) / parts}, [](std::size_t) { return true; },
        [&](const ArcSide& side) { scorer.add(side, scale, s); }, own);
    scorer.finish(scale, s);
  });
}

namespace {

// The adjoint of scores, of some modifiers: what arcs change of the features that they share is summed, and
// added once. Along a side from the farthest head to the nearest, a word between is added when the last arc
// that has it has been met. Calls add_pairs(places, n, change) with the places of n features without and then
// with a distance, and add_row(places, n, row) where all distances change.
template <class Real, class AddPairs, class AddRow>
void spread(const ArcGroups& groups, const ArcSentence& sentence, const ArcSet& arcs,
            const Modifiers& modifiers, std::span<const Real> delta, Real negligible,
            const AddPairs& add_pairs, const AddRow& add_row, Workspace& ws) {
  Workspace::Frame frame(ws);
  const std::size_t m = sentence.words, kinds = sentence.num_kinds[0];
  const auto side_keys = frame.take<std::uint32_t>(sentence.stride);
  const auto rows = frame.take<Real>((m + 1) * kLineOfWeights),
             of_modifier = frame.take<Real>(kLineOfWeights), of_head = frame.take<Real>(kLineOfWeights),
             by_modifier = frame.take<Real>(2 * (m + 1) * kinds * kLineOfWeights);
  const auto open = frame.take<std::uint32_t>(m + 1);
  const auto by_modifier_known = frame.take<std::uint32_t>(2 * (m + 1) * kinds);
  std::ranges::fill(open, 0u);
  std::ranges::fill(by_modifier_known, 0u);
  const bool of_heads = groups.head().size() + groups.by_modifier().size() > 0;
  const auto places = frame.take<std::uint32_t>(groups.size() + kMostBetween);
  const auto pairs = frame.take<std::uint32_t>(2 * m * groups.pairs().size() + 16);
  const auto put = [&](const SideKeys& keys, std::size_t h, ArcGroups::Range range) {
    std::size_t n = 0;
    keys.for_each_place(h, range, [&](std::uint32_t place) { places[n++] = place; });
    return n;
  };
  const auto add_to = [](Real* sum, const Real* row) {
    for (std::size_t c = 0; c < kernels::kArcColumns; ++c) sum[c] += row[c];
  };

  const auto spread_side = [&](const ArcSide& side) {
    const SideKeys keys(sentence, side.modifier, side.left, side_keys);
    const std::size_t n = side.size;
    const std::uint32_t *between = side.between, *num_between = side.num_between;
    const std::uint32_t* kind_of = sentence.kinds.data();
    std::ranges::fill(of_modifier, Real{0});
    for (const ArcGroups::HeadKinds& group : groups.by_head()) {
      const bool with_between = group.between.size() > 0;
      const auto put_between = [&](std::size_t h, std::uint32_t begin, std::uint32_t end, std::size_t at) {
        for (; begin < end; ++begin) places[at++] = keys.place(h, group.between.begin, between[begin]);
        return at;
      };
      for (std::size_t j = n; j-- > 0;) {
        const auto [h, column] = side.arcs[j];
        const std::uint32_t kind = kind_of[h], still = with_between ? num_between[j] : 0;
        Real* row = rows.data() + kind * kLineOfWeights;
        if (open[kind] == 0) {
          std::fill_n(row, kLineOfWeights, Real{0});
        } else if (open[kind] > 1 + still) {
          add_row(places.data(), put_between(h, still, open[kind] - 1, 0), row);
        }
        open[kind] = 1 + still;
        const Real change = delta[side.numbers[j]];
        row[0] += change;
        row[column] += change;
      }
      for (std::size_t j = 0; j < n; ++j) {
        const std::size_t h = side.arcs[j].head;
        const std::uint32_t kind = kind_of[h];
        if (open[kind] == 0) continue;
        const Real* row = rows.data() + kind * kLineOfWeights;
        add_row(places.data(), put_between(h, 0, open[kind] - 1, put(keys, h, group.plain)), row);
        if (kind_of == sentence.kinds.data())
          add_to(of_modifier.data(), row);  // the first: every arc is in it
        open[kind] = 0;
      }
      kind_of += m + 1;
      if (with_between) {
        between += kMostBetween;
        num_between += m;
      }
    }
    if (groups.modifier().size() > 0)
      add_row(places.data(), put(keys, 0, groups.modifier()), of_modifier.data());

    const std::uint32_t kind = sentence.kinds[side.modifier];
    for (std::size_t j = 0; of_heads && j < n; ++j) {
      const auto [h, column] = side.arcs[j];
      const std::size_t k = (2 * h + (side.left ? 1 : 0)) * kinds + kind;
      Real* row = by_modifier.data() + k * kLineOfWeights;
      if (by_modifier_known[k] == 0) std::fill_n(row, kLineOfWeights, Real{0});
      by_modifier_known[k] = 1;
      const Real change = delta[side.numbers[j]];
      row[0] += change;
      row[column] += change;
    }
    kernels::arc_places(keys.rows(groups.pairs()), side.arcs, n, pairs.data());
    const std::size_t num_pairs = groups.pairs().size();
    for (std::size_t j = 0; j < n; ++j)
      add_pairs(pairs.data() + j * 2 * num_pairs, num_pairs, delta[side.numbers[j]]);
  };
  for_each_side(
      sentence, arcs, modifiers, [&](std::size_t a) { return std::abs(delta[a]) > negligible; }, spread_side,
      ws);

  for (std::size_t from = 0; of_heads && from < 2 * (m + 1); ++from) {
    const std::size_t h = from / 2;
    bool any = false;
    for (std::size_t kind = 0; kind < kinds; ++kind) {
      const std::size_t k = from * kinds + kind;
      if (by_modifier_known[k] == 0) continue;
      if (!any) std::ranges::fill(of_head, Real{0});
      any = true;
      const SideKeys keys(sentence, sentence.first_of_kind[kind], from % 2 == 1, side_keys);
      const Real* row = by_modifier.data() + k * kLineOfWeights;
      add_row(places.data(), put(keys, h, groups.by_modifier()), row);
      add_to(of_head.data(), row);
    }
    const SideKeys keys(sentence, 0, from % 2 == 1, side_keys);
    if (any) add_row(places.data(), put(keys, h, groups.head()), of_head.data());
  }
}

// Changes of weights that were asked for: they are made some steps later, when the weights have come.
template <class Real>
class WaitingChanges {
 public:
  WaitingChanges(std::size_t most_places, const WeightsSink<Real>& w, Workspace::Frame& frame)
      : w_(w.weights()),
        stride_(most_places),
        places_(frame.take<std::uint32_t>(kWaiting * stride_)),
        rows_(frame.take<Real>(kWaiting * kLineOfWeights)) {}
  ~WaitingChanges() {
    while (began_ > ended_) make_oldest();
  }
  WaitingChanges(const WaitingChanges&) = delete;
  WaitingChanges& operator=(const WaitingChanges&) = delete;

  void add_row(const std::uint32_t* places, std::size_t n, const Real* row) {
    const std::size_t k = next();
    std::copy_n(row, kLineOfWeights, rows_.data() + k * kLineOfWeights);
    sizes_[k] = {take(places, n, n, k), true};
  }
  void add_pairs(const std::uint32_t* places, std::size_t n, Real change) {
    const std::size_t k = next();
    rows_[k * kLineOfWeights] = change;
    sizes_[k] = {take(places, 2 * n, n, k), false};  // with a distance: on the same lines
  }

 private:
  static constexpr std::size_t kWaiting = 8;
  struct Size {
    std::size_t places;
    bool row;
  };

  std::size_t next() {
    if (began_ - ended_ == kWaiting) make_oldest();
    return began_++ % kWaiting;
  }
  // The first num_lines have their lines asked for.
  std::size_t take(const std::uint32_t* places, std::size_t n, std::size_t num_lines, std::size_t k) {
    for (std::size_t t = 0; t < num_lines; ++t) ask_for<1>(w_, places[t]);
    std::copy_n(places, n, places_.data() + k * stride_);
    return n;
  }
  void make_oldest() {
    const std::size_t k = ended_++ % kWaiting;
    const std::uint32_t* places = places_.data() + k * stride_;
    const Real* row = rows_.data() + k * kLineOfWeights;
    if (sizes_[k].row) return kernels::add_row(places, sizes_[k].places, row, w_);
    const Real change = *row;
    for (std::size_t t = 0; t < sizes_[k].places; ++t) {
      Real* weight = w_ + places[t];
      kernels::relaxed_store(weight, kernels::relaxed_load(weight) + change);
    }
  }

  Real* w_;
  std::size_t stride_;
  std::span<std::uint32_t> places_;
  std::span<Real> rows_;
  Size sizes_[kWaiting] = {};
  std::size_t began_ = 0, ended_ = 0;
};

// The same, listed.
template <class Real>
class ListedChanges {
 public:
  explicit ListedChanges(const ListSink<Real>& list) : list_(list) {}

  void add_row(const std::uint32_t* places, std::size_t n, const Real* row) {
    list_.add_lines(places, n, row);
  }
  // As rows with two columns: lists are half as long. Where features meet in a weight the order is another,
  // but all of them add the same.
  void add_pairs(const std::uint32_t* places, std::size_t n, Real change) {
    if (n == 0) return;
    Real row[kLineOfWeights] = {change};
    row[(places[n] - places[0]) % kLineOfWeights] = change;
    list_.add_lines(places, n, row);
  }

 private:
  ListSink<Real> list_;
};

template <class Real>
WaitingChanges<Real> changes_to(const WeightsSink<Real>& w, std::size_t most_places,
                                Workspace::Frame& frame) {
  return {most_places, w, frame};
}
template <class Real>
ListedChanges<Real> changes_to(const ListSink<Real>& list, std::size_t, Workspace::Frame&) {
  return ListedChanges<Real>(list);
}

template <class Real>
std::size_t count_above(std::span<const Real> delta, Real negligible) {
  std::size_t n = 0;
  for (const Real change : delta) n += std::abs(change) > negligible ? 1 : 0;
  return n;
}

}  // namespace

template <class Real, class Sink>
void ArcFeatures::accumulate(std::span<const WordAtoms> words, const ArcSet& arcs,
                             std::span<const Real> delta, Real negligible, const Sink& w,
                             Workspace& ws) const {
  Workspace::Frame frame(ws);
  auto changes = changes_to(w, 2 * apart_.size() + kMostBetween, frame);
  const ArcGroups& groups = groups_for(count_above(delta, negligible), words.size());
  const ArcSentence sentence(groups, words, mask(), frame);
  spread(
      groups, sentence, arcs, {1, words.size()}, delta, negligible,
      [&](const std::uint32_t* places, std::size_t n, Real change) { changes.add_pairs(places, n, change); },
      [&](const std::uint32_t* places, std::size_t n, const Real* row) { changes.add_row(places, n, row); },
      ws);
}

double ArcFeatures::list_with_norm(std::span<const WordAtoms> words, const ArcSet& arcs,
                                   std::span<const float> delta, float negligible, ChangeLists& lists,
                                   Workspace& ws) const {
  Workspace::Frame frame(ws);
  const std::size_t m = words.size(), moved = count_above(delta, negligible);
  const ArcGroups& groups = groups_for(moved, m);
  const ArcSentence sentence(groups, words, mask(), frame);
  // Arcs of a list: some ten microseconds.
  constexpr std::size_t kArcsOfList = 64;
  const std::size_t parts =
      std::clamp<std::size_t>(moved / kArcsOfList, 1, std::min(m, ChangeLists::kFineShares));
  const std::span<RowChanges<float>> all = lists.start(parts, ChangeLists::kFineShares);
  in_parts(ws, parts, [&](std::size_t part, Workspace& own) {
    ListedChanges<float> changes{ListSink<float>(all[part])};
    spread(
        groups, sentence, arcs, {m * part / parts + 1, m * (part + 1) / parts}, delta, negligible,
        [&](const std::uint32_t* places, std::size_t n, float change) {
          changes.add_pairs(places, n, change);
        },
        [&](const std::uint32_t* places, std::size_t n, const float* row) {
          changes.add_row(places, n, row);
        },
        own);
  });
  return lists.squared_norm(ws);
}

template <class Real>
double ArcFeatures::squared_norm(std::span<const WordAtoms> words, const ArcSet& arcs,
                                 std::span<const Real> delta, Real negligible, Workspace& ws) const {
  const std::size_t moved = count_above(delta, negligible);
  Workspace::Frame frame(ws);
  // Lines of weights that change, each with a number and a line of its own.
  const auto most =
      std::min(moved * static_cast<std::size_t>(largest_size() / 2), num_weights() / kLineOfWeights);
  SparsePlaces known(most, frame);
  const auto lines = frame.take<Real>(most * kLineOfWeights);
  const auto own = frame.take<std::uint32_t>(apart_.size() + kMostBetween);
  const auto own_place = [&](std::uint32_t place) {
    const std::size_t before = known.size();
    const std::uint32_t number = known.number(place / kLineOfWeights);
    if (known.size() > before) std::fill_n(lines.data() + number * kLineOfWeights, kLineOfWeights, Real{0});
    return static_cast<std::uint32_t>(number * kLineOfWeights + place % kLineOfWeights);
  };
  const ArcGroups& groups = groups_for(moved, words.size());
  const ArcSentence sentence(groups, words, mask(), frame);
  spread(
      groups, sentence, arcs, {1, words.size()}, delta, negligible,
      [&](const std::uint32_t* places, std::size_t n, Real change) {
        // A feature with a distance is on the line of the one without.
        for (std::size_t t = 0; t < n; ++t) {
          const std::uint32_t place = own_place(places[t]);
          lines[place] += change;
          lines[place - place % kLineOfWeights + places[n + t] % kLineOfWeights] += change;
        }
      },
      [&](const std::uint32_t* places, std::size_t n, const Real* row) {
        std::transform(places, places + n, own.begin(), own_place);
        kernels::add_row(own.data(), n, row, lines.data());
      },
      ws);
  return kernels::dot(lines.data(), lines.data(), known.size() * kLineOfWeights);
}

template void ArcFeatures::score(std::span<const WordAtoms>, const ArcSet&, const float*, float,
                                 std::span<float>, Workspace&, double) const;
template void ArcFeatures::score(std::span<const WordAtoms>, const ArcSet&, const float*, double,
                                 std::span<double>, Workspace&, double) const;
template void ArcFeatures::score(std::span<const WordAtoms>, const ArcSet&, const double*, double,
                                 std::span<double>, Workspace&, double) const;
template void ArcFeatures::accumulate(std::span<const WordAtoms>, const ArcSet&, std::span<const float>,
                                      float, const WeightsSink<float>&, Workspace&) const;
template void ArcFeatures::accumulate(std::span<const WordAtoms>, const ArcSet&, std::span<const float>,
                                      float, const ListSink<float>&, Workspace&) const;
template void ArcFeatures::accumulate(std::span<const WordAtoms>, const ArcSet&, std::span<const double>,
                                      double, const WeightsSink<double>&, Workspace&) const;
template void ArcFeatures::accumulate(std::span<const WordAtoms>, const ArcSet&, std::span<const double>,
                                      double, const ListSink<double>&, Workspace&) const;
template double ArcFeatures::squared_norm(std::span<const WordAtoms>, const ArcSet&, std::span<const float>,
                                          float, Workspace&) const;
template double ArcFeatures::squared_norm(std::span<const WordAtoms>, const ArcSet&, std::span<const double>,
                                          double, Workspace&) const;

}  // namespace espalier
