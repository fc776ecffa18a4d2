#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bind.h"
#include "espalier/tasks/named_rows.h"
#include "text_arena.h"

namespace espalier::python {

// Where in the data of a call something is, for messages: "X[3][5]". An index of -1 is left out.
struct Place {
  const char* name = "X";
  std::ptrdiff_t sentence = -1, token = -1;
  std::string text() const;
};

// The text of a str, or the bytes of a bytes object; valid as long as the object. Throws Error, which says
// what was `expected`, for anything else.
std::string_view text_of(py::handle object, const Place& place, const char* expected);

// Sentences with the attributes of their tokens, as Python has them, in memory of their own: nothing points
// into Python's objects, so that they can be used while other threads change those.
//
// An item is a dict, whose values are numbers and bools (the attribute's value), texts ("key:text", 1),
// dicts, lists and sets ("key:" before each of their attributes); or a list, tuple or set of texts; or a row
// of numbers, whose attributes are called after their columns, "0", "1", ...
class Sentences {
 public:
  using Attribute = NamedRows::Attribute;

  void clear();
  // Adds a sentence: a sequence of items, a NumPy array with a row per token, a SciPy CSR matrix with a row
  // per token, or an ItemSequence.
  void add(py::handle sentence, Place place);

  // Adds one that was converted before: the only one in `sentence`.
  void add(const Sentences& sentence);

  std::size_t size() const { return sentences_.size() - 1; }
  std::size_t num_tokens() const { return tokens_.size() - 1; }
  // Tokens begin(i) to begin(i + 1) - 1 are those of sentence i.
  std::size_t begin(std::size_t i) const { return sentences_[i]; }
  std::span<const Attribute> token(std::size_t t) const {
    return std::span(attributes_).subspan(tokens_[t], tokens_[t + 1] - tokens_[t]);
  }

 private:
  void add_items(py::handle items, Place& place);
  void add_item(PyObject* item, const Place& place);
  void add_dict(PyObject* dict, std::string_view prefix, const Place& place);
  void add_names(PyObject* names, std::string_view prefix, const Place& place);
  void add_name(PyObject* name, std::string_view prefix, const Place& place);
  void add_dense(py::handle rows, Place& place);
  void add_csr(py::handle matrix, Place& place);
  void add_number(std::string_view name, double value, const Place& place);
  std::string_view column_name(std::size_t column);
  void end_token() { tokens_.push_back(attributes_.size()); }

  TextArena texts_;
  std::vector<Attribute> attributes_;
  std::vector<std::size_t> tokens_{0}, sentences_{0};
};

// One sentence, converted once for those who use it several times.
struct ItemSequence {
  Sentences sentences;
};

// Whether an object is a SciPy matrix or array of compressed rows; NumPy's arrays.
bool is_csr(py::handle object);
bool is_array(py::handle object);

}  // namespace espalier::python
