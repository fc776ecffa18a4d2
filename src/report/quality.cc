#include "report/quality.h"

#include "base/naming_file.h"

namespace espalier {

Json quality_of(const Model& model, const std::string& data) {
  return naming_file(data, [&] {
    const Evaluation evaluation = model.predictor().evaluate(data, {});
    Json quality{{"task", model.info().task},
                 {"data", data},
                 {"headline", evaluation.headline},
                 {"report", evaluation.report}};
    const std::string& task = model.info().task;
    if (task == "tag") add_tag_quality(model, data, quality);
    if (task == "classify") add_classify_quality(model, data, quality);
    if (task == "parse") add_parse_quality(model, data, quality);
    if (task == "treebank") add_treebank_quality(model, data, quality);
    if (task == "graph") add_graph_quality(model, data, quality);
    return quality;
  });
}

}  // namespace espalier
