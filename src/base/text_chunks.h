#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/input.h"
#include "base/pipeline.h"

namespace espalier {

// Some lines of a text file that a reader of its format can read by themselves, as LineReader(chunk).
struct TextChunk {
  std::string name;  // of the file, for messages
  std::string text;
  std::size_t first_line = 1;  // its number in the file
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

// A file, whatever it is packed in, in chunks.
class ChunkReader {
 public:
  ChunkReader(const std::string& path, FindCut find_cut, const ChunkOptions& options = {});

  // False at the end of the file. What cannot be read (corrupt data) is the failure of the chunk before it.
  bool next(TextChunk& chunk);
  // The next one with more than white space; where there is none, the last one of the file.
  bool next_with_text(TextChunk& chunk);
  const std::string& name() const { return bytes_.name(); }

 private:
  void fill();

  ByteReader bytes_;
  FindCut find_cut_;
  std::size_t size_;
  std::string text_;  // that was read and not yet handed over
  std::exception_ptr failure_;
  std::size_t next_line_ = 1;
  bool at_end_ = false, any_ = false;
};

// Reads a file by several workers: parse(worker, chunk, part) is done by several of them at the same time,
// take(worker's number, part) on the caller's thread in the order of the file. What comes out is what one
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
