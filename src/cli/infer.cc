#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/names.h"
#include "base/naming_file.h"
#include "base/output.h"
#include "cli/commands.h"
#include "cli/validators.h"
#include "espalier/base/error.h"
#include "espalier/base/json.h"
#include "espalier/base/options.h"
#include "structures/markov_graph.h"
#include "tasks/graph/uai_reader.h"

namespace espalier::cli {
namespace {

const std::vector<std::string>& queries() {
  static const std::vector<std::string> all{"PR", "MAR", "MPE"};
  return all;
}

const OptionTable& inference_options() {
  using Options = GraphInferenceOptions;
  using Row = OptionOf<Options>;
  const auto by_messages = [](const Options& options) { return options.inference != GraphInference::exact; };
  const auto may_be_exact = [](const Options& options) {
    return options.inference == GraphInference::exact || options.inference == GraphInference::automatic;
  };
  const std::string messages = setting("inference") + " bp, trw or auto";
  static const OptionTable table{
      Row("inference", &Options::inference,
          std::vector<std::pair<std::string, GraphInference>>{{"exact", GraphInference::exact},
                                                              {"bp", GraphInference::bp},
                                                              {"trw", GraphInference::trw},
                                                              {"auto", GraphInference::automatic}},
          "exact (junction tree), bp (loopy belief propagation), trw (tree-reweighted: an upper bound) or "
          "auto: "
          "exact if it fits in memory, otherwise trw")
          .basic(),
      Row("memory", &Options::memory, "memory limit of exact inference")
          .bytes()
          .basic()
          .only_if(may_be_exact, setting("inference") + " exact or auto"),
      Row("iterations", &Options::iterations, "bp, trw: maximum number of sweeps")
          .from(1)
          .basic()
          .only_if(by_messages, messages),
      Row("tolerance", &Options::tolerance, "bp, trw: stop once log-messages change by less than this")
          .above(0)
          .basic()
          .only_if(by_messages, messages),
      Row("damping", &Options::damping,
          "bp, trw: initial weight of the old message in a new one; raised if messages oscillate")
          .between(0, 1)
          .basic()
          .only_if(by_messages, messages),
  };
  return table;
}

struct InferArguments {
  std::string model, evidence, task, output = "-";
  OptionValues inference{inference_options()};
  bool json = false;
};

// What a task answers with, in the competition's format and as JSON.
struct Answer {
  std::string text;
  Json json;
};

class InferenceQuery {
 public:
  explicit InferenceQuery(const InferArguments& arguments)
      : arguments_(arguments),
        model_(read_uai(arguments.model)),
        left_(condition(model_, arguments.evidence.empty()
                                    ? std::vector<UaiObservation>()
                                    : read_uai_evidence(arguments.evidence, *model_.graph))),
        graph_(left_.graph, arguments.inference.as<GraphInferenceOptions>()) {}

  Answer answer() {
    Answer answer = arguments_.task == "MPE" ? best() : sum(arguments_.task == "MAR");
    answer.json["width"] = graph_.width();
    answer.json["exact"] = graph_.exact();
    return answer;
  }

 private:
  [[noreturn]] void impossible() const {
    throw Error::in(arguments_.evidence.empty() ? arguments_.model : arguments_.evidence,
                    arguments_.evidence.empty()
                        ? "every assignment has weight 0"
                        : "every assignment that agrees with this evidence has weight 0",
                    "expected at least one of positive weight");
  }

  // PR and MAR.
  Answer sum(bool marginals) {
    std::vector<double> mu(marginals || !graph_.exact() ? left_.scores.size() : 0);
    MarkovGraph::Convergence convergence;
    const double log_z = left_.constant + graph_.log_partition(left_.scores, mu, convergence, ws_);
    if (log_z == -std::numeric_limits<double>::infinity()) impossible();
    Answer answer;
    answer.json["log_partition"] = log_z;
    if (marginals) {
      answer.text = fmt::format("MAR\n{}", left_.variable.size());
      answer.json["marginals"] = Json::array();
      for (std::size_t v = 0; v < left_.variable.size(); ++v) {
        std::vector<double> p(model_.graph->cardinality(v), 0);
        if (left_.variable[v] == UaiConditional::kObserved) {
          p[left_.observed[v]] = 1;
        } else {
          const auto begin = mu.begin() + static_cast<std::ptrdiff_t>(left_.marginals_of(left_.variable[v]));
          std::copy_n(begin, p.size(), p.begin());
        }
        answer.text += fmt::format(" {}", p.size());
        for (const double x : p) answer.text += fmt::format(" {:.6g}", x);
        answer.json["marginals"].push_back(p);
      }
      answer.text += '\n';
    } else {
      answer.text = fmt::format("PR\n{:.9g}\n", log_z / std::numbers::ln10);
    }
    if (!graph_.exact()) {
      answer.json["inference"] = graph_.inference() == GraphInference::trw ? "trw" : "bp";
      answer.json["converged"] = convergence.converged;
      answer.json["iterations"] = convergence.iterations;
      if (graph_.inference() == GraphInference::trw) answer.json["upper_bound"] = true;
    }
    return answer;
  }

  Answer best() {
    std::vector<std::uint32_t> y(left_.graph->num_variables());
    const MarkovGraph::Best best = graph_.best(left_.scores, y, ws_);
    if (best.bound + left_.constant == -std::numeric_limits<double>::infinity()) impossible();
    Answer answer;
    answer.text = fmt::format("MPE\n{}", left_.variable.size());
    std::vector<std::uint32_t> labels;
    for (std::size_t v = 0; v < left_.variable.size(); ++v) {
      const bool observed = left_.variable[v] == UaiConditional::kObserved;
      labels.push_back(observed ? left_.observed[v] : y[left_.variable[v]]);
      answer.text += fmt::format(" {}", labels.back());
    }
    answer.text += '\n';
    answer.json["max"] = best.value + left_.constant;
    answer.json["assignment"] = labels;
    if (!graph_.exact()) {
      answer.json["bound"] = best.bound + left_.constant;
      answer.json["optimal"] = best.optimal;
    }
    return answer;
  }

  const InferArguments& arguments_;
  UaiModel model_;
  UaiConditional left_;
  MarkovGraph graph_;
  Workspace ws_;
};

}  // namespace

void add_infer(Command program, Action& action) {
  Command command = program.add_subcommand("infer", "answer queries on a graphical model (UAI files)");
  const auto arguments = std::make_shared<InferArguments>();
  command
      .add_option("FILE", arguments->model,
                  "a MARKOV or BAYES model; '-' is standard input; may be compressed")
      .required();
  command
      .add_option("--evidence", arguments->evidence,
                  "observations: their number, then each variable with its label")
      .metavar("FILE");
  command
      .add_option("--task", arguments->task,
                  "PR (log10 of the partition function), MAR (each variable's marginals) or MPE (the best "
                  "assignment)")
      .metavar("NAME")
      .offer(queries())
      .required();
  command.add_options(arguments->inference);
  command.add_flag("--json", arguments->json, "one JSON object, with natural logarithms");
  command.add_option("-o,--output", arguments->output, "where to write; default: standard output")
      .metavar("FILE");
  command.footer(
      "Examples:\n"
      "  espalier infer model.uai --task PR\n"
      "  espalier infer model.uai.gz --evidence model.uai.evid --task MAR -o model.MAR\n"
      "  espalier infer model.uai --task MPE --inference trw --json\n\n"
      "Answers have the format of the UAI competitions. JSON: log_partition and marginals, or max and\n"
      "assignment; width (of the elimination order) and exact; if inference is approximate, also whether it\n"
      "converged, and for MPE a bound on the maximum and whether the assignment reaches it (optimal).");
  command.callback([arguments, &action] {
    action = [arguments] {
      const std::string& task = arguments->task;
      if (std::ranges::find(queries(), task) == queries().end())
        throw Error(fmt::format("--task: {}", unknown_name("task", task, queries())));
      arguments->inference.check_effective();
      const Answer answer =
          naming_file(arguments->model, [&] { return InferenceQuery(*arguments).answer(); });
      OutputFile output(arguments->output);
      output.write(arguments->json ? answer.json.dump() + '\n' : answer.text);
      output.commit();
      return kSuccess;
    };
  });
}

}  // namespace espalier::cli
