#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "espalier/base/error.h"
#include "espalier/features/templates.h"
#include "espalier/features/word_attributes.h"
#include "tasks/tag_parser.h"

namespace espalier {
namespace {

template <class Call>
void for_each_field(std::string_view line, Call&& call) {
  const char* at = line.data();
  const char* const end = at + line.size();
  for (;;) {
    while (at != end && is_white_space(*at)) ++at;
    if (at == end) return;
    const char* const begin = at;
    while (at != end && !is_white_space(*at)) ++at;
    call(std::string_view(begin, static_cast<std::size_t>(at - begin)));
  }
}

std::string columns(std::size_t n) { return fmt::format("{} column{}", n, n == 1 ? "" : "s"); }

// The fields of sequences, with the same number of columns on every line of a file.
class ColumnSplitter {
 public:
  ColumnSplitter(const TagInput& input, TagLabels labels)
      : num_columns_(input.num_columns), label_column_(input.label_column), labels_(labels) {}

  // Without the column of forced labels, and with an empty label where the file has none.
  TokenTable split(const SequenceLines& reader) {
    fields_.clear();
    forced_.clear();
    for (std::size_t t = 0; t < reader.size(); ++t) {
      const std::size_t begin = fields_.size();
      for_each_field(reader.line(t), [&](std::string_view field) { fields_.push_back(field); });
      check(reader, t, fields_.size() - begin);
      const auto at = [&](std::size_t column) {
        return fields_.begin() + static_cast<std::ptrdiff_t>(begin + column);
      };
      if (labels_.forced_column) {
        forced_.push_back(*at(*labels_.forced_column));
        fields_.erase(at(*labels_.forced_column));
      }
      if (fields_.size() - begin < num_columns_) fields_.insert(at(label_column_), std::string_view());
    }
    return {fields_, num_columns_};
  }
  // Of the tokens that were split last, where there is a column of them.
  std::span<const std::string_view> forced() const { return forced_; }

 private:
  void check(const SequenceLines& reader, std::size_t t, std::size_t found) {
    if (found_ == 0) check_first(reader.file());
    if (found == found_) return;
    std::string expected = fmt::format("expected {} as in line {}", found_, reader.file().first_line_number);
    if (reader.line(t).find('\t') != std::string_view::npos) {
      expected += ", or --format crfsuite for attribute files";
    }
    reader.fail(t, columns(found), expected);
  }

  // The first line of a file says how many columns it has. Whoever parses a part of it looks there.
  void check_first(const SequenceFile& file) {
    const std::size_t found = count_columns(file.first_line);
    const auto fail = [&](const std::string& expected) {
      throw Error::at(file.name, file.first_line_number, columns(found), expected);
    };
    if (labels_.forced_column && *labels_.forced_column >= found) {
      fail(fmt::format("expected the forced labels in column {}, as --forced says",
                       *labels_.forced_column + 1));
    }
    const std::size_t more = labels_.forced_column ? 1 : 0, most = num_columns_ + more;
    const char* training = labels_.forced_column ? "as in training, and the forced one" : "as in training";
    if (found != most && labels_.required) fail(fmt::format("expected {} {}", most, training));
    if (found != most && found + 1 != most) {
      fail(fmt::format("expected {} {}, or {} without the label", most, training, most - 1));
    }
    found_ = found;
  }

  std::size_t num_columns_, label_column_;
  TagLabels labels_;
  std::size_t found_ = 0;  // columns of this file
  std::vector<std::string_view> fields_, forced_;
};

// The rows of Sequences::transitions, each distinct set of attributes once.
class TransitionSets {
 public:
  // The row of a set, added where it is new. Changes the order of the ids.
  std::uint32_t row(std::vector<std::uint32_t>& ids, SparseRows& rows) {
    std::sort(ids.begin(), ids.end());
    const std::uint32_t row =
        rows_.add({reinterpret_cast<const char*>(ids.data()), ids.size() * sizeof(std::uint32_t)});
    if (row == rows.size()) {
      for (const std::uint32_t id : ids) rows.add(id, 1.0f);
      rows.sum_repeated();
      rows.finish_row();
    }
    return row;
  }
  void clear() { rows_.clear(); }

 private:
  Dictionary rows_;
};

class ColumnParser final : public TagParser {
 public:
  ColumnParser(const TagInput& input, TagNames names, TagLabels labels)
      : label_column_(input.label_column), names_(std::move(names)), splitter_(input, labels) {
    if (input.templates.empty()) {
      built_in_.emplace(input.num_columns, input.label_column);
    } else {
      templates_.emplace(input.templates, input.template_name);
      templates_->check_columns(input.num_columns, input.label_column);
    }
  }

  void append(const SequenceLines& reader, Sequences& to, StringBuffer& labels) override {
    const TokenTable table = splitter_.split(reader);
    const auto forced = splitter_.forced();
    for (std::size_t t = 0; t < table.size(); ++t) {
      labels.add(forced.empty() ? table.at(t, label_column_) : forced[t]);
    }
    append_table(table, to);
  }

  void append_table(const TokenTable& table, Sequences& to) override {
    for (std::size_t t = 0; t < table.size(); ++t) {
      text_.clear();
      if (built_in_) {
        built_in_->append(table, t, text_);
      } else {
        expand(templates_->tokens(), table, t);
      }
      look_up(names_.attributes);
      for (const std::uint32_t id : ids_) to.tokens.add(id, 1.0f);
      if (templates_) to.tokens.sum_repeated();  // built-in attributes differ
      to.tokens.finish_row();

      if (templates_ && !templates_->transitions().empty()) {
        to.transition_of.push_back(t == 0 ? 0 : transition(table, t, to.transitions));
      }
    }
    to.offsets.push_back(to.tokens.size());
  }

  void finish(Sequences& to) override {
    if (to.transitions.size() == 0) {
      if (built_in_) {
        text_.clear();
        text_.add(kTiedTransition);
        look_up(names_.transitions);
        for (const std::uint32_t id : ids_) to.transitions.add(id, 1.0f);
      }
      to.transitions.finish_row();
    }
    if (to.transitions.size() == 1) to.transition_of.clear();
    sets_.clear();
  }

 private:
  void expand(std::span<const Template> lines, const TokenTable& table, std::size_t t) {
    for (const Template& line : lines) {
      line.expand(table, t, text_.text());
      text_.finish();
    }
  }

  // The known ones of the names in text_.
  void look_up(NameIds& names) {
    names.clear();
    for (std::size_t i = 0; i < text_.size(); ++i) names.push(text_[i]);
    ids_.clear();
    for (std::size_t i = 0; i < text_.size(); ++i) {
      const std::uint32_t id = names.id(i);
      if (id != kUnknownName) ids_.push_back(id);
    }
  }

  std::uint32_t transition(const TokenTable& table, std::size_t t, SparseRows& rows) {
    text_.clear();
    expand(templates_->transitions(), table, t);
    look_up(names_.transitions);
    return sets_.row(ids_, rows);
  }

  std::size_t label_column_;
  TagNames names_;
  ColumnSplitter splitter_;
  std::optional<Templates> templates_;
  std::optional<WordAttributes> built_in_;
  TransitionSets sets_;
  StringBuffer text_;               // the names of one token's attributes
  std::vector<std::uint32_t> ids_;  // their ids
};

}  // namespace

std::unique_ptr<TagParser> make_column_parser(const TagInput& input, TagNames names, TagLabels labels) {
  return std::make_unique<ColumnParser>(input, std::move(names), labels);
}

std::size_t count_columns(std::string_view line) {
  std::size_t count = 0;
  for_each_field(line, [&](std::string_view) { ++count; });
  return count;
}

}  // namespace espalier
