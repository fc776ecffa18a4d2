#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/names.h"
#include "base/output.h"
#include "cli/commands.h"
#include "cli/validators.h"
#include "espalier/base/error.h"
#include "espalier/tasks/registry.h"

namespace espalier::cli {
namespace {

std::vector<TaskGenerator> generators() {
  std::vector<TaskGenerator> all;
  for (const TaskEntry& task : task_table())
    all.insert(all.end(), task.generators.begin(), task.generators.end());
  return all;
}

std::vector<std::string> names_of(const std::vector<TaskGenerator>& all) {
  std::vector<std::string> names;
  names.reserve(all.size());
  for (const TaskGenerator& generator : all) names.emplace_back(generator.name);
  return names;
}

const TaskGenerator& find_generator(const std::vector<TaskGenerator>& all, std::string_view name) {
  const auto found = std::ranges::find(all, name, &TaskGenerator::name);
  if (found != all.end()) return *found;
  throw Error("generate: " + unknown_name("task", name, names_of(all)));
}

// Calls append(buffer) for every piece of the output.
void write_all(const std::string& path, std::uint64_t count,
               const std::function<void(std::string&)>& append) {
  OutputFile output(path);
  std::string buffer;
  constexpr std::size_t kFull = 1 << 20;
  for (std::uint64_t i = 0; i < count; ++i) {
    append(buffer);
    if (buffer.size() < kFull) continue;
    output.write(buffer);
    buffer.clear();
  }
  output.write(buffer);
  output.commit();
}

}  // namespace

void add_generate(Command program, Action& action) {
  Command command = program.add_subcommand(
      "generate", "write sentences from a small built-in grammar, or small pictures, for trying things out");
  struct Arguments {
    std::string task, output = "-";
    std::uint64_t sentences = 1000, seed = 1;
  };
  const auto arguments = std::make_shared<Arguments>();
  std::string kinds;
  for (const TaskGenerator& generator : generators())
    kinds += fmt::format("{}{} ({})", kinds.empty() ? "" : ", ", generator.name, generator.summary);
  command.add_option("TASK", arguments->task, kinds).required().offer(names_of(generators()));
  command.add_option("-n,--sentences", arguments->sentences, "number of sentences, or of pictures")
      .capture_default_str()
      .check(whole_number_from(0));
  command
      .add_option("--seed", arguments->seed,
                  "the same seed gives the same sentences; train on one, test on another")
      .capture_default_str()
      .check(whole_number_from(0));
  command.add_option("-o,--output", arguments->output, "where to write; default: standard output")
      .metavar("FILE");
  command.footer(
      "Examples:\n"
      "  espalier generate tag -n 10000 --seed 1 -o train.txt\n"
      "  espalier generate classify -n 10000 --seed 2 -o train.txt\n"
      "  espalier generate parse -n 2000 -o train.conllu\n"
      "  espalier generate graph -n 200 -o train.jsonl");
  command.callback([arguments, &action] {
    action = [arguments] {
      const std::vector<TaskGenerator> all = generators();
      write_all(arguments->output, arguments->sentences,
                find_generator(all, arguments->task).start(arguments->seed));
      return kSuccess;
    };
  });
}

}  // namespace espalier::cli
