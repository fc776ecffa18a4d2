#include "bind.h"
#include "espalier/base/error.h"

namespace espalier::python {

// what() has the bare names of settings, which are those of keyword arguments.
void bind_errors(py::module_& module) {
  static py::exception<Error> error(module, "Error", PyExc_ValueError);
  error.doc() =
      "What was found in data, options or a file, and what was expected instead, in one sentence.\n\n"
      "It is a ValueError.";
  // Seen from outside, it belongs to the package.
  error.attr("__module__") = "espalier";
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const Error& e) {
      error(e.what());
    } catch (const Stopped& e) {
      PyErr_SetString(PyExc_KeyboardInterrupt, e.what());
    }
  });
}

}  // namespace espalier::python
