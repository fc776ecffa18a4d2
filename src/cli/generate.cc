#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/validators.h"
#include "espalier/base/error.h"
#include "espalier/base/output.h"
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
  throw Error(fmt::format("generate: {} is no task; expected classify, tag, supertag, parse or treebank",
                          in_quotes(task)));
}

}  // namespace

void add_generate(CLI::App& program, Action& action) {
  CLI::App* command =
      program.add_subcommand("generate", "write sentences of a small built-in grammar, to try things with");
  struct Arguments {
    std::string task, output = "-";
    std::uint64_t sentences = 1000, seed = 1;
  };
  const auto arguments = std::make_shared<Arguments>();
  command
      ->add_option("TASK", arguments->task,
                   "classify (topics, CRFsuite format), tag (entities), supertag (hundreds of labels), parse "
                   "(CoNLL-U), "
                   "treebank (brackets)")
      ->required();
  command->add_option("-n,--sentences", arguments->sentences, "how many")
      ->capture_default_str()
      ->check(whole_number_from(0));
  command
      ->add_option("--seed", arguments->seed,
                   "the same seed gives the same sentences; train on one, test on another")
      ->capture_default_str()
      ->check(whole_number_from(0));
  command->add_option("-o,--output", arguments->output, "where to; default: standard output");
  command->footer(
      "Examples:\n"
      "  espalier generate tag -n 10000 --seed 1 -o train.txt\n"
      "  espalier generate classify -n 10000 --seed 2 -o train.txt\n"
      "  espalier generate parse -n 2000 -o train.conllu");
  command->callback([arguments, &action] {
    action = [arguments] {
      const Writer& writer = find_writer(arguments->task);
      OutputFile output(arguments->output);
      SentenceGenerator generator(arguments->seed);
      Sentence sentence;
      std::string buffer;
      constexpr std::size_t kFull = 1 << 20;
      for (std::uint64_t i = 0; i < arguments->sentences; ++i) {
        generator.next(sentence);
        writer.append(sentence, buffer);
        if (buffer.size() < kFull) continue;
        output.write(buffer);
        buffer.clear();
      }
      output.write(buffer);
      output.commit();
      return kSuccess;
    };
  });
}

}  // namespace espalier::cli
