#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "support/error_message.h"
#include "support/temporary_folder.h"
#include "tasks/tag/reader.h"
#include "tasks/tag_stream.h"

namespace espalier::testing {

using Names = std::vector<std::string>;
using Attributes = std::map<std::string, float>;

inline Names names_of(const Dictionary& dictionary) {
  Names names;
  for (std::uint32_t id = 0; id < dictionary.size(); ++id) names.emplace_back(dictionary.name(id));
  return names;
}

// A token as it is read, by names. The attributes of the step into it are those of row 0 where it is the
// first.
struct Token {
  std::string label;
  Attributes attributes, transition;
  bool operator==(const Token&) const = default;
};
using Tokens = std::vector<std::vector<Token>>;

// For messages of failing tests.
inline std::ostream& operator<<(std::ostream& out, const Token& token) {
  out << token.label << " {";
  for (const auto& [name, value] : token.attributes) out << " " << name << ":" << value;
  out << " } {";
  for (const auto& [name, value] : token.transition) out << " " << name << ":" << value;
  return out << " }";
}

inline Attributes row_of(const SparseRows& rows, std::size_t i, const Dictionary& names) {
  Attributes attributes;
  const SparseRows::Row row = rows.row(i);
  for (std::size_t j = 0; j < row.ids.size(); ++j) {
    EXPECT_TRUE(attributes.emplace(names.name(row.ids[j]), row.value(j)).second) << names.name(row.ids[j]);
  }
  return attributes;
}

inline Token token_of(const Sequences& sequences, std::size_t t, const std::string& label,
                      const TagDictionaries& dictionaries) {
  const std::size_t transition = sequences.transition_of.empty() ? 0 : sequences.transition_of[t];
  return {label, row_of(sequences.tokens, t, dictionaries.attributes),
          row_of(sequences.transitions, transition, dictionaries.transitions)};
}

inline Tokens tokens_of(const TagExamples& examples, const TagDictionaries& dictionaries,
                        const Dictionary& labels) {
  const Sequences& sequences = examples.sequences;
  EXPECT_EQ(examples.labels.size(), sequences.num_tokens());
  EXPECT_EQ(sequences.tokens.size(), sequences.num_tokens());
  Tokens tokens;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    tokens.emplace_back();
    for (std::size_t t = sequences.offsets[i]; t < sequences.offsets[i + 1]; ++t) {
      tokens.back().push_back(
          token_of(sequences, t, std::string(labels.name(examples.labels[t])), dictionaries));
    }
  }
  return tokens;
}

// Reads texts in every way: to train, to evaluate and to predict.
class TagReader : public ::testing::Test {
 protected:
  TagExamples grow(const std::string& text) {
    dictionaries_ = TagDictionaries();
    return read_tag_growing(folder_.file("data", text), input_, label_column_, first_, dictionaries_,
                            min_count_);
  }
  Tokens train(const std::string& text) {
    const TagExamples examples = grow(text);
    return tokens_of(examples, dictionaries_, dictionaries_.labels);
  }
  // With the dictionaries of the last train().
  Tokens evaluate(const std::string& text) {
    labels_ = Dictionary();
    for (const std::string& name : names_of(dictionaries_.labels)) labels_.add(name);
    const TagExamples examples = read_tag(folder_.file("data", text), input_, dictionaries_, labels_);
    return tokens_of(examples, dictionaries_, labels_);
  }
  Tokens stream(const std::string& text, bool labels_required = false) {
    TagStream stream(folder_.file("data", text), input_, dictionaries_, labels_required);
    Tokens tokens;
    lines_.clear();
    before_.clear();
    while (stream.next()) {
      before_.emplace_back(stream.before());
      const Sequences& sequence = stream.sequence();
      EXPECT_EQ(sequence.size(), 1u);
      EXPECT_EQ(sequence.num_tokens(), stream.size());
      EXPECT_EQ(sequence.tokens.size(), stream.size());
      tokens.emplace_back();
      for (std::size_t t = 0; t < stream.size(); ++t) {
        tokens.back().push_back(token_of(sequence, t, std::string(stream.label(t)), dictionaries_));
        lines_.emplace_back(stream.line(t));
      }
    }
    before_.emplace_back(stream.before());
    return tokens;
  }

  std::string shortened(std::string message) const {
    for (std::size_t at; (at = message.find(folder_.path() + "/")) != std::string::npos;) {
      message.erase(at, folder_.path().size() + 1);
    }
    return message;
  }
  std::string train_error(const std::string& text) {
    return shortened(error_message([&] { train(text); }));
  }
  std::string evaluate_error(const std::string& text) {
    return shortened(error_message([&] { evaluate(text); }));
  }
  std::string stream_error(const std::string& text, bool labels_required = false) {
    return shortened(error_message([&] { stream(text, labels_required); }));
  }

  const TemporaryFolder folder_;
  TagInput input_;
  std::optional<std::size_t> label_column_, first_;
  std::size_t min_count_ = 1;
  TagDictionaries dictionaries_;
  Dictionary labels_;
  Names lines_, before_;
};

}  // namespace espalier::testing
