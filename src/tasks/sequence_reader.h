#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/input.h"
#include "base/string_buffer.h"
#include "base/text_chunks.h"
#include "tasks/tag/reader.h"

namespace espalier {

// What separates the fields of a line in column files.
constexpr bool is_white_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// Whether a line of a column file begins a document: its first field is -DOCSTART-.
bool begins_document(std::string_view line);

// Where a file of sequences may be cut. Documents that begin after a cut count from 0 in a reader of what
// follows.
FindCut sequence_cut(const TagInput& input);

// What is known of a file once its first sequence was read. Of several files, the first line is that of the
// first one that has any.
struct SequenceFile {
  std::string name;        // of the one that is being read
  std::string first_line;  // of the first token
  std::size_t first_line_number = 0;
  std::string first_name{};  // of its file

  // "line 3", "line 3 of part-1.txt"
  std::string first_place() const;
};

// The lines of one sequence, one per token, and where they are in their file.
class SequenceLines {
 public:
  SequenceLines() = default;
  // Lines begin to end - 1 of `lines`.
  SequenceLines(const SequenceFile& file, const StringBuffer& lines, std::size_t begin, std::size_t end,
                std::size_t first_line, double weight)
      : file_(&file), lines_(&lines), begin_(begin), end_(end), first_line_(first_line), weight_(weight) {}

  std::size_t size() const { return end_ - begin_; }
  std::string_view line(std::size_t t) const { return (*lines_)[begin_ + t]; }
  std::size_t line_number(std::size_t t) const { return first_line_ + t; }
  const SequenceFile& file() const { return *file_; }
  const std::string& name() const { return file_->name; }
  // What a comment says, or 1.
  double weight() const { return weight_; }

  // Throws Error::at the line of token t.
  [[noreturn]] void fail(std::size_t t, std::string_view found, std::string_view expected) const;

 private:
  const SequenceFile* file_ = nullptr;
  const StringBuffer* lines_ = nullptr;
  std::size_t begin_ = 0, end_ = 0, first_line_ = 0;
  double weight_ = 1;
};

// Sequences as their lines, to be parsed later or by another thread.
class SequenceBlock {
 public:
  void clear() {
    lines_.clear();
    before_.clear();
    sequences_.clear();
    after_.clear();
  }
  std::size_t size() const { return sequences_.size(); }
  std::size_t num_bytes() const { return lines_.num_bytes(); }
  std::size_t length(std::size_t i) const { return sequences_[i].end - sequences_[i].begin; }
  SequenceLines sequence(const SequenceFile& file, std::size_t i) const {
    const Place& place = sequences_[i];
    return {file, lines_, place.begin, place.end, place.first_line, place.weight};
  }
  // For sequences that are no lines of a file: adds a line, and ends the sequence.
  void add_line(std::string_view line) { lines_.add(line); }
  void end_sequence(std::size_t first_line) {
    sequences_.push_back({sequences_.empty() ? 0 : sequences_.back().end, lines_.size(), first_line, 1});
    before_.add({});
  }
  // The lines between the sequence before (and the blank line that ended it) and this one; after the last
  // sequence of the file.
  std::string_view before(std::size_t i) const { return before_[i]; }
  std::string_view after() const { return after_; }

 private:
  friend class SequenceReader;
  struct Place {
    std::size_t begin, end, first_line;
    double weight;
  };
  StringBuffer lines_, before_;
  std::vector<Place> sequences_;
  std::string after_;
};

// Files of lines, one per token, with blank lines between sequences. Lines that are not tokens: in column
// files those whose first field is -DOCSTART-, which end a sequence as blank lines do; and, where the input
// has them, comments "# weight: NUMBER" before a sequence.
class SequenceReader {
 public:
  // What happens to lines that are no tokens: they are forgotten, or SequenceBlock has them.
  enum class Between { forget, keep };

  SequenceReader(const InputFiles& files, const TagInput& input, Between between = Between::forget);
  // A part of a file, which has to stay where it is: `file` is what is known of it, or of the first part
  // nullptr.
  SequenceReader(const TextChunk& chunk, const TagInput& input, const SequenceFile* file = nullptr);

  // Goes on to the next sequence; false at the end of the last file.
  bool next() {
    block_.clear();
    return append_next(block_);
  }
  // That sequence. Valid until the next one.
  SequenceLines lines() const { return block_.sequence(file_, 0); }
  // The lines before it, or after the last one.
  std::string_view before() const { return block_.size() > 0 ? block_.before(0) : block_.after(); }
  // How many lines that begin a document are before it in the file.
  std::size_t num_documents() const { return num_documents_; }
  // The same, after others, of a single file. Where lines between are kept, also false after kMostBetween
  // bytes of them: at the end of the file the block has neither sequences nor lines.
  bool append_next(SequenceBlock& to);
  static constexpr std::size_t kMostBetween = std::size_t{1} << 20;

  const SequenceFile& file() const { return file_; }
  const std::string& name() const { return file_.name; }

 private:
  void keep(std::string_view line, std::string& before) const;
  void take_weight(std::string_view line, bool inside, std::optional<double>& weight) const;

  bool open_next();

  std::vector<std::string> paths_;  // of files
  std::size_t opened_ = 0;          // of these
  std::optional<LineReader> reader_;
  bool documents_, weights_, keeps_between_ = false;
  SequenceFile file_;
  SequenceBlock block_;
  std::string before_, next_before_;
  std::size_t num_documents_ = 0;
  bool ended_document_ = false;  // the last sequence, which a boundary ended
};

}  // namespace espalier
