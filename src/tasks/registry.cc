#include "espalier/tasks/registry.h"

#include "espalier/tasks/classify.h"
#include "espalier/tasks/graph.h"
#include "espalier/tasks/parse.h"
#include "espalier/tasks/tag.h"
#include "espalier/tasks/treebank.h"

namespace espalier {

std::span<const TaskEntry> task_table() {
  static constexpr TaskEntry kTasks[] = {
      {"tag", "one label a token: CoNLL columns with CRF++ templates or built-in ones, CRFsuite files",
       kTagVersion, load_tag_predictor},
      {"classify", "one label an example: LIBSVM, CRFsuite or IDX (MNIST) files", kClassifyVersion,
       load_classify_predictor},
      {"parse", "a head for each word, and the relation to it: CoNLL-X and CoNLL-U treebanks", kParseVersion,
       load_parse_predictor},
      {"treebank", "the phrases of a sentence and what they are made of: Penn brackets", kTreebankVersion,
       load_treebank_predictor},
      {"graph", "a label for each node of a graph, cliques of any size: JSON Lines", kGraphVersion,
       load_graph_predictor},
  };
  return kTasks;
}

}  // namespace espalier
