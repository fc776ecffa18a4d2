#include "tasks/tag/without_zeros.h"

#include <algorithm>
#include <utility>

#include "tasks/common.h"

namespace espalier {
namespace {

// The weights that are not zero, of attributes of tokens or of transitions. Which attributes have any is
// found first; their labels and weights only where somebody needs them.
template <class ForEach>
struct KeptPairs {
  ForEach for_each;                       // (a, use) calls use(label, weight) for those of attribute a
  std::vector<std::uint32_t> attributes;  // in their order
  std::vector<std::uint64_t> offsets{0};  // where the pairs of each begin, as in ObservedPairs
  std::vector<std::uint32_t> labels;
  std::vector<float> weights;
  std::size_t num_seen = 0;  // pairs, zeros among them

  // Of these attributes the first ones are kept in any case.
  KeptPairs(std::size_t num_attributes, std::size_t always, const ForEach& of_attribute)
      : for_each(of_attribute) {
    std::size_t kept = 0;
    for (std::uint32_t a = 0; a < num_attributes; ++a) {
      for_each(a, [&](std::size_t, float weight) {
        ++num_seen;
        kept += weight != 0 ? 1 : 0;
      });
      if (kept == offsets.back() && a >= always) continue;
      attributes.push_back(a);
      offsets.push_back(kept);
    }
  }

  std::size_t size() const { return offsets.back(); }
  void collect() {
    labels.reserve(size());
    weights.reserve(size());
    for (const std::uint32_t a : attributes) {
      for_each(a, [&](std::size_t label, float weight) {
        if (weight == 0) return;
        labels.push_back(static_cast<std::uint32_t>(label));
        weights.push_back(weight);
      });
    }
  }

  std::shared_ptr<const ObservedPairs> pairs() const {
    return std::make_shared<ObservedPairs>(offsets, labels);
  }
  // As large as the sections that have them, and the weights.
  std::size_t bytes() const {
    return attributes.size() * sizeof(std::uint64_t) + size() * (sizeof(std::uint32_t) + sizeof(float));
  }
};

template <class Use>
void for_each_pair(const ObservedPairs& pairs, std::size_t attribute, std::size_t first_row,
                   const Weights& theta, const Use& use) {
  const float* weight = theta.row(first_row + pairs.begin(attribute));
  for (const std::uint32_t label : pairs.labels(attribute)) use(label, *weight++);
}

auto kept_tokens(const ChainShape& shape, const Weights& theta) {
  return KeptPairs(shape.num_attributes, 0, [&](std::uint32_t a, const auto& use) {
    if (shape.by_pairs()) return for_each_pair(*shape.tokens, a, 0, theta, use);
    if (shape.by_rows) {
      for (const std::uint32_t label : shape.tokens->labels(a)) use(label, theta.row(a)[label]);
      return;
    }
    for (std::size_t label = 0; label < shape.num_labels; ++label) use(label, theta.row(a)[label]);
  });
}

// How many attributes of transitions there are says what weights of n-grams go by
// (TagModel::ngram_attribute): one, or more.
auto kept_steps(const ChainShape& shape, const Weights& theta) {
  const std::size_t always = shape.has_tables() ? 2 : shape.num_transition_attributes;
  return KeptPairs(shape.num_transition_attributes, always, [&](std::uint32_t a, const auto& use) {
    if (!shape.has_tables()) return;
    if (shape.steps) return for_each_pair(*shape.steps, a, shape.tokens->size(), theta, use);
    for (std::size_t before = 0; before < shape.num_labels; ++before) {
      const float* row = theta.row(shape.transition_row(a, before));
      for (std::size_t label = 0; label < shape.num_labels; ++label)
        use(before * shape.num_labels + label, row[label]);
    }
  });
}

Dictionary names_of(const Dictionary& all, std::span<const std::uint32_t> kept) {
  Dictionary names;
  for (const std::uint32_t id : kept) names.add(all.name(id));
  return names;
}

Dictionary copy_of(const Dictionary& all) {
  Dictionary names;
  for (std::uint32_t id = 0; id < all.size(); ++id) names.add(all.name(id));
  return names;
}

}  // namespace

std::optional<ModelContents> without_zeros(const TagModel& model, const Weights& theta) {
  const ChainShape shape = model.shape();
  auto tokens = kept_tokens(shape, theta);
  auto steps = kept_steps(shape, theta);
  std::vector<std::vector<std::uint32_t>> ngrams;
  std::vector<float> ngram_weights;
  for (std::size_t k = 0; k < shape.num_ngrams(); ++k) {
    const WeightPlace place = shape.ngram_weight(k);
    if (const float weight = theta.row(place.row)[place.column]; weight != 0) {
      ngrams.emplace_back(shape.ngrams->ngram(k).begin(), shape.ngrams->ngram(k).end());
      ngram_weights.push_back(weight);
    }
  }
  // The file has no zeros in either layout. Rows take more memory but are summed eight weights at a time, and
  // frequent attributes tend to be those with many weights: on CoNLL-2000 with 98.5 % of 22 x 335,674 weights
  // zero, 2.3 were left to an attribute, and yet the scores of tokens took four times as many instructions by
  // pairs as by rows.
  constexpr std::size_t kRowsAreFaster = 8;
  const std::size_t rows = tokens.attributes.size() + steps.attributes.size() * shape.num_labels,
                    bytes_of_rows = rows * row_stride(shape.num_labels) * sizeof(float);
  const bool to_pairs =
      !shape.observed() && kRowsAreFaster * (tokens.bytes() + steps.bytes()) < bytes_of_rows;
  const bool pairs_left =
      shape.observed() && (tokens.size() < tokens.num_seen || steps.size() < steps.num_seen);
  const bool all_left = !to_pairs && !pairs_left && tokens.attributes.size() == shape.num_attributes &&
                        steps.attributes.size() == shape.num_transition_attributes &&
                        ngrams.size() == shape.num_ngrams();
  if (all_left && !shape.by_rows) return std::nullopt;
  tokens.collect();
  steps.collect();

  auto kept = std::make_shared<TagModel>();
  kept->input = model.input;
  kept->constraints = model.constraints;
  kept->dictionaries.labels = copy_of(model.dictionaries.labels);
  kept->dictionaries.attributes = names_of(model.dictionaries.attributes, tokens.attributes);
  kept->dictionaries.transitions = names_of(model.dictionaries.transitions, steps.attributes);
  ChainShape of_kept;
  if (shape.observed() || to_pairs) {
    of_kept.tokens = tokens.pairs();
    if (shape.has_tables()) of_kept.steps = steps.pairs();
  }
  if (shape.ngrams) of_kept.ngrams = std::make_shared<LabelNgrams>(shape.num_labels, ngrams);
  kept->layout = TagLayout(std::move(of_kept), model.layout.order());

  of_kept = kept->shape();
  Weights smaller(of_kept.weights());
  const auto put = [&](const WeightPlace& place, float weight) {
    smaller.row(place.row)[place.column] = weight;
  };
  for (std::size_t a = 0; a < tokens.attributes.size(); ++a) {
    for (std::size_t e = tokens.offsets[a]; e < tokens.offsets[a + 1]; ++e)
      put(of_kept.observed() ? WeightPlace{e, 0} : WeightPlace{a, tokens.labels[e]}, tokens.weights[e]);
  }
  for (std::size_t a = 0; a < steps.attributes.size(); ++a) {
    for (std::size_t e = steps.offsets[a]; e < steps.offsets[a + 1]; ++e) {
      const std::size_t before = steps.labels[e] / shape.num_labels,
                        label = steps.labels[e] % shape.num_labels;
      put(of_kept.observed() ? WeightPlace{tokens.labels.size() + e, 0}
                             : WeightPlace{of_kept.transition_row(a, before), label},
          steps.weights[e]);
    }
  }
  for (std::size_t k = 0; k < ngrams.size(); ++k)
    put(of_kept.ngram_weight(*of_kept.ngrams->find(ngrams[k])), ngram_weights[k]);

  ModelContents contents{kept->sections(), std::move(smaller)};
  if (!all_left) contents.trained = {shape.num_attributes, shape.num_weights()};
  contents.memory = kept;
  return contents;
}

}  // namespace espalier
