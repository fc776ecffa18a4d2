#include "tasks/tag/first_sequence.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/parse_number.h"
#include "espalier/base/error.h"
#include "tasks/fields.h"
#include "tasks/tag/parser.h"

namespace espalier {
namespace {

// "name=value" or "name:1", as attributes are written, but not features of words such as
// "Case=Nom|Number=Sing".
bool looks_like_attribute(std::string_view field) {
  const std::size_t equals = field.find('=');
  if (equals != std::string_view::npos && equals > 0 && equals + 1 < field.size()) {
    const std::size_t bar = field.find('|', equals);
    return bar == std::string_view::npos || field.find('=', bar) == std::string_view::npos;
  }
  const std::size_t colon = field.rfind(':');
  return colon != std::string_view::npos && colon > 0 && parse_float(field.substr(colon + 1));
}

// "uw=the", "u:the" or "*:t=DT".
bool looks_like_wapiti(std::string_view field) {
  return field.size() > 2 && std::string_view("ub*").find(field.front()) != std::string_view::npos &&
         (field[1] == ':' || looks_like_attribute(field));
}

// Files of attributes whose lines happen to have equally many fields would be read as columns, with
// attributes for labels, or for words. CRFsuite's have the label first, Wapiti's last.
void refuse_attributes(const SequenceLines& sequence, Separator separator) {
  constexpr double kMost = 0.9;
  std::size_t others = 0, of_crfsuite = 0,
              of_wapiti = 0;  // than the label; of these, those that look like it
  std::string_view example;
  std::vector<std::string_view> fields;
  for (std::size_t t = 0; t < sequence.size(); ++t) {
    fields.clear();
    for_each_field(sequence.line(t), separator, [&](std::string_view field) { fields.push_back(field); });
    for (std::size_t column = 0; column < fields.size(); ++column) {
      const bool crfsuite = column > 0 && looks_like_attribute(fields[column]);
      const bool wapiti = column + 1 < fields.size() && looks_like_wapiti(fields[column]);
      others += column > 0 ? 1 : 0;
      of_crfsuite += crfsuite ? 1 : 0;
      of_wapiti += wapiti ? 1 : 0;
      if (example.empty() && (crfsuite || wapiti)) example = fields[column];
    }
  }
  const auto are_most = [&](std::size_t some) {
    return some > 0 && static_cast<double>(some) >= kMost * static_cast<double>(others);
  };
  if (!are_most(of_crfsuite) && !are_most(of_wapiti)) return;
  sequence.fail(0, fmt::format("fields such as {}, which look like attributes", in_quotes(example)),
                fmt::format("expected {0} {1}, or {0} columns if they are columns", setting("format"),
                            are_most(of_crfsuite) ? "crfsuite" : "wapiti"));
}

// Whether lines have equally many columns, at least two, separated in this way.
bool are_columns(const SequenceLines& sequence, Separator separator) {
  const std::size_t columns = count_columns(sequence.line(0), separator);
  for (std::size_t t = 1; t < sequence.size(); ++t) {
    if (count_columns(sequence.line(t), separator) != columns) return false;
  }
  return columns > 1;
}

// Takes the columns of a training file from its first line.
void set_columns(const SequenceLines& sequence, std::optional<std::size_t> label_column, TagInput& input) {
  const std::size_t found = count_columns(sequence.line(0), separator_of(input));
  if (found < 2) {
    sequence.fail(0, "1 column", "expected at least 2, a word and its label, separated by spaces or tabs");
  }
  if (label_column && *label_column >= found) {
    sequence.fail(0, fmt::format("{} columns", found),
                  fmt::format("expected the label in column {}, as {} says", *label_column + 1,
                              setting("label_column")));
  }
  const std::size_t label = label_column.value_or(found - 1);
  if (input.weight_column) {
    const std::string column = fmt::format("column {}", *input.weight_column + 1);
    if (*input.weight_column >= found) {
      sequence.fail(0, fmt::format("{} columns", found),
                    fmt::format("expected the weight in {}, as {} says", column, setting("example_weights")));
    }
    if (*input.weight_column == label) {
      throw Error::in(setting("example_weights"), fmt::format("{}, which is the label", column),
                      "expected another column");
    }
    if (found < 3) sequence.fail(0, "2 columns", "expected at least 3: a word, its label and a weight");
  }
  if (input.group_column) {
    const std::string column = fmt::format("column {}", *input.group_column + 1);
    if (*input.group_column >= found) {
      sequence.fail(0, fmt::format("{} columns", found),
                    fmt::format("expected the document in {}, as {} says", column, setting("group_by")));
    }
    if (*input.group_column == label) {
      throw Error::in(setting("group_by"), fmt::format("{}, which is the label", column),
                      "expected another column");
    }
  }
  if (found > kMostColumns)
    sequence.fail(0, fmt::format("{} columns", found), fmt::format("expected at most {}", kMostColumns));
  input.num_columns = found;
  input.label_column = label;
}

}  // namespace

void learn_from_first_sequence(const SequenceLines& sequence, std::optional<std::size_t> label_column,
                               TagInput& input) {
  // TABs with spaces between them make sense of what white space does not.
  if (input.format == TagFormat::columns && input.separator_assumed)
    input.tabs = !are_columns(sequence, Separator::space) && are_columns(sequence, Separator::tab);
  if (input.format == TagFormat::columns) set_columns(sequence, label_column, input);
  if (input.format_assumed) refuse_attributes(sequence, separator_of(input));
}

}  // namespace espalier
