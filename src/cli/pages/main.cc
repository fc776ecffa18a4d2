// espalier_pages FOLDER DATE: writes the manual pages to FOLDER/man1 and the completions to FOLDER/bash and
// FOLDER/zsh. Run by the build.

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>

#include "cli/commands.h"
#include "cli/pages/pages.h"
#include "espalier/base/error.h"
#include "espalier/version.h"

namespace espalier::cli {

std::vector<const CommandDescription*> all_commands(const CommandDescription& program) {
  std::vector<const CommandDescription*> all;
  for (const CommandDescription& command : program.commands) {
    all.push_back(&command);
    for (const CommandDescription* one : all_commands(command)) all.push_back(one);
  }
  return all;
}

std::string words_of(const CommandDescription& command) {
  return fmt::format("{}", fmt::join(command.path.begin() + 1, command.path.end(), " "));
}

namespace {

void write_page(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw Error::in(path.string(), "cannot be written", "expected a folder to write to");
}

void write_man_pages(const std::filesystem::path& folder, const CommandDescription& command,
                     const CommandDescription* parent, const std::string& date) {
  write_page(folder / (command.name("-") + ".1"), man_page(command, parent, ESPALIER_VERSION, date));
  for (const CommandDescription& one : command.commands) write_man_pages(folder, one, &command, date);
}

}  // namespace
}  // namespace espalier::cli

int main(int argc, char** argv) {
  using namespace espalier::cli;
  if (argc != 3) {
    std::fputs("usage: espalier_pages FOLDER DATE\n", stderr);
    return kUserError;
  }
  try {
    const std::filesystem::path folder = argv[1];
    Action none;
    const CommandDescription program = make_program(none).describe();
    write_man_pages(folder / "man1", program, nullptr, argv[2]);
    write_page(folder / "bash" / "espalier", bash_completion(program));
    write_page(folder / "zsh" / "_espalier", zsh_completion(program));
  } catch (const std::exception& e) {
    complain(e.what());
    return kUserError;
  }
  return kSuccess;
}
