#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "features/token_table.h"
#include "features/wapiti_regex.h"

namespace espalier {

// The two languages that templates are written in. docs/formats.md describes them for users.
//   crfpp   lines U and B, macros %x[row,column]
//   wapiti  lines u, b and *, also in upper case, macros %x %X %t %T %m %M; text from '#' on is a comment
enum class TemplateLanguage { crfpp, wapiti };

// Wapiti's where a line has something that CRF++ does not know: u, b or * at the front, a macro other than
// %x, or a position counted from an end of the sequence, %x[@1,0]. CRF++'s otherwise.
TemplateLanguage template_language(std::string_view text);

// One line of a template: text with macros, which stand for the field of a token nearby.
class Template {
 public:
  // Appends the attribute's name at token t: the line with its macros replaced. Tokens before the sequence
  // are
  //   CRF++: "_B-1", "_B-2", ..., those after it "_B+1", "_B+2", ...
  //   Wapiti: "_x-1" to "_x-4", then "_x-#", those after it "_x+1" to "_x+4", then "_x+#"
  void expand(const TokenTable& table, std::size_t t, std::string& to) const;

  // No macros: the same at every token.
  bool is_constant() const { return macros_.empty(); }
  // A line with %v[row,column], which stands for nothing in the name: the number in that field is the
  // attribute's value. (Without one, the value is 1.)
  bool has_value() const { return value_ != kNoValue; }
  // Requires has_value(). The token that has the value; none beyond the sequence, where the attribute is to
  // be left out.
  std::optional<std::size_t> value_token(std::size_t t, std::size_t length) const;
  std::size_t value_column() const { return macros_[value_].column; }
  // As the line has it, for messages.
  const std::string& value_written() const { return macros_[value_].written; }

 private:
  friend class Templates;
  enum class Kind : unsigned char { field, test, match, value };
  struct Macro {
    std::string before;  // the text between the macro before and this one
    Kind kind = Kind::field;
    bool lower = false;     // in lower case
    bool absolute = false;  // the row counts from the first token (1, 2, ...) or the last (-1, -2, ...)
    int row = 0;
    std::size_t column = 0;
    std::shared_ptr<const WapitiRegex> regex;  // of tests and matches
    std::string written;                       // for messages

    std::ptrdiff_t token(std::size_t t, std::size_t length) const {
      if (!absolute) return static_cast<std::ptrdiff_t>(t) + row;
      return row < 0 ? static_cast<std::ptrdiff_t>(length) + row : row - 1;
    }
  };
  static constexpr std::size_t kNoValue = ~std::size_t{0};

  TemplateLanguage language_ = TemplateLanguage::crfpp;
  std::size_t line_ = 0;
  std::vector<Macro> macros_;
  std::string after_;             // the text after the last macro
  std::size_t value_ = kNoValue;  // which macro is the value's
};

// A file of templates, in either language. Lines that begin with U give attributes of a token, lines that
// begin with B attributes of the step into a token, lines that begin with * both.
class Templates {
 public:
  // `name` is the file's, for messages. Throws Error for invalid templates.
  Templates(std::string_view text, std::string name);

  // Throws Error if a macro uses the label or a column that the data does not have.
  void check_columns(std::size_t num_columns, std::size_t label_column) const;

  // Whether a macro looks at the column, counted from 0.
  bool use_column(std::size_t column) const;

  std::span<const Template> tokens() const { return tokens_; }            // U and * lines
  std::span<const Template> transitions() const { return transitions_; }  // B and * lines

 private:
  struct Line {
    std::string_view text;
    std::size_t number;
    TemplateLanguage language;
    bool wapiti() const { return language == TemplateLanguage::wapiti; }
  };
  void add(const Line& line);
  // Takes a macro off the front of the rest of the line.
  Template::Macro take_macro(std::string_view& rest, const Line& line) const;
  [[noreturn]] void fail(const Line& line, const std::string& found, std::string_view expected) const;

  std::string name_;
  std::vector<Template> tokens_, transitions_;
};

}  // namespace espalier
