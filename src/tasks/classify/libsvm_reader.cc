#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include "base/input.h"
#include "base/parse_number.h"
#include "espalier/base/error.h"
#include "tasks/classify/builder.h"

namespace espalier {
namespace {

constexpr const char* kSparseRow = "expected 'label index:value index:value ...'";
constexpr const char* kNamedRow = "expected 'label name:value name:value ...'";

// Takes the next field off the front of a line; empty at its end.
std::string_view next_field(std::string_view& line, bool comments = true) {
  const std::size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
  line.remove_prefix(begin);
  if (comments && line.starts_with('#')) line = {};
  std::size_t end = 0;
  while (end < line.size() && line[end] != ' ' && line[end] != '\t') ++end;
  const std::string_view field = line.substr(0, end);
  line.remove_prefix(end);
  return field;
}

bool has_colon(std::string_view field) { return field.find(':') != std::string_view::npos; }

// "1,2": what multi-label files have for a label. Text may contain commas.
bool is_list_of_numbers(std::string_view label) {
  if (label.find(',') == std::string_view::npos) return false;
  for (;;) {
    const std::size_t comma = label.find(',');
    if (!parse_double(label.substr(0, comma))) return false;
    if (comma == std::string_view::npos) return true;
    label.remove_prefix(comma + 1);
  }
}

// One spelling for each number: 1, +1, 01 and 1.0 are the label "1". Whole numbers stay text, since a double
// would take large ones for equal.
std::string normalised_label(std::string_view label) {
  const auto number = parse_double(label);
  if (!number) return std::string(label);
  const bool negative = label.starts_with('-');
  std::string_view digits = label.substr(negative || label.starts_with('+') ? 1 : 0);
  if (digits.find_first_not_of("0123456789") == std::string_view::npos) {
    digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size() - 1));
    return fmt::format("{}{}", negative && digits != "0" ? "-" : "", digits);
  }
  if (*number == 0) return "0";
  if (*number == std::trunc(*number) && std::fabs(*number) < 0x1p53) {
    return fmt::format("{}", static_cast<long long>(*number));
  }
  return fmt::format("{}", *number);
}

class LibsvmLines final : public ClassifyLines {
 public:
  LibsvmLines(const ClassifyReadOptions& options, ClassifyBuilder& builder)
      : options_(options), builder_(builder), named_(options.format == ClassifyFormat::named) {}

  void read(LineReader& lines) override {
    lines_ = &lines;
    for (std::string_view line; !builder_.full() && lines.next(line);) {
      const std::string_view first = next(line);
      if (!first.empty()) read_row(first, line);
    }
  }
  DenseRow first_dense() const override { return dense_; }
  void expect(const DenseRow& row) override { dense_ = row; }

 private:
  // A field that begins with '#' is a comment, but names may begin so.
  std::string_view next(std::string_view& line) const { return next_field(line, !named_); }

  void read_row(std::string_view field, std::string_view line) {
    std::optional<std::string_view> label;
    if (!has_colon(field)) {
      if (is_list_of_numbers(field)) {
        lines_->fail(fmt::format("several labels {}", in_quotes(field)), "expected one label per row");
      }
      label = field;
      field = next(line);
    } else if (options_.labels_required) {
      lines_->fail(fmt::format("{} in place of the label", in_quotes(field)),
                   named_ ? kNamedRow : kSparseRow);
    }

    if (named_) {
      read_named(field, line);
    } else if (has_colon(field)) {
      read_sparse(field, line);
    } else if (!field.empty()) {
      read_dense(field, line);
    }
    if (!label) {
      builder_.finish_example(std::nullopt);
    } else if (*label == last_label_) {  // data sorted by label is common, and spares the spelling
      builder_.finish_example(last_normalised_);
    } else {
      last_label_ = *label;
      last_normalised_ = normalised_label(*label);
      builder_.finish_example(last_normalised_);
    }
  }

  void read_sparse(std::string_view field, std::string_view line) {
    indices_.clear();
    bool ascending = true;
    for (; !field.empty(); field = next(line)) {
      const std::size_t colon = field.find(':');
      if (colon == std::string_view::npos) {
        lines_->fail(fmt::format("{} among fields with an index", in_quotes(field)), kSparseRow);
      }
      const std::string_view index_text = field.substr(0, colon), value_text = field.substr(colon + 1);
      const std::uint64_t index = parse_index(index_text, field);
      const auto value = parse_float(value_text);
      if (!value) {
        lines_->fail(fmt::format("value {} of index {}", in_quotes(value_text), index),
                     "expected a finite number");
      }
      ascending = ascending && (indices_.empty() || indices_.back() < index);
      indices_.push_back(index);
      if (*value != 0) builder_.add(attribute(index), *value);
    }
    if (!ascending) refuse_repeated_index();
  }

  void read_named(std::string_view field, std::string_view line) {
    for (; !field.empty(); field = next(line)) {
      const std::size_t colon = field.rfind(':');
      if (colon == std::string_view::npos)
        lines_->fail(fmt::format("{} without a value", in_quotes(field)), kNamedRow);
      if (colon == 0) lines_->fail(fmt::format("no name in {}", in_quotes(field)), kNamedRow);
      const std::string_view name = field.substr(0, colon), value_text = field.substr(colon + 1);
      const auto value = parse_float(value_text);
      if (!value) {
        lines_->fail(fmt::format("value {} of {}", in_quotes(value_text), in_quotes(name)),
                     "expected a finite number");
      }
      if (*value != 0) builder_.add(builder_.attribute(name), *value);
    }
  }

  void read_dense(std::string_view field, std::string_view line) {
    std::uint64_t index = 0;
    for (; !field.empty(); field = next(line)) {
      if (has_colon(field)) {
        lines_->fail(fmt::format("{} among values without an index", in_quotes(field)),
                     "expected 'label value value ...'");
      }
      const auto value = parse_float(field);
      if (!value) {
        lines_->fail(fmt::format("value {} of index {}", in_quotes(field), index + 1),
                     fmt::format("expected a finite number; lines 'label TAB text' need {0} text, attributes "
                                 "that are words {0} crfsuite",
                                 setting("format")));
      }
      if (++index; *value != 0) builder_.add(attribute(index), *value);
    }
    if (dense_.width == 0) {
      dense_ = {index, lines_->name(), lines_->line_number()};
    } else if (index != dense_.width) {
      fail_at_width({index, lines_->name(), lines_->line_number()}, dense_);
    }
  }

  std::uint64_t parse_index(std::string_view text, std::string_view field) const {
    std::uint64_t index = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), index);
    if (result.ec != std::errc() || result.ptr != text.data() + text.size()) {
      if (text == "qid") {
        lines_->fail(fmt::format("{}, a query of ranking data", in_quotes(field)),
                     "expected classification data");
      }
      lines_->fail(fmt::format("index {}", in_quotes(text)),
                   fmt::format("expected a whole number >= 1; names need {} named", setting("format")));
    }
    if (index == 0) lines_->fail("index 0", "indices start at 1");
    return index;
  }

  // The id of an index, whose name is its decimal text. Looking up the smaller ones once halves the time of
  // reading.
  std::uint32_t attribute(std::uint64_t index) {
    if (index < ids_.size() && ids_[index] != kUnasked) return static_cast<std::uint32_t>(ids_[index]);
    char digits[20];
    const auto result = std::to_chars(digits, digits + sizeof(digits), index);
    const std::uint32_t id = builder_.attribute({digits, static_cast<std::size_t>(result.ptr - digits)});
    if (index < kRemembered) {
      if (index >= ids_.size()) ids_.resize(index + 1, kUnasked);
      ids_[index] = id;
    }
    return id;
  }

  void refuse_repeated_index() {
    std::sort(indices_.begin(), indices_.end());
    const auto twice = std::adjacent_find(indices_.begin(), indices_.end());
    if (twice != indices_.end())
      lines_->fail(fmt::format("index {} twice", *twice), "expected each index once in a row");
  }

  static constexpr std::uint64_t kRemembered = std::uint64_t{1} << 20;
  static constexpr std::uint64_t kUnasked = ~std::uint64_t{0};  // no id, not even kUnknownAttribute

  LineReader* lines_ = nullptr;
  const ClassifyReadOptions& options_;
  ClassifyBuilder& builder_;
  bool named_;
  std::vector<std::uint64_t> ids_;      // by index
  std::vector<std::uint64_t> indices_;  // of the row
  std::string last_label_, last_normalised_;
  DenseRow dense_;
};

}  // namespace

std::unique_ptr<ClassifyLines> make_libsvm_lines(const ClassifyReadOptions& options,
                                                 ClassifyBuilder& builder) {
  return std::make_unique<LibsvmLines>(options, builder);
}

void fail_at_width(const ClassifyLines::DenseRow& found, const ClassifyLines::DenseRow& first) {
  throw Error::at(found.file, found.line, fmt::format("{} values", found.width),
                  fmt::format("expected {} as in line {}{}", first.width, first.line,
                              first.file == found.file ? "" : " of " + first.file));
}

}  // namespace espalier
