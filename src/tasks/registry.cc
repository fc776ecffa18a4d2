#include "espalier/tasks/registry.h"

#include "espalier/tasks/classify.h"
#include "espalier/tasks/tag.h"

namespace espalier {

std::span<const TaskEntry> task_table() {
  static constexpr TaskEntry kTasks[] = {
      {"tag", "one label a token: CoNLL columns with CRF++ templates or built-in ones, CRFsuite files",
       kTagVersion, load_tag_predictor},
      {"classify", "one label an example: LIBSVM, CRFsuite or IDX (MNIST) files", kClassifyVersion,
       load_classify_predictor},
  };
  return kTasks;
}

}  // namespace espalier
