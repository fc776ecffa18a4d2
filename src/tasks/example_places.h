#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "espalier/base/error.h"

namespace espalier {

// Where examples begin in the files that they were read from, for messages about them.
class ExamplePlaces {
 public:
  // The line of the next example, from 1. Files come one after the other.
  void add(std::string_view file, std::size_t line) {
    if (begins_file(file, line)) files_.emplace_back(lines_.size(), file);
    lines_.push_back(line);
  }
  std::size_t size() const { return lines_.size(); }
  std::size_t line(std::size_t i) const { return lines_[i]; }
  const std::string& file(std::size_t i) const {
    const auto after =
        std::upper_bound(files_.begin(), files_.end(), i,
                         [](std::size_t example, const std::pair<std::size_t, std::string>& file) {
                           return example < file.first;
                         });
    return std::prev(after)->second;
  }
  // Throws Error::at the line that is so many behind the first one of example i.
  [[noreturn]] void fail(std::size_t i, std::size_t lines, std::string_view found,
                         std::string_view expected) const {
    throw Error::at(file(i), line(i) + lines, found, expected);
  }

  // Adds the examples of other places, which follow these.
  void append(const ExamplePlaces& others) {
    for (const auto& [first, name] : others.files_) {
      if (first > 0 || begins_file(name, others.lines_[first]))
        files_.emplace_back(lines_.size() + first, name);
    }
    lines_.insert(lines_.end(), others.lines_.begin(), others.lines_.end());
  }
  // This file, if it is the first one, begins so many lines earlier than whoever added its examples knew.
  void move_first_file(std::string_view file, std::size_t lines) {
    if (files_.empty() || files_.front().second != file) return;
    const std::size_t end = files_.size() < 2 ? lines_.size() : files_[1].first;
    for (std::size_t i = 0; i < end; ++i) lines_[i] += lines;
  }

 private:
  // One file may come several times.
  bool begins_file(std::string_view file, std::size_t line) const {
    return files_.empty() || files_.back().second != file || line <= lines_.back();
  }

  std::vector<std::size_t> lines_;
  std::vector<std::pair<std::size_t, std::string>> files_;  // with the number of the first example of each
};

}  // namespace espalier
