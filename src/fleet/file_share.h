#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/text_chunks.h"
#include "espalier/base/input_files.h"
#include "fleet/communicator.h"

namespace espalier {

// Reading by several ranks: each reads a share of the input, in their order, and none reads another's.

// What one rank reads. A plain file may be cut, at the end of a record; packed ones are read as a whole.
struct FileShare {
  // How much is looked at to find the end of a record, if it is found there.
  static inline std::size_t first_look = 512;  // tests have smaller ones

  std::vector<TextRange> ranges;  // at least one
  std::size_t first_file = 0;     // that of the first range; each of the others has the file after it
};

// About as many bytes for each rank. `find_cut` must not need to be shown the begin of a record
// (cut_after_line and cut_after_blank_line do not). nullopt on all ranks where there is nothing to read for
// one of them, or a file that cannot be cut and read from anywhere, such as standard input. Throws Error
// where ranks have other files. All ranks call it at the same time.
std::optional<FileShare> find_share(const InputFiles& files, const FindCut& find_cut, Communicator& fleet);

// How all ranks have read their shares.
struct ShareOutcome {
  std::size_t lines_before = 0;  // of the first range: in its file, read by other ranks
  std::optional<std::size_t>
      failed{};  // the first rank that could not; what those behind it met is no matter
};
// `failed`: this one could not. `num_lines` are those of its ranges (ChunkReader::num_lines) otherwise.
ShareOutcome compare_shares(const FileShare& share, bool failed, std::span<const std::size_t> num_lines,
                            Communicator& fleet);

// Throws the Error that `fail` throws on one of the ranks: on rank 0, while the others wait for it to end
// them. So the message is that of a single process.
[[noreturn]] void fail_as(std::size_t rank, Communicator& fleet, const std::function<void()>& fail);

// Does something on all ranks, each with its own share. Where it throws Error on some, all end with the first
// one's.
void do_on_shares(Communicator& fleet, const std::function<void()>& what);

}  // namespace espalier
