#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/features/token_table.h"

namespace espalier {

// One line of a CRF++ template: text with macros %x[row,column], which stand for the field of a token nearby.
class Template {
 public:
  // Appends the attribute's name at token t: the line with its macros replaced. Tokens before the sequence are "_B-1", "_B-2", ...,
  // those behind it "_B+1", "_B+2", ...
  void expand(const TokenTable& table, std::size_t t, std::string& to) const;

 private:
  friend class Templates;
  struct Macro {
    std::string before;  // the text between the macro before and this one
    int row;
    std::size_t column;
    std::string written;  // for messages
  };

  std::size_t line_;
  std::vector<Macro> macros_;
  std::string after_;  // the text behind the last macro
};

// A CRF++ template file. Lines that begin with U give attributes of a token, lines that begin with B attributes of the step into a
// token; '#' starts a comment line.
class Templates {
 public:
  // `name` is the file's, for messages. Throws Error for what is no template.
  Templates(std::string_view text, std::string name);

  // Throws Error where a macro looks at the label or at a column that the data does not have.
  void check_columns(std::size_t num_columns, std::size_t label_column) const;

  std::span<const Template> tokens() const { return tokens_; }            // U lines
  std::span<const Template> transitions() const { return transitions_; }  // B lines

 private:
  Template parse(std::string_view line, std::size_t line_number) const;

  std::string name_;
  std::vector<Template> tokens_, transitions_;
};

}  // namespace espalier
