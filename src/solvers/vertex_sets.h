#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "espalier/base/memory.h"
#include "espalier/learning/problem.h"
#include "learning/mean_state.h"

namespace espalier {

// For every example a few atoms with weights that sum to one: mu_i = sum_k a_k chi_k. Atom 0 is the rest:
// what a run started from, and outputs that were put together for want of room. Each of the others is one
// output, as a list of its statistics that are not zero. An atom of weight zero is a free place. All memory
// is taken at the start.
//
// All weights and the rest are in double precision, and nothing is ever subtracted from the rest: whatever
// happens, it is a mixture of outputs, but for a few roundings that are counted (MeanState).
class VertexSets {
 public:
  // Twice as many made no difference on CoNLL-2000, where one example in five comes to use all.
  static constexpr std::size_t kAtoms = 12;

  struct Entry {
    std::uint32_t index;
    float count;
    friend bool operator==(const Entry&, const Entry&) = default;
  };
  using Output = std::span<const Entry>;
  struct Example {
    double weights[kAtoms];
    float distances[kAtoms][kAtoms];  // |F_i(chi_k - chi_l)|^2 of atoms with weight, for the user to set

    friend class VertexSets;

   private:
    std::uint32_t sizes[kAtoms];  // entries of each atom but the rest
    std::uint32_t room;           // for entries of one
    std::size_t offset;           // of the first one's
    double roundings;             // of the rest
  };

  // Atom 0 is means.mu(i), with weight one. Without `keep_outputs` no output ever fits, and all goes to the
  // rest.
  VertexSets(const Problem& problem, const MeanState& means, bool keep_outputs = true);

  Example& operator[](std::size_t i) { return examples_[i]; }
  const Example& operator[](std::size_t i) const { return examples_[i]; }

  // The atom with weight that is this output, or 0.
  std::size_t find(std::size_t i, Output output) const;
  // Whether an atom has room for so many entries.
  bool fits(std::size_t i, Output output) const { return output.size() <= examples_[i].room; }
  // A free place other than 0, or 0 if there is none.
  std::size_t free_place(std::size_t i) const;
  // Makes place k the output, with weight zero. Requires that it fits.
  void set(std::size_t i, std::size_t k, Output output);
  // Moves the weight of atom k, and what it is, to the rest, whose distances follow. mu_i stays as it is, but
  // for rounding.
  void merge(std::size_t i, std::size_t k);
  // mu_i <- mu_i + eta(output - mu_i), with the output as part of the rest.
  void mix_into_rest(std::size_t i, Output output, double eta);

  // out += scale chi_k
  void add(std::size_t i, std::size_t k, float scale, Out out) const;
  void add(std::size_t i, std::size_t k, double scale, DoubleOut out) const;
  // s.chi_k
  double score(std::size_t i, std::size_t k, In s) const;
  // mu_i, and how many roundings each of its elements went through.
  double mean(std::size_t i, DoubleOut mu) const;
  void prefetch(std::size_t i, Prefetch what) const;

 private:
  Output entries(const Example& e, std::size_t k) const {
    return {entries_.data() + e.offset + (k - 1) * e.room, e.sizes[k]};
  }
  template <class Real>
  void add_of(std::size_t i, std::size_t k, Real scale, std::span<Real> out) const;
  void add_to_rest(std::size_t i, Output output, double weight);

  MeanState rest_;
  ZeroedArray<Example> examples_;
  ZeroedArray<Entry> entries_;
};

}  // namespace espalier
