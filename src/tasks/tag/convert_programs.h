#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/input.h"
#include "espalier/features/dictionary.h"
#include "tasks/tag/reader.h"

namespace espalier {

// A model as another program's file has it: its names, and the weights that are not 0.
struct ForeignModel {
  struct Weight {
    std::uint32_t attribute;
    std::uint32_t label;  // of an attribute of steps: before * L + after
    float value;
  };

  std::string_view program;
  TagInput input;
  TagDictionaries names;  // labels in the program's order, so that of equal ones the same is the first
  std::vector<Weight> tokens, steps;
  std::string
      every_step;  // the attribute that all steps have, whatever the input; empty: none, or others as well

  std::size_t num_labels() const { return names.labels.size(); }
};

// The lines of such a file, with the complaints about them.
class ModelText {
 public:
  explicit ModelText(const std::string& path) : reader_(path) {}

  const std::string& name() const { return reader_.name(); }
  // Goes on to the next line; false at the end of the file.
  bool next() { return reader_.next(line_); }
  // The same where there has to be one.
  std::string_view require(std::string_view expected);
  std::string_view line() const { return line_; }
  // Goes on to the end, over blank lines.
  void require_end();

  // A whole number that is this text.
  std::size_t number(std::string_view text, std::string_view expected) const;
  // A weight that is this text, in decimal notation or the hexadecimal one of C, times a factor.
  float weight(std::string_view text, double factor = 1) const;
  // Adds a name that is not there yet.
  std::uint32_t add(std::string_view name, Dictionary& to) const;
  // Throws Error at the current line.
  [[noreturn]] void fail(std::string_view found, std::string_view expected) const {
    reader_.fail(found, expected);
  }

 private:
  LineReader reader_;
  std::string_view line_;
};

// Each begins at the first line, which told the program, and throws Error for what that program does not
// write.
ForeignModel read_crfsuite_dump(ModelText& text);
ForeignModel read_wapiti_model(ModelText& text);
ForeignModel read_crfpp_model(ModelText& text);

// Takes over a template that looks at this many columns.
void set_template(std::string lines, std::size_t num_columns, const ModelText& text, ForeignModel& model);

}  // namespace espalier
