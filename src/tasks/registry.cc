#include "espalier/tasks/registry.h"

#include "espalier/tasks/classify.h"

namespace espalier {

std::span<const TaskEntry> task_table() {
  static constexpr TaskEntry kTasks[] = {
      {"classify", "one label an example: LIBSVM, CRFsuite or IDX (MNIST) files", kClassifyVersion,
       load_classify_predictor},
  };
  return kTasks;
}

}  // namespace espalier
