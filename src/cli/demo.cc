#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "espalier/base/error.h"
#include "espalier/base/input.h"
#include "espalier/base/json.h"
#include "espalier/generate/images.h"

namespace espalier::cli {
namespace {

// A folder of its own for the demo's files, gone afterwards.
class DemoFolder {
 public:
  DemoFolder() : before_(std::filesystem::current_path()) {
    std::string name = (std::filesystem::temp_directory_path() / "espalier-demo-XXXXXX").string();
    if (!mkdtemp(name.data()))
      throw Error::in(name, "cannot be created", "expected a writable temporary folder");
    folder_ = name;
    std::filesystem::current_path(folder_);
  }
  ~DemoFolder() {
    std::error_code ignored;  // a folder that stays behind is not worth failing for
    std::filesystem::current_path(before_, ignored);
    std::filesystem::remove_all(folder_, ignored);
  }
  DemoFolder(const DemoFolder&) = delete;
  DemoFolder& operator=(const DemoFolder&) = delete;

 private:
  std::filesystem::path before_, folder_;
};

// Ctrl-C ends the demo by way of its folder's destructor.
struct Interrupted {};

// Shows a command as a user would type it, and runs it.
void step(const std::string& why, const std::vector<std::string>& arguments) {
  fmt::print("{}$ espalier {}\n", why.empty() ? "" : "\n# " + why + '\n', fmt::join(arguments, " "));
  std::fflush(stdout);
  const int status = run(arguments);
  std::fflush(stdout);
  if (status == kInterrupted || InterruptGuard::interrupted()) throw Interrupted();
  if (status != kSuccess) throw Error("the demo stops here; expected the command above to work");
}

// The first few predictions beside what they were made from.
void show_predictions(const std::string& input, const std::string& labels, std::size_t count) {
  LineReader sentences(input), predicted(labels);
  std::string_view sentence, label;
  fmt::print("\n{:<12} {:<12} words\n", "predicted", "gold");
  for (std::size_t i = 0; i < count && sentences.next(sentence) && predicted.next(label); ++i) {
    const std::size_t tab = sentence.find('\t');
    std::string words(sentence.substr(std::min(tab + 1, sentence.size())));
    for (char& c : words) c = c == '\t' ? ' ' : c;
    fmt::print("{:<12} {:<12} {:.70}\n", label, sentence.substr(0, tab), words);
  }
}

// The first sentence that `predict` found an entity in: word, gold label, predicted one.
void show_tagged(const std::string& tagged) {
  LineReader reader(tagged);
  std::vector<std::vector<std::string>> sentence;
  bool entity = false;
  for (std::string_view line; reader.next(line);) {
    if (line.empty()) {
      if (entity) break;
      sentence.clear();
      continue;
    }
    sentence.emplace_back();
    for (std::size_t begin = 0; begin <= line.size();) {
      const std::size_t end = std::min(line.find('\t', begin), line.size());
      sentence.back().emplace_back(line.substr(begin, end - begin));
      begin = end + 1;
    }
    entity = entity || sentence.back().back() != "O";
  }
  fmt::print("\n{:<16} {:<12} predicted\n", "word", "gold");
  for (const auto& fields : sentence) {
    fmt::print("{:<16} {:<12} {}\n", fields.front(), fields.at(fields.size() - 2), fields.back());
  }
}

int demo_tag() {
  fmt::print(
      "Which words name persons, places and the like? Sentences come from a small built-in grammar.\n");
  const DemoFolder folder;
  step("training data, and two other draws to watch it by and to test on",
       {"generate", "tag", "-n", "2000", "--seed", "1", "-o", "train.txt"});
  step("", {"generate", "tag", "-n", "500", "--seed", "2", "-o", "dev.txt"});
  step("", {"generate", "tag", "-n", "500", "--seed", "3", "-o", "test.txt"});
  step("a CRF with built-in attributes (words, neighbours, affixes, shapes), within 0.1 % of its optimum",
       {"train", "tag", "train.txt", "--dev", "dev.txt", "-o", "entities.esp"});
  step("how good is it?", {"eval", "entities.esp", "test.txt"});
  step("what did it learn, and how close to the best possible is it?",
       {"show", "entities.esp", "--top", "3"});
  step("use it", {"predict", "entities.esp", "test.txt", "-o", "tagged.txt"});
  show_tagged("tagged.txt");
  fmt::print("\nNext: your own data. 'espalier train tag --help' has the formats and options.\n");
  return kSuccess;
}

int demo_classify() {
  fmt::print("Which of eight topics is a sentence about? Sentences come from a small built-in grammar.\n");
  const DemoFolder folder;
  step("training data, and two other draws to choose l2 by and to test on",
       {"generate", "classify", "-n", "20000", "--seed", "1", "-o", "train.txt"});
  step("", {"generate", "classify", "-n", "2000", "--seed", "2", "-o", "dev.txt"});
  step("", {"generate", "classify", "-n", "2000", "--seed", "3", "-o", "test.txt"});
  step(
      "a CRF (here: multinomial logistic regression); l2 is chosen on dev.txt, each model is within 0.1 % of "
      "its optimum",
      {"train", "classify", "train.txt", "--format", "crfsuite", "--dev", "dev.txt", "--l2", "auto", "-o",
       "topics.esp"});
  step("how good is it?", {"eval", "topics.esp", "test.txt"});
  step("what did it learn, and how close to the best possible is it?", {"show", "topics.esp", "--top", "3"});
  step("use it", {"predict", "topics.esp", "test.txt", "-o", "labels.txt"});
  show_predictions("test.txt", "labels.txt", 5);
  fmt::print("\nNext: your own data. 'espalier train classify --help' has the formats and options.\n");
  return kSuccess;
}

int demo_parse() {
  fmt::print("Which word does each word depend on, and how? Sentences come from a small built-in grammar.\n");
  const DemoFolder folder;
  step("training data with trees, in CoNLL-U, and two other draws to watch it by and to test on",
       {"generate", "parse", "-n", "500", "--seed", "1", "-o", "train.conllu"});
  step("", {"generate", "parse", "-n", "100", "--seed", "2", "-o", "dev.conllu"});
  step("", {"generate", "parse", "-n", "200", "--seed", "3", "-o", "test.conllu"});
  step("a CRF over projective trees with their relations, within 0.1 % of its optimum",
       {"train", "parse", "train.conllu", "--dev", "dev.conllu", "--l2", "10", "--hash-bits", "20", "-o",
        "parser.esp"});
  step("how good is it?", {"eval", "parser.esp", "test.conllu"});
  step("and how close to the best possible?", {"show", "parser.esp"});
  step("a sentence that it has not seen",
       {"generate", "parse", "-n", "1", "--seed", "4", "-o", "new.conllu"});
  step("", {"predict", "parser.esp", "new.conllu", "--format", "tree"});
  fmt::print("Next: your own data. 'espalier train parse --help' has the options.\n");
  return kSuccess;
}

int demo_treebank() {
  fmt::print("What phrases is a sentence made of? Sentences come from a small built-in grammar.\n");
  const DemoFolder folder;
  step("training data with trees, in brackets, and two other draws to watch it by and to test on",
       {"generate", "treebank", "-n", "300", "--seed", "1", "-o", "train.mrg"});
  step("", {"generate", "treebank", "-n", "100", "--seed", "2", "-o", "dev.mrg"});
  step("", {"generate", "treebank", "-n", "200", "--seed", "3", "-o", "test.mrg"});
  step("a CRF over the derivations of a grammar that is read off the trees, within 1 % of its optimum",
       {"train", "treebank", "train.mrg", "--dev", "dev.mrg", "--gap", "1e-2", "--hash-bits", "14", "-o",
        "parser.esp"});
  step("how good is it?", {"eval", "parser.esp", "test.mrg"});
  step("what did it learn, and how close to the best possible is it?", {"show", "parser.esp", "--top", "5"});
  step("a sentence that it has not seen",
       {"generate", "treebank", "-n", "1", "--seed", "4", "-o", "new.mrg"});
  step("", {"predict", "parser.esp", "new.mrg"});
  fmt::print("\nNext: your own data. 'espalier train treebank --help' has the options.\n");
  return kSuccess;
}

// A picture as it was seen, as it was, and as two models have it.
void show_pictures(const std::string& gold, const std::vector<std::string>& predicted) {
  const auto labels = [](const std::string& file) {
    LineReader reader(file);
    std::string_view line;
    reader.next(line);
    return Json::parse(line);
  };
  std::vector<Json> lines{labels(gold)};
  for (const std::string& file : predicted) lines.push_back(labels(file));
  const std::size_t side = NoisyImage::kSide;
  fmt::print("\n{:<10} {:<10} {:<10} {}\n", "seen", "gold", "alone", "with edges");
  for (std::size_t row = 0; row < side; ++row) {
    for (std::size_t picture = 0; picture <= lines.size(); ++picture) {
      for (std::size_t v = row * side; v < (row + 1) * side; ++v) {
        const bool dark = picture == 0 ? lines[0]["nodes"][v]["features"][0] == "dark"
                                       : lines[picture - 1]["labels"][v] == "ink";
        std::putchar(dark ? '#' : '.');
      }
      std::fputs("   ", stdout);
    }
    std::putchar('\n');
  }
}

int demo_graph() {
  fmt::print(
      "Which pixels of a noisy picture are ink? A graph has a node for each pixel, and edges between "
      "neighbours.\n");
  const DemoFolder folder;
  step("pictures of 8 x 8 pixels, one in five of them wrong",
       {"generate", "graph", "-n", "200", "--seed", "1", "-o", "train.jsonl"});
  step("", {"generate", "graph", "-n", "100", "--seed", "2", "-o", "test.jsonl"});
  step("each pixel for itself, without edges",
       {"train", "graph", "train.jsonl", "--nodes-only", "-o", "alone.esp", "--quiet"});
  step("", {"eval", "alone.esp", "test.jsonl"});
  step("a CRF with edges, by exact inference, within 0.1 % of its optimum",
       {"train", "graph", "train.jsonl", "-o", "edges.esp"});
  step("", {"eval", "edges.esp", "test.jsonl"});
  step("what did it learn, and how close to the best possible is it?", {"show", "edges.esp", "--top", "3"});
  step("use them", {"predict", "alone.esp", "test.jsonl", "-o", "alone.jsonl"});
  step("", {"predict", "edges.esp", "test.jsonl", "-o", "edges.jsonl"});
  show_pictures("test.jsonl", {"alone.jsonl", "edges.jsonl"});
  fmt::print("\nNext: your own data. 'espalier train graph --help' has the options.\n");
  return kSuccess;
}

struct Demo {
  std::string_view task;
  int (*run)();
};
constexpr Demo kDemos[] = {{"tag", demo_tag},
                           {"classify", demo_classify},
                           {"parse", demo_parse},
                           {"treebank", demo_treebank},
                           {"graph", demo_graph}};

int run_demo(const std::string& task) {
  for (const Demo& demo : kDemos) {
    if (demo.task != task) continue;
    const InterruptGuard interrupt;
    try {
      return demo.run();
    } catch (const Interrupted&) {
      return kInterrupted;
    }
  }
  throw Error(
      fmt::format("demo: {} has no demo; expected tag, classify, parse, treebank or graph", in_quotes(task)));
}

}  // namespace

void add_demo(Command program, Action& action) {
  Command command =
      program.add_subcommand("demo", "the main job on built-in data: generate, train, evaluate, predict");
  const auto task = std::make_shared<std::string>("tag");
  command.add_option("TASK", *task, "tag, classify, parse, treebank or graph").capture_default_str();
  command.footer(
      "Examples:\n"
      "  espalier demo\n"
      "  espalier demo classify\n"
      "  espalier demo parse\n"
      "  espalier demo treebank\n"
      "  espalier demo graph");
  command.callback([task, &action] { action = [task] { return run_demo(*task); }; });
}

}  // namespace espalier::cli
