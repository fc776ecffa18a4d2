// Graphs: JSON Lines as training reads them and as a model does, and UAI's format with its evidence.

#include "espalier/tasks/graph.h"
#include "fuzzing/targets.h"
#include "structures/factor_graph.h"
#include "tasks/graph/reader.h"
#include "tasks/graph/uai_reader.h"

namespace espalier::fuzz {
namespace {

template <class Types>
void read_graphs(const std::string& path, const GraphReadOptions& options, Types& types) {
  message_of([&] {
    GraphReader reader(path, options, types);
    for (GraphRecord record; reader.next(record);)
      for (const auto& node : record.nodes) expect(node.type < types.nodes.size(), "a type that is there");
  });
}

}  // namespace

void graphs(std::string_view bytes) {
  Choices choices(bytes);
  const GraphReadOptions options{choices.flag(), choices.flag()};
  const std::string path = memory_file().write(bytes);
  GraphTypes types;
  read_graphs(path, options, types);
  const GraphTypes& fixed = types;
  read_graphs(path, {false, false}, fixed);
  // With inference, of what is small.
  if (bytes.size() < 2000 && choices.flag()) {
    message_of([&] {
      GraphOptions training;
      training.memory = std::size_t{1} << 24;
      read_graph_training(path, training);
    });
  }
}

// A model; behind a line of "evidence", that.
void uai(std::string_view bytes) {
  constexpr std::string_view kEvidence = "\nevidence\n";
  const std::size_t cut = bytes.find(kEvidence);
  const std::string path = memory_file(0).write(bytes.substr(0, cut));
  const std::string evidence =
      memory_file(1).write(cut == std::string_view::npos ? "" : bytes.substr(cut + kEvidence.size()));
  message_of([&] {
    const UaiModel model = read_uai(path);
    expect(model.scores.size() == model.graph->num_statistics(), "a score for each entry");
    const UaiConditional rest = condition(model, read_uai_evidence(evidence, *model.graph));
    expect(rest.scores.size() == rest.graph->num_statistics(), "a score for each entry that is left");
  });
}

}  // namespace espalier::fuzz
