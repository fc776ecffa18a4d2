#include "cli/file_roles.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/output.h"
#include "espalier/base/error.h"
#include "espalier/tasks/registry.h"

namespace espalier::cli {
namespace {

namespace fs = std::filesystem;

enum class Use { reads, writes };

struct Role {
  std::string option;  // without dashes; arguments without a name of their own are capitals
  Use use;
  std::string what;
  std::string command{};  // where it means something else than elsewhere
};
// Every option of every command whose value is a file, but for those of single tasks. A checkpoint that is
// gone on from is read and written, too.
const Role kRoles[] = {
    {"output", Use::writes, "the output (-o)"},
    {"log", Use::reads, "the log (--log)", "report"},
    {"log", Use::writes, "the log (--log)"},
    {"report", Use::writes, "the report (--report)"},
    {"checkpoint", Use::writes, "the checkpoint (--checkpoint)"},
    {"picture", Use::writes, "the picture (--picture)"},
    {"TRAIN", Use::reads, "the training data"},
    {"dev", Use::reads, "the held-out data (--dev)"},
    {"init", Use::reads, "the model to start from (--init)"},
    {"MODEL", Use::reads, "the model"},
    {"OTHER", Use::reads, "the other model"},
    {"INPUT", Use::reads, "the input"},
    {"GOLD", Use::reads, "the labelled data"},
    {"DATA", Use::reads, "the training data"},
    {"data", Use::reads, "the labelled data (--data)", "report"},
    {"data", Use::reads, "the training data (--data)"},
    {"FILE", Use::reads, "the graphical model"},
    {"evidence", Use::reads, "the evidence (--evidence)"},
};

std::vector<Role> all_roles() {
  std::vector<Role> roles(std::begin(kRoles), std::end(kRoles));
  for (const TaskEntry& task : task_table()) {
    for (const OptionTable* options : {&task.options(), &task.predict_options()}) {
      for (const OptionRow& row : options->rows()) {
        if (row.file.empty()) continue;
        roles.push_back(
            {row.argument().substr(2), Use::reads, fmt::format("{} ({})", row.file, row.argument())});
      }
    }
  }
  return roles;
}

// What makes two files the same one.
struct Identity {
  dev_t device = 0;
  ino_t inode = 0;
  std::string place;  // of a file that does not exist yet, which has neither
  bool operator==(const Identity&) const = default;
};

fs::path place_of(const std::string& path) {
  std::error_code failed;
  const fs::path file = followed(path), place = fs::weakly_canonical(fs::absolute(file, failed), failed);
  return failed ? file : place;
}

// nullopt for what cannot be lost by writing to it.
std::optional<Identity> identify(const std::string& path, Use use) {
  struct stat status {};
  const bool standard_input = path == "-" && use == Use::reads;
  if (path == "-" && !standard_input) return std::nullopt;
  if ((standard_input ? ::fstat(STDIN_FILENO, &status) : ::stat(path.c_str(), &status)) != 0) {
    return Identity{0, 0, place_of(path).string()};
  }
  if (!S_ISREG(status.st_mode)) return std::nullopt;
  return Identity{status.st_dev, status.st_ino, ""};
}

struct File {
  const Role* role;
  std::string path;
  Identity identity;
};

void collect(const GivenOption& option, const std::vector<Role>& roles, std::vector<File>& files) {
  const auto role = std::ranges::find_if(roles, [&](const Role& one) {
    return one.option == option.plain && (one.command.empty() || one.command == option.command);
  });
  if (role == roles.end()) return;
  std::vector<std::string> paths = option.values;
  if (paths.empty() && role->option == "INPUT") paths = {"-"};
  for (const std::string& path : paths) {
    if (role->use == Use::writes && path.empty()) {
      throw Error(fmt::format("{}: empty name; expected the name of a file", option.name));
    }
    if (const auto identity = identify(path, role->use)) files.push_back({&*role, path, *identity});
    // IMAGES,LABELS
    const std::size_t comma = path.find(',');
    if (role->use == Use::writes || comma == std::string::npos) continue;
    for (const std::string& part : {path.substr(0, comma), path.substr(comma + 1)}) {
      if (const auto identity = identify(part, role->use)) files.push_back({&*role, part, *identity});
    }
  }
}

}  // namespace

void check_files(const std::vector<GivenOption>& options) {
  const std::vector<Role> roles = all_roles();
  std::vector<File> files;
  for (const GivenOption& option : options) collect(option, roles, files);
  // What is said does not depend on the order of options in the help.
  std::ranges::stable_sort(files, std::less<>(), &File::role);
  for (const File& written : files) {
    if (written.role->use != Use::writes) continue;
    for (const File& other : files) {
      if (&other == &written || !(other.identity == written.identity)) continue;
      std::string alias;
      if (other.path != written.path)
        alias = fmt::format("(as {}) ", other.path == "-" ? "standard input" : other.path);
      const std::string named = written.role->what.substr(0, written.role->what.find(" ("));
      throw Error::in(written.path,
                      fmt::format("is both {} and {}{}", written.role->what, alias, other.role->what),
                      fmt::format("expected another file for {}", named));
    }
  }
}

}  // namespace espalier::cli
