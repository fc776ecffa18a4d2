#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/parse_number.h"
#include "espalier/base/error.h"
#include "features/templates.h"
#include "features/word_attributes.h"
#include "tasks/fields.h"
#include "tasks/tag/parser.h"
#include "tasks/tag/transition_sets.h"

namespace espalier {
namespace {

std::string columns(std::size_t n) { return fmt::format("{} column{}", n, n == 1 ? "" : "s"); }

// The fields of sequences, with the same number of columns on every line of a file.
class ColumnSplitter {
 public:
  ColumnSplitter(const TagInput& input, TagLabels labels)
      : num_columns_(input.num_columns),
        label_column_(input.label_column),
        more_(input.more_columns),
        separator_(separator_of(input)),
        labels_(labels) {}

  // Without the column of forced labels, and with an empty label where the file has none.
  TokenTable split(const SequenceLines& reader) {
    fields_.clear();
    forced_.clear();
    for (std::size_t t = 0; t < reader.size(); ++t) {
      const std::size_t begin = fields_.size();
      for_each_field(reader.line(t), separator_, [&](std::string_view field) {
        if (field.empty()) {
          reader.fail(t, fmt::format("nothing in column {}", fields_.size() - begin + 1),
                      "expected a field between two TABs");
        }
        fields_.push_back(field);
      });
      check(reader, t, fields_.size() - begin);
      const auto at = [&](std::size_t column) {
        return fields_.begin() + static_cast<std::ptrdiff_t>(begin + column);
      };
      if (labels_.forced_column) {
        forced_.push_back(*at(*labels_.forced_column));
        fields_.erase(at(*labels_.forced_column));
      }
      if (fields_.size() - begin > num_columns_) fields_.erase(at(num_columns_ - 1), fields_.end() - 1);
      if (fields_.size() - begin < num_columns_) fields_.insert(at(label_column_), std::string_view());
    }
    return last();
  }
  // The fields that split() gave.
  TokenTable last() const { return {fields_, num_columns_}; }
  // The forced labels of these tokens, where there is a column of them.
  std::span<const std::string_view> forced() const { return forced_; }

 private:
  void check(const SequenceLines& reader, std::size_t t, std::size_t found) {
    if (found_ == 0) check_first(reader.file());
    if (found == found_) return;
    std::string expected = fmt::format("expected {} as in {}", found_, reader.file().first_place());
    const auto has = [&](char c) {
      return reader.line(t).find(c) != std::string_view::npos ||
             reader.file().first_line.find(c) != std::string::npos;
    };
    if (has('\t')) {
      expected += fmt::format("; attribute files need {} crfsuite", setting("format"));
      if (separator_ == Separator::space && has(' '))
        expected += fmt::format(", fields with spaces inside {} tab", setting("separator"));
    }
    reader.fail(t, columns(found), expected);
  }

  // The first line of a file says how many columns it has. Whoever parses a part of it looks there.
  void check_first(const SequenceFile& file) {
    const std::size_t found = count_columns(file.first_line, separator_);
    const auto fail = [&](const std::string& expected) {
      throw Error::at(file.first_name.empty() ? file.name : file.first_name, file.first_line_number,
                      columns(found), expected);
    };
    if (labels_.forced_column && *labels_.forced_column >= found) {
      fail(fmt::format("expected the forced labels in column {}, as {} says", *labels_.forced_column + 1,
                       setting("forced")));
    }
    const std::size_t more = labels_.forced_column ? 1 : 0, most = num_columns_ + more;
    const char* training = labels_.forced_column ? "as in training, and the forced one" : "as in training";
    if (more_) {
      const std::size_t least = labels_.required ? most : most - 1;
      if (found < least) {
        fail(fmt::format("expected at least {}: those that the template looks at{}{}", least,
                         labels_.forced_column ? ", the forced one" : "",
                         labels_.required ? " and the label" : ""));
      }
      found_ = found;
      return;
    }
    if (found != most && labels_.required) fail(fmt::format("expected {} {}", most, training));
    if (found != most && found + 1 != most) {
      fail(fmt::format("expected {} {}, or {} without the label", most, training, most - 1));
    }
    found_ = found;
  }

  std::size_t num_columns_, label_column_;
  bool more_;  // columns before the label
  Separator separator_;
  TagLabels labels_;
  std::size_t found_ = 0;  // columns of this file
  std::vector<std::string_view> fields_, forced_;
};

class ColumnParser final : public TagParser {
 public:
  ColumnParser(const TagInput& input, TagNames names, TagLabels labels)
      : label_column_(input.label_column),
        weight_column_(input.weight_column),
        word_column_(word_column(input)),
        names_(std::move(names)),
        splitter_(input, labels),
        gazetteer_(input.gazetteer) {
    if (input.templates.empty()) {
      built_in_.emplace(input.num_columns, input.label_column, input.weight_column);
    } else {
      templates_.emplace(input.templates, input.template_name);
      templates_->check_columns(input.num_columns, input.label_column);
      one_transition_ = names_.transitions.is_fixed() &&
                        std::ranges::all_of(templates_->transitions(), &Template::is_constant);
    }
  }

  void append(const SequenceLines& reader, Sequences& to, StringBuffer& labels) override {
    const TokenTable table = splitter_.split(reader);
    const auto forced = splitter_.forced();
    for (std::size_t t = 0; t < table.size(); ++t) {
      labels.add(forced.empty() ? table.at(t, label_column_) : forced[t]);
    }
    append_table(reader, table, to);
  }

  void append_table(const SequenceLines& reader, const TokenTable& table, Sequences& to) override {
    if (built_in_) built_in_->set(table);
    if (gazetteer_) find_phrases(table);
    for (std::size_t t = 0; t < table.size(); ++t) {
      clear();
      if (built_in_) {
        built_in_->append(t, text_);
      } else {
        expand(templates_->tokens(), reader, table, t);
      }
      if (gazetteer_) append_phrases(t);
      look_up(names_.attributes);
      for (const auto& [id, value] : found_) to.tokens.add(id, value);
      if (templates_) to.tokens.sum_repeated();  // built-in attributes differ
      to.tokens.finish_row();

      if (templates_ && !templates_->transitions().empty()) {
        to.transition_of.push_back(t == 0 ? 0 : transition(reader, table, t, to.transitions));
      }
    }
    to.offsets.push_back(to.tokens.size());
  }

  double weight(const SequenceLines& reader) override {
    if (!weight_column_) return reader.weight();
    const std::size_t column = *weight_column_;
    const TokenTable table = splitter_.last();
    const std::string found =
        fmt::format("the weight {} in column {}", in_quotes(table.at(0, column)), column + 1);
    const auto weight = parse_double(table.at(0, column));
    if (!weight || *weight <= 0) reader.fail(0, found, "expected a positive, finite number");
    for (std::size_t t = 1; t < table.size(); ++t) {
      if (table.at(t, column) == table.at(0, column)) continue;
      reader.fail(
          t, fmt::format("the weight {} in column {}", in_quotes(table.at(t, column)), column + 1),
          fmt::format("expected {} as on the first line of the sequence", in_quotes(table.at(0, column))));
    }
    return *weight;
  }

  const TransitionSets* transition_sets() const override { return &sets_; }

  void finish(Sequences& to) override {
    if (to.transitions.size() == 0) {
      if (built_in_) {
        clear();
        text_.add(kTiedTransition);
        look_up(names_.transitions);
        for (const auto& [id, value] : found_) to.transitions.add(id, value);
      }
      to.transitions.finish_row();
    }
    if (to.transitions.size() == 1) to.transition_of.clear();
    sets_.clear();
  }

 private:
  // The first column that is neither the label nor a weight.
  static std::size_t word_column(const TagInput& input) {
    std::size_t column = 0;
    while (column == input.label_column || column == input.weight_column) ++column;
    return column;
  }

  void find_phrases(const TokenTable& table) {
    words_.clear();
    for (std::size_t t = 0; t < table.size(); ++t) words_.push_back(table.at(t, word_column_));
    gazetteer_->find(words_, phrases_);
    phrase_ = 0;
  }

  // Tokens come in order, and so do phrases.
  void append_phrases(std::size_t t) {
    while (phrase_ < phrases_.size() && phrases_[phrase_].begin + phrases_[phrase_].length <= t) ++phrase_;
    for (std::size_t p = phrase_; p < phrases_.size() && phrases_[p].begin <= t; ++p) {
      const Gazetteer::Match& phrase = phrases_[p];
      const bool first = t == phrase.begin, last = t + 1 == phrase.begin + phrase.length;
      text_.text() += "gazetteer=";
      text_.text() += first ? (last ? "S-" : "B-") : (last ? "E-" : "I-");
      text_.add(gazetteer_->type(phrase.type));
    }
  }

  void clear() {
    text_.clear();
    values_.clear();
  }

  void expand(std::span<const Template> lines, const SequenceLines& reader, const TokenTable& table,
              std::size_t t) {
    for (const Template& line : lines) {
      if (line.has_value() && !append_value(line, reader, table, t)) continue;
      line.expand(table, t, text_.text());
      text_.finish();
    }
  }

  // False where the attribute is to be left out.
  bool append_value(const Template& line, const SequenceLines& reader, const TokenTable& table,
                    std::size_t t) {
    const auto token = line.value_token(t, table.size());
    if (!token) return false;
    const std::string_view field = table.at(*token, line.value_column());
    const auto value = parse_float(field);
    if (!value) {
      reader.fail(*token, fmt::format("{} in column {}", in_quotes(field), line.value_column() + 1),
                  fmt::format("expected a finite number for {}", line.value_written()));
    }
    if (*value == 0) return false;
    values_.resize(text_.size(), 1.0f);
    values_.push_back(*value);
    return true;
  }

  // The known ones of the names in text_.
  void look_up(NameIds& names) {
    names.clear();
    for (std::size_t i = 0; i < text_.size(); ++i) names.push(text_[i]);
    found_.clear();
    for (std::size_t i = 0; i < text_.size(); ++i) {
      const std::uint32_t id = names.id(i);
      if (id != kUnknownName) found_.push_back({id, i < values_.size() ? values_[i] : 1.0f});
    }
  }

  std::uint32_t transition(const SequenceLines& reader, const TokenTable& table, std::size_t t,
                           SparseRows& rows) {
    if (one_transition_ && rows.size() > 0) return 0;
    clear();
    expand(templates_->transitions(), reader, table, t);
    look_up(names_.transitions);
    return sets_.row(found_, rows);
  }

  std::size_t label_column_;
  std::optional<std::size_t> weight_column_;
  std::size_t word_column_;
  TagNames names_;
  ColumnSplitter splitter_;
  std::shared_ptr<const Gazetteer> gazetteer_;
  std::vector<std::string_view> words_;
  std::vector<Gazetteer::Match> phrases_;  // of the sequence
  std::size_t phrase_ = 0;                 // the first one that does not end before the token
  std::optional<Templates> templates_;
  std::optional<WordAttributes> built_in_;
  bool one_transition_ = false;  // all steps are alike, and nobody counts them
  TransitionSets sets_;
  StringBuffer text_;                  // the names of one token's attributes
  std::vector<float> values_;          // theirs, as far as the last one that is not 1
  std::vector<AttributeValue> found_;  // the known ones
};

}  // namespace

std::unique_ptr<TagParser> make_column_parser(const TagInput& input, TagNames names, TagLabels labels) {
  return std::make_unique<ColumnParser>(input, std::move(names), labels);
}

std::size_t count_columns(std::string_view line, Separator separator) {
  std::size_t count = 0;
  for_each_field(line, separator, [&](std::string_view) { ++count; });
  return count;
}

}  // namespace espalier
