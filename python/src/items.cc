#include "items.h"

#include <fmt/format.h>
#include <pybind11/numpy.h>

#include <cmath>

#include "espalier/base/error.h"

namespace espalier::python {
namespace {

constexpr const char* kItem = "expected a dict, or a list or set of texts";

[[noreturn]] void refuse(const Place& place, const std::string& found, const char* expected) {
  throw Error::in(place.text(), found, expected);
}

std::string described(py::handle object) {
  return fmt::format("{} {}", Py_TYPE(object.ptr())->tp_name, in_quotes(std::string(py::repr(object))));
}

bool is_text(PyObject* object) { return PyUnicode_Check(object) || PyBytes_Check(object); }

// What most items and sentences are, and what need not be asked for its attributes.
bool is_of_python(PyObject* object) {
  return PyList_Check(object) || PyTuple_Check(object) || PyDict_Check(object) || is_text(object);
}

py::object iterate(py::handle object, const Place& place, const char* expected) {
  PyObject* const iterator = is_text(object.ptr()) ? nullptr : PyObject_GetIter(object.ptr());
  if (iterator == nullptr) {
    PyErr_Clear();
    refuse(place, described(object), expected);
  }
  return py::reinterpret_steal<py::object>(iterator);
}

}  // namespace

std::string Place::text() const {
  std::string result = name;
  if (sentence >= 0) result += fmt::format("[{}]", sentence);
  if (token >= 0) result += fmt::format("[{}]", token);
  return result;
}

std::string_view text_of(py::handle object, const Place& place, const char* expected) {
  if (PyUnicode_Check(object.ptr())) {
    Py_ssize_t size = 0;
    const char* const text = PyUnicode_AsUTF8AndSize(object.ptr(), &size);
    if (text == nullptr) throw py::error_already_set();
    return {text, static_cast<std::size_t>(size)};
  }
  if (PyBytes_Check(object.ptr()))
    return {PyBytes_AS_STRING(object.ptr()), static_cast<std::size_t>(PyBytes_GET_SIZE(object.ptr()))};
  refuse(place, described(object), expected);
}

// Without NumPy's own answer, which would import it for those who do not have it.
bool is_array(py::handle object) {
  return !is_of_python(object.ptr()) && PyObject_HasAttrString(object.ptr(), "__array_interface__");
}

bool is_csr(py::handle object) {
  if (is_of_python(object.ptr()) || !PyObject_HasAttrString(object.ptr(), "indptr")) return false;
  return PyObject_HasAttrString(object.ptr(), "indices") && PyObject_HasAttrString(object.ptr(), "data");
}

void Sentences::clear() {
  texts_.clear();
  attributes_.clear();
  tokens_.resize(1);
  sentences_.resize(1);
}

void Sentences::add(py::handle sentence, Place place) {
  if (py::isinstance<ItemSequence>(sentence)) return add(sentence.cast<const ItemSequence&>().sentences);
  if (is_csr(sentence)) {
    add_csr(sentence, place);
  } else if (is_array(sentence)) {
    add_dense(sentence, place);
  } else {
    add_items(sentence, place);
  }
  sentences_.push_back(num_tokens());
}

void Sentences::add(const Sentences& sentence) {
  for (std::size_t t = 0; t < sentence.num_tokens(); ++t) {
    for (const auto& [name, value] : sentence.token(t)) attributes_.push_back({texts_.copy(name), value});
    end_token();
  }
  sentences_.push_back(num_tokens());
}

void Sentences::add_items(py::handle items, Place& place) {
  place.token = -1;
  if (PyList_Check(items.ptr()) || PyTuple_Check(items.ptr())) {
    // The size may change where an item's own code runs.
    for (Py_ssize_t t = 0; t < PySequence_Fast_GET_SIZE(items.ptr()); ++t) {
      place.token = t;
      add_item(PySequence_Fast_GET_ITEM(items.ptr(), t), place);
    }
    return;
  }
  if (PyDict_Check(items.ptr()))
    refuse(place, described(items), "expected a list of items, one for each token");
  const py::object iterator = iterate(items, place, "expected a list of items, one for each token");
  while (PyObject* const next = PyIter_Next(iterator.ptr())) {
    const auto item = py::reinterpret_steal<py::object>(next);
    ++place.token;
    add_item(item.ptr(), place);
  }
  if (PyErr_Occurred()) throw py::error_already_set();
}

void Sentences::add_item(PyObject* item, const Place& place) {
  const auto held = py::reinterpret_borrow<py::object>(item);
  if (PyDict_Check(item)) {
    add_dict(item, {}, place);
  } else if (is_array(item)) {
    Place of_row = place;
    if (py::reinterpret_borrow<py::array>(item).ndim() != 1)
      refuse(place, "an array that is not a row", "expected one dimension, the values of a token");
    add_dense(item, of_row);
    return;
  } else if (is_csr(item)) {
    const std::size_t before = num_tokens();
    Place of_row = place;
    add_csr(item, of_row);
    if (num_tokens() != before + 1) refuse(place, "a matrix of several rows", "expected one row for a token");
    return;
  } else {
    add_names(item, {}, place);
  }
  end_token();
}

void Sentences::add_dict(PyObject* dict, std::string_view prefix, const Place& place) {
  PyObject *key = nullptr, *value = nullptr;
  Py_ssize_t position = 0;
  while (PyDict_Next(dict, &position, &key, &value)) {
    const std::string_view name = text_of(key, place, "expected texts as keys");
    if (PyUnicode_Check(value) || PyBytes_Check(value)) {
      const std::string_view text = text_of(value, place, "");
      const std::string_view of_key = prefix.empty() ? name : texts_.join(prefix, name);
      attributes_.push_back({texts_.join(of_key, text), 1.0f});
      continue;
    }
    const std::string_view full = prefix.empty() ? texts_.copy(name) : texts_.join(prefix, name);
    if (PyFloat_CheckExact(value)) {
      add_number(full, PyFloat_AS_DOUBLE(value), place);
    } else if (PyBool_Check(value)) {
      attributes_.push_back({full, value == Py_True ? 1.0f : 0.0f});
    } else if (PyDict_Check(value)) {
      add_dict(value, full, place);
    } else if (PyList_Check(value) || PyAnySet_Check(value)) {
      add_names(value, full, place);
    } else {
      // Its own code may run, and change what it likes.
      const auto held = py::reinterpret_borrow<py::object>(value),
                 held_key = py::reinterpret_borrow<py::object>(key);
      const double number = PyFloat_AsDouble(value);
      if (number == -1 && PyErr_Occurred()) {
        PyErr_Clear();
        refuse(place, fmt::format("{} as the value of {}", described(held), in_quotes(full)),
               "expected a number, a bool, a text, a dict, a list or a set");
      }
      add_number(full, number, place);
    }
  }
}

void Sentences::add_names(PyObject* names, std::string_view prefix, const Place& place) {
  if (PyList_Check(names) || PyTuple_Check(names)) {
    const Py_ssize_t size = PySequence_Fast_GET_SIZE(names);
    for (Py_ssize_t j = 0; j < size; ++j) add_name(PySequence_Fast_GET_ITEM(names, j), prefix, place);
    return;
  }
  const py::object iterator = iterate(names, place, kItem);
  while (PyObject* const next = PyIter_Next(iterator.ptr())) {
    const auto name = py::reinterpret_steal<py::object>(next);
    add_name(name.ptr(), prefix, place);
  }
  if (PyErr_Occurred()) throw py::error_already_set();
}

void Sentences::add_name(PyObject* name, std::string_view prefix, const Place& place) {
  const std::string_view text = text_of(name, place, "expected texts, the names of attributes");
  const std::string_view full = prefix.empty() ? texts_.copy(text) : texts_.join(prefix, text);
  attributes_.push_back({full, 1.0f});
}

void Sentences::add_number(std::string_view name, double value, const Place& place) {
  if (!std::isfinite(static_cast<float>(value)))
    refuse(place, fmt::format("the value {} of {}", value, in_quotes(name)), "expected a finite number");
  attributes_.push_back({name, static_cast<float>(value)});
}

std::string_view Sentences::column_name(std::size_t column) {
  return texts_.copy(fmt::format_int(column).c_str());
}

void Sentences::add_dense(py::handle rows, Place& place) {
  using Values = py::array_t<double, py::array::c_style | py::array::forcecast>;
  const auto values = Values::ensure(rows);
  if (!values || values.ndim() < 1 || values.ndim() > 2) {
    PyErr_Clear();
    refuse(place, "an array that is not one of numbers with a row per token", "expected two dimensions");
  }
  const std::size_t columns = static_cast<std::size_t>(values.shape(values.ndim() - 1));
  const std::size_t tokens = values.ndim() == 2 ? static_cast<std::size_t>(values.shape(0)) : 1;
  const bool sentence = values.ndim() == 2;
  for (std::size_t t = 0; t < tokens; ++t) {
    if (sentence) place.token = static_cast<std::ptrdiff_t>(t);
    for (std::size_t c = 0; c < columns; ++c) {
      const double value = values.data()[t * columns + c];
      if (value != 0) add_number(column_name(c), value, place);
    }
    end_token();
  }
}

void Sentences::add_csr(py::handle matrix, Place& place) {
  using Indices = py::array_t<std::int64_t, py::array::c_style | py::array::forcecast>;
  using Values = py::array_t<double, py::array::c_style | py::array::forcecast>;
  const auto begins = Indices::ensure(matrix.attr("indptr")),
             columns = Indices::ensure(matrix.attr("indices"));
  const auto values = Values::ensure(matrix.attr("data"));
  const py::object format = py::getattr(matrix, "format", py::str("csr"));
  if (!begins || !columns || !values || !format.equal(py::str("csr"))) {
    PyErr_Clear();
    refuse(place, "a sparse matrix that is not of compressed rows of numbers", "expected matrix.tocsr()");
  }
  for (py::ssize_t t = 0; t + 1 < begins.size(); ++t) {
    place.token = t;
    for (std::int64_t k = begins.at(t); k < begins.at(t + 1); ++k) {
      if (values.at(k) != 0)
        add_number(column_name(static_cast<std::size_t>(columns.at(k))), values.at(k), place);
    }
    end_token();
  }
}

void bind_items(py::module_& module) {
  py::class_<ItemSequence>(module, "ItemSequence",
                           "The items of a sentence, converted once for several uses.\n\n"
                           ">>> from espalier.pycrfsuite import ItemSequence\n"
                           ">>> ItemSequence([{'word': 'Anna', 'title': True}, ['a', 'b']]).items()\n"
                           "[{'word:Anna': 1.0, 'title': 1.0}, {'a': 1.0, 'b': 1.0}]")
      .def(py::init([](py::handle items) {
             auto sequence = std::make_unique<ItemSequence>();
             sequence->sentences.add(items, {"xseq"});
             return sequence;
           }),
           py::arg("xseq"))
      .def(
          "items",
          [](const ItemSequence& sequence) {
            py::list result;
            for (std::size_t t = 0; t < sequence.sentences.num_tokens(); ++t) {
              py::dict item;
              for (const auto& [name, value] : sequence.sentences.token(t))
                item[py::str(name.data(), name.size())] = py::float_(value);
              result.append(std::move(item));
            }
            return result;
          },
          "A dict {attribute: value} for each token.")
      .def("__len__", [](const ItemSequence& sequence) { return sequence.sentences.num_tokens(); })
      .def("__repr__",
           [](const ItemSequence& sequence) {
             return fmt::format("<ItemSequence of size {}>", sequence.sentences.num_tokens());
           })
      .def("__reduce__", [](const py::object& self) {
        return py::make_tuple(self.attr("__class__"), py::make_tuple(self.attr("items")()));
      });
}

}  // namespace espalier::python
