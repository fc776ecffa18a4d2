#include "cli/run_log.h"

#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <filesystem>

#include "cli/commands.h"
#include "espalier/base/error.h"

namespace espalier::cli {
namespace {

// JSON has no infinity: what is not finite is left out.
void set(Json& event, const char* key, double value) {
  if (std::isfinite(value)) event[key] = value;
}

}  // namespace

void RunLog::start(const Json& settings, bool resumed) {
  resumed_ = resumed;
  if (path_.empty() && !keeps_) return;
  const char* mode = resumed ? "a" : "w";
  if (!path_.empty())
    file_.reset(path_ == "-" ? ::fdopen(::dup(STDOUT_FILENO), mode) : std::fopen(path_.c_str(), mode));
  if (!file_ && !path_.empty())
    throw Error::system(path_, "create", errno, "expected a folder that exists and can be written");
  Json event{{"event", "start"}, {"command", given_command()}};
  event.update(settings);
  write(event);
}

void RunLog::progress(const std::string& solver, double l2, const Progress& progress, const Json& dev,
                      const Json& where) {
  Json event{{"event", "progress"}, {"solver", solver}, {"l2", l2}};
  if (!where.is_null()) event.update(where);
  set(event, "pass", progress.passes);
  set(event, "seconds", progress.seconds);
  set(event, "wall_seconds", wall_seconds());
  set(event, "primal", progress.primal);
  set(event, "dual", progress.dual);
  set(event, "gap", progress.gap());
  set(event, "relative_gap", progress.relative_gap());
  if (progress.approximate()) event["approximate"] = true;
  if (!dev.is_null()) event["dev"] = dev;
  write(event);
}

void RunLog::end(const Json& outcome, const char* name) {
  Json event{{"event", name}};
  event.update(outcome);
  set(event, "wall_seconds", wall_seconds());
  write(event);
}

RunEvents RunLog::events() const {
  std::error_code ignored;
  if (resumed_ && std::filesystem::is_regular_file(path_, ignored)) return read_run_events(path_);
  return {path_.empty() ? "this run" : path_, kept_};
}

void RunLog::write(const Json& event) {
  if (keeps_) kept_.push_back(event);
  if (!file_) return;
  const std::string line = event.dump() + '\n';
  if (std::fwrite(line.data(), 1, line.size(), file_.get()) == line.size() && std::fflush(file_.get()) == 0)
    return;
  warn_(Error::system(path_, "write", errno, "the log ends here; the run continues").what());
  file_.reset();
}

double RunLog::wall_seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
}

}  // namespace espalier::cli
