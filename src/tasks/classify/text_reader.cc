#include <fmt/format.h>

#include <algorithm>

#include "base/input.h"
#include "espalier/tasks/classify.h"
#include "tasks/classify/builder.h"
#include "tasks/classify/text_rows.h"

namespace espalier {

TextRows::TextRows(const ClassifyReadOptions& options, ClassifyBuilder& builder)
    : options_(options), builder_(builder), attributes_(options.text) {}

void TextRows::add(std::string_view text) {
  builder_.attributes(attributes_.of(text), occurrences_);
  std::sort(occurrences_.begin(), occurrences_.end());
  ids_.clear();
  values_.clear();
  for (const std::uint32_t id : occurrences_) {
    if (id == kUnknownAttribute) break;  // the largest number: only such follow
    if (ids_.empty() || ids_.back() != id) {
      ids_.push_back(id);
      values_.push_back(1.0f);
    } else if (options_.text.weighting != TextWeighting::binary) {
      ++values_.back();
    }
  }
  if (!options_.idf.empty()) weigh_by_tf_idf(ids_, options_.idf, values_);
  for (std::size_t j = 0; j < ids_.size(); ++j) builder_.add(ids_[j], values_[j]);
}

namespace {

class TextLines final : public ClassifyLines {
 public:
  TextLines(const ClassifyReadOptions& options, ClassifyBuilder& builder)
      : options_(options), builder_(builder), rows_(options, builder) {}

  void read(LineReader& lines) override {
    constexpr const char* kExpected = "expected 'label TAB text'";
    constexpr std::string_view kBlank = " \t";
    for (std::string_view line; !builder_.full() && lines.next(line);) {
      const std::size_t tab = line.find('\t');
      const std::string_view label = line.substr(0, tab == std::string_view::npos ? 0 : tab);
      const bool has_label = label.find_first_not_of(kBlank) != std::string_view::npos;
      if (options_.labels_required && !has_label) {
        if (line.find_first_not_of(kBlank) == std::string_view::npos) continue;
        if (tab == std::string_view::npos) lines.fail("no TAB in the line", kExpected);
        lines.fail("no label before the TAB", kExpected);
      }
      // Where labels are not required, an empty line is an empty text: predictions have the lines of their
      // input.
      rows_.add(tab == std::string_view::npos ? line : line.substr(tab + 1));
      builder_.finish_example(has_label ? std::optional(label) : std::nullopt);
    }
  }
  std::size_t num_bad_bytes() const override { return rows_.num_bad_bytes(); }

 private:
  const ClassifyReadOptions& options_;
  ClassifyBuilder& builder_;
  TextRows rows_;
};

}  // namespace

std::unique_ptr<ClassifyLines> make_text_lines(const ClassifyReadOptions& options, ClassifyBuilder& builder) {
  return std::make_unique<TextLines>(options, builder);
}

void take_texts(const ClassifyData& data, const ClassifyReadOptions& options, ClassifyBuilder& builder) {
  TextRows rows(options, builder);
  for (std::size_t i = 0; i < data.size() && !builder.full(); ++i) {
    rows.add(data.text(i));
    builder.finish_example(data.label(i), data.weight(i));
  }
  builder.set_num_bad_bytes(rows.num_bad_bytes());
}

}  // namespace espalier
