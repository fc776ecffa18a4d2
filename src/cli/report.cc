#include <fmt/format.h>
#include <unistd.h>

#include "base/output.h"
#include "cli/commands.h"
#include "cli/run_report.h"
#include "espalier/base/error.h"
#include "espalier/model/model.h"
#include "report/document.h"
#include "report/page.h"

namespace espalier::cli {
namespace {

struct ReportArguments {
  std::string model, data, output = "-";
  std::vector<std::string> logs;
  bool json = false;
};

int write_report(const ReportArguments& arguments) {
  if (arguments.output == "-" && !arguments.json && isatty(STDOUT_FILENO) != 0)
    throw Error("standard output is a terminal; expected -o FILE, such as -o report.html");
  if (arguments.data == "-")
    throw Error("--data: not from standard input, since it is read several times; expected a file");
  const Model model(arguments.model);
  std::vector<RunEvents> runs;
  for (const std::string& log : arguments.logs) runs.push_back(read_run_events(log));
  const Json document = report_document(report_title(arguments.model), &model, runs, arguments.data);
  OutputFile output(arguments.output);
  output.write(arguments.json ? document.dump() + '\n' : report_page(document));
  output.commit();
  return kSuccess;
}

}  // namespace

void add_report(Command program, Action& action) {
  Command command = program.add_subcommand(
      "report", "make a page that shows a model in the browser: certificate, quality, what it learnt");
  const auto arguments = std::make_shared<ReportArguments>();
  command.add_option("MODEL", arguments->model, "a model that train saved").required();
  command.add_option("--log", arguments->logs, "a log of the run that made it, or of others (train --log)")
      .metavar("RUN.jsonl");
  command
      .add_option("--data", arguments->data, "labelled data to measure the model on, such as held-out data")
      .metavar("DEV");
  command.add_option("-o,--output", arguments->output, "where to write; default: standard output")
      .metavar("FILE");
  command.add_flag("--json", arguments->json, "write what the page shows as one JSON object");
  command.footer(
      "Examples:\n"
      "  espalier train tag train.txt --dev dev.txt -o model.esp --log run.jsonl\n"
      "  espalier report model.esp --data dev.txt --log run.jsonl -o report.html\n"
      "  espalier report model.esp --json\n\n"
      "The page is one file, which loads nothing from elsewhere: send it, print it, keep it.");
  command.callback([arguments, &action] { action = [arguments] { return write_report(*arguments); }; });
}

}  // namespace espalier::cli
