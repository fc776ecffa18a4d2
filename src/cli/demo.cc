#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/names.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "espalier/base/error.h"
#include "espalier/base/options.h"
#include "espalier/tasks/registry.h"

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
  // Where the demo was called.
  const std::filesystem::path& before() const { return before_; }

 private:
  std::filesystem::path before_, folder_;
};

// Ctrl-C ends the demo by way of its folder's destructor.
struct Interrupted {};

// Shows a command as a user would type it, and runs it.
void step(std::string_view why, const std::vector<std::string>& arguments) {
  fmt::print("{}$ espalier {}\n", why.empty() ? "" : fmt::format("\n# {}\n", why), fmt::join(arguments, " "));
  std::fflush(stdout);
  const int status = run(arguments);
  std::fflush(stdout);
  if (status == kInterrupted || InterruptGuard::interrupted()) throw Interrupted();
  if (status != kSuccess) throw Error("the demo stops here; the command above failed");
}

std::vector<std::string> words_of(std::string_view command) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin < command.size();) {
    const std::size_t end = std::min(command.find(' ', begin), command.size());
    words.emplace_back(command.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

// What follows a word of a command, "-o" say; empty where it has none.
std::string word_after(const std::vector<std::string>& words, std::string_view word) {
  const auto found = std::ranges::find(words, word);
  return found == words.end() || found + 1 == words.end() ? "" : *(found + 1);
}

void run_demo(const TaskEntry& task, bool report) {
  const TaskDemo& demo = task.demo;
  fmt::print("{}\n", demo.question);
  const DemoFolder folder;
  std::string model, data;  // that a report shows: what was trained, and what it was measured on
  for (const TaskDemo::Step& one : demo.steps) {
    std::vector<std::string> words = words_of(one.command);
    if (words.front() == "train") {
      model = word_after(words, "-o");
      if (report) words.insert(words.end(), {"--log", "run.jsonl"});
    }
    if (words.front() == "eval") data = word_after(words, model);
    step(one.why, words);
  }
  if (demo.outcome) fmt::print("\n{}", demo.outcome());
  if (report) {
    const std::string page = (folder.before() / fmt::format("espalier-demo-{}.html", task.name)).string();
    step("a page for the browser", {"report", model, "--data", data, "--log", "run.jsonl", "-o", page});
    fmt::print("{}\n", page);
  }
  fmt::print("\nNext: your own data. 'espalier train {} --help' has the {}.\n", task.name, demo.next);
}

// The names of tasks that have one.
std::vector<std::string> demos() {
  std::vector<std::string> names;
  for (const TaskEntry& task : task_table()) {
    if (!task.demo.steps.empty()) names.emplace_back(task.name);
  }
  return names;
}

int run_demo_of(const std::string& name, bool report) {
  const TaskEntry* task = find_task(name);
  if (task == nullptr || task->demo.steps.empty())
    throw Error("demo: " + unknown_name("task", name, demos()));
  const InterruptGuard interrupt;
  try {
    run_demo(*task, report);
  } catch (const Interrupted&) {
    return kInterrupted;
  }
  return kSuccess;
}

}  // namespace

void add_demo(Command program, Action& action) {
  Command command =
      program.add_subcommand("demo", "a tour with generated data: generate, train, evaluate, predict");
  const std::vector<std::string> names = demos();
  const auto task = std::make_shared<std::string>(names.at(0));
  command.add_option("TASK", *task, listed(names)).capture_default_str().offer(names);
  const auto report = std::make_shared<bool>(false);
  command.add_flag("--report", *report,
                   "also write espalier-demo-TASK.html here: what it made, for the browser");
  std::string examples = "Examples:\n  espalier demo\n  espalier demo --report";
  for (std::size_t i = 1; i < names.size(); ++i) examples += "\n  espalier demo " + names[i];
  command.footer(examples);
  command.callback(
      [task, report, &action] { action = [task, report] { return run_demo_of(*task, *report); }; });
}

}  // namespace espalier::cli
