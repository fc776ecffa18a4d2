#pragma once

#include "bind.h"
#include "espalier/base/json.h"

namespace espalier::python {

// The same as dict, list, str, float, int, bool and None.
py::object to_python(const Json& json);

}  // namespace espalier::python
