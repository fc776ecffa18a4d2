#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/base/input.h"
#include "espalier/base/string_buffer.h"

namespace espalier {

// What separates the fields of a line in column files.
constexpr bool is_white_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// What is known of a file once its first sequence was read.
struct SequenceFile {
  std::string name;
  std::string first_line;  // of the first token
  std::size_t first_line_number = 0;
};

// The lines of one sequence, one a token, and where they are in their file.
class SequenceLines {
 public:
  SequenceLines() = default;
  // Lines begin to end - 1 of `lines`.
  SequenceLines(const SequenceFile& file, const StringBuffer& lines, std::size_t begin, std::size_t end,
                std::size_t first_line)
      : file_(&file), lines_(&lines), begin_(begin), end_(end), first_line_(first_line) {}

  std::size_t size() const { return end_ - begin_; }
  std::string_view line(std::size_t t) const { return (*lines_)[begin_ + t]; }
  std::size_t line_number(std::size_t t) const { return first_line_ + t; }
  const SequenceFile& file() const { return *file_; }
  const std::string& name() const { return file_->name; }

  // Throws Error::at the line of token t.
  [[noreturn]] void fail(std::size_t t, std::string_view found, std::string_view expected) const;

 private:
  const SequenceFile* file_ = nullptr;
  const StringBuffer* lines_ = nullptr;
  std::size_t begin_ = 0, end_ = 0, first_line_ = 0;
};

// Sequences as their lines, to be parsed later or by another thread.
class SequenceBlock {
 public:
  void clear() {
    lines_.clear();
    sequences_.clear();
  }
  std::size_t size() const { return sequences_.size(); }
  std::size_t num_bytes() const { return lines_.num_bytes(); }
  std::size_t length(std::size_t i) const { return sequences_[i].end - sequences_[i].begin; }
  SequenceLines sequence(const SequenceFile& file, std::size_t i) const {
    return {file, lines_, sequences_[i].begin, sequences_[i].end, sequences_[i].first_line};
  }

 private:
  friend class SequenceReader;
  struct Place {
    std::size_t begin, end, first_line;
  };
  StringBuffer lines_;
  std::vector<Place> sequences_;
};

// A file of lines, one a token, with blank lines between sequences.
class SequenceReader {
 public:
  explicit SequenceReader(const std::string& path) : reader_(path), file_{reader_.name(), {}, 0} {}

  // Goes on to the next sequence; false at the end of the file.
  bool next() {
    block_.clear();
    return append_next(block_);
  }
  // That sequence. Valid until the next one.
  SequenceLines lines() const { return block_.sequence(file_, 0); }
  // The same, behind others.
  bool append_next(SequenceBlock& to);

  const SequenceFile& file() const { return file_; }
  const std::string& name() const { return file_.name; }

 private:
  LineReader reader_;
  SequenceFile file_;
  SequenceBlock block_;
};

}  // namespace espalier
