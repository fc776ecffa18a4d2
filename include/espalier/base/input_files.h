#pragma once

#include <string>
#include <utility>
#include <vector>

namespace espalier {

// Files that are read as one, one after the other: shards of training data. Whatever a file ends with, its
// last example ends there.
class InputFiles {
 public:
  // "-" is standard input.
  InputFiles(const char* path) : paths_{path} {}
  InputFiles(std::string path) : paths_{std::move(path)} {}
  // Requires at least one.
  InputFiles(std::vector<std::string> paths) : paths_(std::move(paths)) {}

  const std::vector<std::string>& paths() const { return paths_; }
  const std::string& first() const { return paths_.front(); }
  bool several() const { return paths_.size() > 1; }
  // For messages about all of it: "standard input", "train.txt", "part-1.txt and 7 more".
  std::string name() const {
    if (several()) return first() + " and " + std::to_string(paths_.size() - 1) + " more";
    return first() == "-" ? "standard input" : first();
  }

 private:
  std::vector<std::string> paths_;
};

}  // namespace espalier
