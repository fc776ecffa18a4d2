#include "json.h"

namespace espalier::python {

py::object to_python(const Json& json) {
  if (json.is_null()) return py::none();
  if (json.is_bool()) return py::bool_(json.get<bool>());
  if (json.is_string()) return py::str(json.get<std::string>());
  if (json.is_unsigned()) return py::int_(json.get<std::uint64_t>());
  if (json.is_number()) {
    const double value = json.get<double>();
    return py::float_(value);
  }
  if (json.is_object()) {
    py::dict dict;
    for (const auto& [key, value] : json.items()) dict[py::str(key)] = to_python(value);
    return dict;
  }
  py::list list;
  for (const Json& element : json) list.append(to_python(element));
  return list;
}

}  // namespace espalier::python
