#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "learning/partial_gold.h"
#include "structures/chain.h"
#include "tasks/tag/reader.h"

namespace espalier {

// The labels of training sequences as sets: each token has one label, or one of a few. `examples.labels` are
// the ids of label fields; of[id] are the labels, in order, that the field stands for.
struct LabelSets {
  std::vector<std::vector<std::uint32_t>> of;

  // Fields are labels.
  static LabelSets of_labels(std::size_t num_labels);
  // Fields are "?" (any label), or labels with | between. `labels` has the fields and then the single labels,
  // in the order of their bytes. Throws Error::at if an alternative is empty or "?", and, with the name of
  // the data, where fewer than two labels are left.
  static LabelSets split(const std::string& data, const TagExamples& examples, Dictionary& labels);

  // The text of a field again.
  std::string name(std::uint32_t field, const Dictionary& labels) const;
};

// Leaves out sequences i where keep[i] is false.
void keep_sequences(const std::vector<bool>& keep, TagExamples& examples);

// The sequences of which at least one label is not any: the others say nothing.
std::vector<bool> find_informative(const LabelSets& sets, const TagExamples& examples,
                                   std::size_t num_labels);

// The sequences that the constraints allow.
std::vector<bool> find_allowed(const ChainConstraints& constraints, const LabelSets& sets,
                               const TagExamples& examples);
// Throws Error::at for the first one that they do not allow. `source` is where they come from: "valid bio".
void refuse_broken(const ChainConstraints& constraints, const std::string& source, const LabelSets& sets,
                   const TagExamples& examples, const Dictionary& labels);

// Turns label fields into labels. Where a field stands for several, that is the first of them, and the
// result, which is null without such fields, has the rest.
std::shared_ptr<PartialGold> take_labels(const LabelSets& sets, std::size_t num_labels,
                                         std::span<const float> costs, TagExamples& examples);

}  // namespace espalier
