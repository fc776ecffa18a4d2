#include "bind.h"
#include "espalier/version.h"

PYBIND11_MODULE(_espalier, module) {
  using namespace espalier::python;
  module.doc() = "The library behind the package espalier. Use that: names in here may change.";
  module.attr("__version__") = ESPALIER_VERSION;
  bind_errors(module);
  bind_model(module);
  bind_training(module);
  bind_items(module);
  bind_tag(module);
  bind_classify(module);
  bind_parse(module);
  bind_treebank(module);
  bind_graph(module);
  bind_align(module);
  bind_selection(module);
}
