#include <fmt/format.h>

#include "base/input.h"
#include "espalier/base/error.h"
#include "espalier/base/json.h"
#include "espalier/tasks/graph.h"
#include "espalier/tasks/registry.h"
#include "generate/images.h"
#include "tasks/kernel_options.h"
#include "tasks/predict_options.h"

namespace espalier {
namespace {

using Row = OptionOf<GraphOptions>;

const OptionTable& options() {
  static const OptionTable table{
      Row("inference", &GraphOptions::inference,
          fmt::format("exact (junction tree), bp (loopy belief propagation), trw (tree-reweighted: an upper "
                      "bound), or auto: exact if {} allows it, otherwise trw",
                      setting("memory")))
          .choices({"exact", "bp", "trw", "auto"})
          .basic(),
      Row("memory", &GraphOptions::memory, "memory limit of exact inference")
          .bytes()
          .basic()
          .only_if(
              [](const GraphOptions& graph) {
                return graph.inference == "exact" || graph.inference == "auto";
              },
              setting("inference") + " exact or auto"),
      Row("nodes_only", &GraphOptions::nodes_only,
          "ignore cliques and label each node by itself, for comparison")
          .basic(),
      Row("first", &GraphOptions::first, "use only the first N training graphs").from(1).basic(),
      kernel_option<GraphOptions>().basic(),
      kernel_memory_option<GraphOptions>(),
  };
  return table;
}

const OptionTable& predict_options() {
  using Options = GraphPredictOptions;
  static const OptionTable table{
      OptionOf<Options>("format", &Options::format, "jsonl, the only format").choices({"jsonl"}).basic(),
      marginals_option<Options>("add the probability of every label"),
      kbest_option<Options>(),
      samples_option<Options>(),
      sample_seed_option<Options>(),
      entropy_option<Options>(),
      json_option<Options>(),
      threads_option<Options>(),
  };
  return table;
}

std::unique_ptr<TrainingSet> read(const InputFiles& files, const OptionValues& values, const Reading&) {
  return read_graph_training(files, values.as<GraphOptions>());
}

std::function<void(std::string&)> generate(std::uint64_t seed) {
  return [images = NoisyImages(seed)](std::string& to) mutable { append_graph(images.next(), to); };
}

// A picture as it was seen, as it was, and as two models have it.
std::string first_picture() {
  const auto first_line = [](const std::string& file) {
    LineReader reader(file);
    std::string_view line;
    reader.next(line);
    return Json::parse(line);
  };
  const Json gold = first_line("test.jsonl"), alone = first_line("alone.jsonl"),
             edges = first_line("edges.jsonl");
  const auto is_ink = [](const Json& graph, std::size_t v) { return graph["labels"][v] == "ink"; };
  const std::size_t side = NoisyImage::kSide;
  std::string text = fmt::format("{:<10} {:<10} {:<10} {}\n", "seen", "gold", "alone", "with edges");
  for (std::size_t row = 0; row < side; ++row) {
    const auto draw = [&](const auto& dark) {
      for (std::size_t v = row * side; v < (row + 1) * side; ++v) text += dark(v) ? '#' : '.';
      text += "   ";
    };
    draw([&](std::size_t v) { return gold["nodes"][v]["features"][0] == "dark"; });
    for (const Json* graph : {&gold, &alone, &edges}) draw([&](std::size_t v) { return is_ink(*graph, v); });
    text += '\n';
  }
  return text;
}

}  // namespace

TaskEntry graph_task() {
  TaskEntry task;
  task.name = "graph";
  task.summary = "a label for each node of a graph, with cliques of any size: JSON Lines";
  task.version = kGraphVersion;
  task.options = options;
  task.predict_options = predict_options;
  task.read = read;
  task.load = load_graph_predictor;
  task.train_examples =
      "  espalier train graph train.jsonl --l2 1 -o model.esp\n"
      "  espalier train graph train.jsonl --inference trw --dev dev.jsonl --l2 auto -o model.esp\n"
      "  espalier train graph train.jsonl --nodes-only -o without-cliques.esp\n";
  task.path_examples =
      "  espalier path graph train.jsonl --dev dev.jsonl\n"
      "  espalier path graph train.jsonl --dev dev.jsonl --l2-max 10 --l2-min 0.01 -o best.esp\n";
  task.generators = {{"graph", "noisy pictures, JSON Lines", generate}};
  task.demo.question =
      "Which pixels of a noisy picture are ink? A graph has a node for each pixel, and edges between "
      "neighbours.";
  task.demo.steps = {
      {"pictures of 8 x 8 pixels, one in five of them wrong",
       "generate graph -n 200 --seed 1 -o train.jsonl"},
      {"", "generate graph -n 100 --seed 2 -o test.jsonl"},
      {"each pixel by itself, without edges", "train graph train.jsonl --nodes-only -o alone.esp --quiet"},
      {"", "eval alone.esp test.jsonl"},
      {"a CRF with edges, by exact inference, within 0.1 % of its optimum",
       "train graph train.jsonl -o edges.esp"},
      {"", "eval edges.esp test.jsonl"},
      {"what did it learn, and how close to the best possible is it?", "show edges.esp --top 3"},
      {"use them", "predict alone.esp test.jsonl -o alone.jsonl"},
      {"", "predict edges.esp test.jsonl -o edges.jsonl"}};
  task.demo.outcome = first_picture;
  return task;
}

}  // namespace espalier
