#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "features/span_features.h"

namespace espalier {

// A table of templates of features of spans. Each names what it looks at: words by their place,
//   f and l   the first and the last one of the span
//   b and a   the one before it and the one after it
// (f+1 and b-1 are one further on), what of such a word: w its form, s its shape, p its first and x its last
// letters, t its tag; n the length of the span, z the tags of all its words, where they are few.
// Splits and words are spans that begin there: f is the word after the split, b the one before it.
//
// What is seen at a span's begin and at its end has a key of its own, so that those of all spans are found
// from those of all positions.
class SpanTemplates {
 public:
  // Names begin with what the templates are of: "span: ".
  SpanTemplates(std::span<const std::string_view> table, std::string_view of);

  std::size_t size() const { return templates_.size(); }
  // "first.form length", as people read it.
  const std::string& name(std::size_t t) const { return templates_[t].name; }
  // Which part of the templates look at no form: they see the same few things in every sentence.
  double common_share() const;
  // begins[position * size() + t] and ends[...], for positions 0, ..., words.size().
  void keys(std::span<const SpanWord> words, std::span<std::uint32_t> begins,
            std::span<std::uint32_t> ends) const;
  // Keys of the features of a span, from those of its ends.
  void span_keys(std::span<const SpanWord> words, std::size_t begin, std::size_t end,
                 std::span<const std::uint32_t> begins, std::span<const std::uint32_t> ends,
                 std::span<std::uint32_t> to) const;

 private:
  struct Look {
    int offset;
    SpanAtom atom;
  };
  struct Template {
    std::string name;
    std::vector<Look> begin, end;  // relative to the first word, and to the first one after the span
    bool length = false, tags = false, lexical = false;
    std::uint64_t seed = 0;
  };
  std::vector<Template> templates_;
};

const SpanTemplates& span_templates();
const SpanTemplates& split_templates();
const SpanTemplates& tag_templates();

}  // namespace espalier
