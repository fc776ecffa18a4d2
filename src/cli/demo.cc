#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "cli/commands.h"
#include "espalier/base/error.h"
#include "espalier/base/input.h"

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
  if (status == kInterrupted) throw Interrupted();
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
      {"train", "classify", "train.txt", "--format", "crfsuite", "--dev", "dev.txt", "--l2", "auto",
       "--l2-max", "30", "--factor", "0.5", "-o", "topics.esp"});
  step("how good is it?", {"eval", "topics.esp", "test.txt"});
  step("what did it learn, and how close to the best possible is it?", {"show", "topics.esp", "--top", "3"});
  step("use it", {"predict", "topics.esp", "test.txt", "-o", "labels.txt"});
  show_predictions("test.txt", "labels.txt", 5);
  fmt::print("\nNext: your own data. 'espalier train classify --help' has the formats and options.\n");
  return kSuccess;
}

}  // namespace

void add_demo(CLI::App& program, Action& action) {
  CLI::App* command =
      program.add_subcommand("demo", "the main job on built-in data: generate, train, evaluate, predict");
  const auto task = std::make_shared<std::string>("classify");
  command->add_option("TASK", *task, "classify")->capture_default_str();
  command->footer("Example:\n  espalier demo");
  command->callback([task, &action] {
    action = [task] {
      if (*task != "classify") {
        throw Error(fmt::format("demo: {} has no demo; expected classify", in_quotes(*task)));
      }
      try {
        return demo_classify();
      } catch (const Interrupted&) {
        return kInterrupted;
      }
    };
  });
}

}  // namespace espalier::cli
