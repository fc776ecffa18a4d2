#pragma once

#include <string>

#include "base/input.h"
#include "espalier/model/model.h"
#include "support/temporary_folder.h"

namespace espalier::testing {

// The file that a model is saved as.
inline std::string model_bytes(const Model& model) {
  const TemporaryFolder folder;
  model.save(folder.path("model.esp"));
  return read_all(folder.path("model.esp"));
}

}  // namespace espalier::testing
