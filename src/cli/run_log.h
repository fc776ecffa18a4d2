#pragma once

#include <chrono>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "espalier/base/progress.h"

namespace espalier::cli {

// RUN.jsonl: one JSON object a line, written as it happens so that a running job can be followed. An empty path logs nothing.
class RunLog {
 public:
  explicit RunLog(std::string path) : path_(std::move(path)) {}

  // Creates the file, or goes on with the one of the run that this one resumes; a run that never starts leaves an old one
  // alone. Throws Error where that fails.
  void start(const nlohmann::ordered_json& settings, bool resumed);
  // `dev` is null without held-out data; `where` has what else tells this report from others: a round, a fold.
  void progress(const std::string& solver, double l2, const Progress& progress,
                const nlohmann::ordered_json& dev, const nlohmann::ordered_json& where = nullptr);
  void end(const nlohmann::ordered_json& outcome, const char* name = "end");

 private:
  void write(const nlohmann::ordered_json& event);
  double wall_seconds() const;

  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

}  // namespace espalier::cli
