#include <fmt/format.h>

#include <functional>

#include "cli/commands.h"
#include "cli/validators.h"
#include "espalier/base/error.h"
#include "espalier/base/output.h"
#include "espalier/generate/images.h"
#include "espalier/generate/sentence_generator.h"
#include "espalier/generate/writers.h"

namespace espalier::cli {
namespace {

struct Writer {
  std::string_view task;
  void (*append)(const Sentence&, std::string&);
};
constexpr Writer kWriters[] = {{"classify", append_classify},
                               {"tag", append_tag},
                               {"supertag", append_supertag},
                               {"parse", append_parse},
                               {"treebank", append_treebank}};

const Writer& find_writer(std::string_view task) {
  for (const Writer& writer : kWriters) {
    if (writer.task == task) return writer;
  }
  throw Error(
      fmt::format("generate: {} is no task; expected classify, tag, supertag, parse, treebank or graph",
                  in_quotes(task)));
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
      "generate", "write sentences of a small built-in grammar, or small pictures, to try things with");
  struct Arguments {
    std::string task, output = "-";
    std::uint64_t sentences = 1000, seed = 1;
  };
  const auto arguments = std::make_shared<Arguments>();
  command
      .add_option("TASK", arguments->task,
                  "classify (topics, CRFsuite format), tag (entities), supertag (hundreds of labels), parse "
                  "(CoNLL-U), "
                  "treebank (brackets), graph (noisy pictures, JSON Lines)")
      .required();
  command.add_option("-n,--sentences", arguments->sentences, "how many")
      .capture_default_str()
      .check(whole_number_from(0));
  command
      .add_option("--seed", arguments->seed,
                  "the same seed gives the same sentences; train on one, test on another")
      .capture_default_str()
      .check(whole_number_from(0));
  command.add_option("-o,--output", arguments->output, "where to; default: standard output");
  command.footer(
      "Examples:\n"
      "  espalier generate tag -n 10000 --seed 1 -o train.txt\n"
      "  espalier generate classify -n 10000 --seed 2 -o train.txt\n"
      "  espalier generate parse -n 2000 -o train.conllu\n"
      "  espalier generate graph -n 200 -o train.jsonl");
  command.callback([arguments, &action] {
    action = [arguments] {
      if (arguments->task == "graph") {
        NoisyImages images(arguments->seed);
        write_all(arguments->output, arguments->sentences,
                  [&](std::string& buffer) { append_graph(images.next(), buffer); });
        return kSuccess;
      }
      const Writer& writer = find_writer(arguments->task);
      SentenceGenerator generator(arguments->seed);
      Sentence sentence;
      write_all(arguments->output, arguments->sentences, [&](std::string& buffer) {
        generator.next(sentence);
        writer.append(sentence, buffer);
      });
      return kSuccess;
    };
  });
}

}  // namespace espalier::cli
