#pragma once

#include <cstddef>
#include <string>

#include "base/input.h"
#include "cli/command_line.h"

namespace espalier::cli {

// --memory of commands that look at what they take on their way: where it is more, an Error ends them. It is
// looked at whenever a part of a file was read, and whenever somebody calls check().
class MemoryLimit {
 public:
  // Adds the option to a command; must outlive the parsing.
  void add_to(Command command);

  bool given() const { return bytes_ > 0; }
  // Before a model is opened. Throws Error where that alone would take more.
  void check_model(const std::string& path) const;
  // `name` is what is worked on.
  void check(const std::string& name) const { check(bytes_, name, "--threads 1, or a larger --memory"); }
  static void check(std::size_t bytes, const std::string& name, const std::string& expected);

  // While it lives, reading checks.
  ReadingObserver observer() const;

 private:
  std::size_t bytes_ = 0;  // 0: no limit
};

}  // namespace espalier::cli
