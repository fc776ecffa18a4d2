#pragma once

#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "espalier/base/json.h"
#include "espalier/base/progress.h"
#include "report/run_events.h"

namespace espalier::cli {

// RUN.jsonl: one JSON object per line, written as it happens so that a running job can be followed. An empty
// path logs nothing. A log that cannot be written any more, on a full disk say, ends there: `warn` is told,
// once, and the run continues without it.
class RunLog {
 public:
  RunLog(std::string path, std::function<void(const std::string&)> warn)
      : path_(std::move(path)), warn_(std::move(warn)) {}

  // Keeps what is logged from now on, with or without a file.
  void keep() { keeps_ = true; }
  // Those that were kept; of a run that went on from another one, what the log has of that, too.
  RunEvents events() const;

  // Creates the file, or continues with the one of the run that this one resumes; a run that never starts
  // leaves an old one alone. A pipe is opened but once, and waits for its reader. Throws Error if it cannot
  // be opened.
  void start(const Json& settings, bool resumed);
  // `dev` is null without held-out data; `where` has what else tells this report from others: a round, a
  // fold.
  void progress(const std::string& solver, double l2, const Progress& progress, const Json& dev,
                const Json& where = nullptr);
  void end(const Json& outcome, const char* name = "end");

 private:
  void write(const Json& event);
  double wall_seconds() const;

  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string path_;
  std::function<void(const std::string&)> warn_;
  std::unique_ptr<std::FILE, Close> file_;
  bool keeps_ = false, resumed_ = false;
  std::vector<Json> kept_;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

}  // namespace espalier::cli
