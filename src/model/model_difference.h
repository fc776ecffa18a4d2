#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "espalier/base/json.h"
#include "espalier/model/model.h"

namespace espalier {

// What differs between two models of one task, weights matched by name; a weight that a model does not have
// is 0.
struct ModelDifference {
  struct Setting {
    std::string name;
    Json first, second;  // null: not there
  };
  struct Change {
    std::string attribute, before, label;  // before: labels of a transition, with spaces between
    float first = 0, second = 0;
  };
  struct Group {
    std::string name;             // a label, or "transitions"
    std::vector<Change> changes;  // the largest first; of equals in the order of the models
  };

  bool hashed = false;            // features have places and no names
  std::vector<Setting> settings;  // loss, l2, solver and the task's, where they differ
  std::vector<std::string> labels_only_first, labels_only_second;
  std::size_t attributes_first = 0, attributes_second = 0, attributes_common = 0;
  double norm_first = 0, norm_second = 0, norm_of_difference = 0;  // Euclidean
  std::vector<Group> groups;                                       // those in which something changed
};

// The `top` largest changes of each group. Throws Error if the models are of different tasks.
ModelDifference compare_models(const Model& first, const Model& second, std::size_t top);

}  // namespace espalier
