#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "espalier/base/json.h"
#include "espalier/model/model.h"
#include "serve/explanation.h"

namespace espalier::serve {

// Why a classifier gives a label: the attributes of the example that it knows, with their weights. One object
// per thread; the model has to outlive it.
class ClassifyReasons {
 public:
  explicit ClassifyReasons(const Model& model);
  ~ClassifyReasons();

  // What adds up to the score of the label. An object of attributes, or a text where the model is one of
  // texts. Throws BadQuestion for a model of a kernel, which has no weights of attributes.
  std::vector<Reason> of(const Json& example, std::string_view label);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace espalier::serve
