#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/input.h"
#include "base/pipeline.h"
#include "espalier/base/input_files.h"

namespace espalier {

// Some lines of a text file that a reader of its format can read by themselves, as LineReader(chunk).
struct TextChunk {
  std::string name;  // of the file, for messages
  std::string text;
  std::size_t first_line = 1;  // its number in the file
  bool begins_file = false;    // where there may be a byte order mark
  std::exception_ptr failure;  // of reading what comes after it
};

// How much of a text may be cut off its front: the longest part that ends with a record and a newline, which
// a reader can read without what follows, and what follows without it. 0: none. The text begins with a
// record.
using FindCut = std::function<std::size_t(std::string_view text)>;

// Records are lines.
std::size_t cut_after_line(std::string_view text);
// Records are lines up to a blank one, of white space alone; blank lines alone may be cut off, too, however
// many there are. ends_record(line) says whether the line before a
// blank one is the last of a record, and not one that belongs to the next.
std::size_t cut_after_blank_line(std::string_view text,
                                 const std::function<bool(std::string_view line)>& ends_record);
// Records are what is between an opening bracket and the closing one.
std::size_t cut_after_brackets(std::string_view text);

struct ChunkOptions {
  // Of a chunk, about. The more, the fewer names that several chunks have; the less, the better the shares.
  static inline std::size_t usual_bytes = std::size_t{1} << 18;  // tests have smaller ones

  std::size_t threads = 1;  // that read; with 2 and more, packed files are unpacked by one more
  std::size_t bytes = usual_bytes;
};

// A file, or a part of one: bytes begin to end - 1, of a file that is not packed. Parts begin with a record.
struct TextRange {
  static constexpr std::uint64_t kToTheEnd = ~std::uint64_t{0};

  std::string path;
  std::uint64_t begin = 0, end = kToTheEnd;
  std::size_t first_line = 1;  // its number in the file, for messages

  bool is_whole() const { return begin == 0 && end == kToTheEnd; }
};
// All of some files.
std::vector<TextRange> whole_files(const InputFiles& files);

// Files, whatever they are packed in, in chunks. None has text of two.
class ChunkReader {
 public:
  ChunkReader(const InputFiles& files, FindCut find_cut, const ChunkOptions& options = {})
      : ChunkReader(whole_files(files), std::move(find_cut), options) {}
  // Requires at least one.
  ChunkReader(std::vector<TextRange> ranges, FindCut find_cut, const ChunkOptions& options = {});

  // False at the end of the last file. What cannot be read (corrupt data) is the failure of the chunk before
  // it.
  bool next(TextChunk& chunk);
  // The lines of each range so far, but for a last one that has no end.
  std::span<const std::size_t> num_lines() const { return num_lines_; }
  // The next one with more than white space; where there is none, the last one of the file.
  bool next_with_text(TextChunk& chunk);

 private:
  void open();
  bool next_of_range(TextChunk& chunk);
  void fill();

  std::vector<TextRange> ranges_;
  std::optional<ByteReader> bytes_;  // of range num_lines_.size() - 1
  FindCut find_cut_;
  std::size_t size_, threads_;
  std::string text_;  // that was read and not yet handed over
  std::exception_ptr failure_;
  std::vector<std::size_t> num_lines_;
  bool at_end_ = false, any_ = false;
};

// Reads files by several workers: parse(worker, chunk, part) is done by several of them at the same time,
// take(worker's number, part) on the caller's thread in the order of the files. What comes out is what one
// worker would make of it: of several chunks that parse() or take() throws for, the first one's exception is
// thrown, and nothing behind it is taken. `before` are chunks that were read already.
template <class Part, class Worker, class Parse, class Take>
void read_in_chunks(ChunkReader& chunks, std::vector<TextChunk> before, std::vector<Worker>& workers,
                    const Parse& parse, const Take& take) {
  struct Slot {
    TextChunk chunk;
    Part part;
    std::size_t worker = 0;
  };
  std::vector<Slot> slots(pipeline_slots(workers.size()));
  std::size_t read = 0;
  PipelineStages stages;
  stages.read = [&](std::size_t slot) {
    if (read == before.size()) return chunks.next(slots[slot].chunk);
    slots[slot].chunk = std::move(before[read++]);
    return true;
  };
  stages.work = [&](std::size_t worker, std::size_t slot) {
    slots[slot].worker = worker;
    slots[slot].part = Part();
    parse(workers[worker], std::as_const(slots[slot].chunk), slots[slot].part);
  };
  stages.write = [&](std::size_t slot) { take(slots[slot].worker, std::move(slots[slot].part)); };
  run_pipeline(workers.size(), stages);
}

}  // namespace espalier
