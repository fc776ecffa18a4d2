#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace espalier {

// A file that appears whole or not at all: written beside its place under a temporary name, and renamed by
// commit(). Destroyed without commit(), it leaves nothing behind and the old file as it was. A name that ends
// in ".gz" or ".zst" is packed. "-" (standard output) and paths that are not regular files (/dev/full, a
// pipe) are written in place, in large chunks; of those, what was written before an error stays written. A
// symbolic link is followed, not replaced, also one that leads to nothing yet. Throws Error (naming the path)
// where it cannot be created, written, flushed or renamed.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  ~OutputFile();
  OutputFile(OutputFile&&) noexcept;

  void write(std::string_view bytes);
  // Flushes, syncs, checks for errors, renames and syncs the folder. Nothing may be written afterwards.
  void commit();

 private:
  struct Sink;
  std::unique_ptr<Sink> sink_;
};

// Where a file appears that is written at this path: symbolic links are followed, also one that leads to
// nothing yet.
std::string followed(const std::string& path);

// Throws Error, as OutputFile would, where nothing can be written at this path, and leaves no trace. A pipe
// is not opened: its reader would take the closing for the end.
void check_writable(const std::string& path);

// Removes the temporary files of whatever is not committed. For a signal handler that ends the program right
// afterwards: it is async-signal-safe.
void remove_temporary_files() noexcept;

}  // namespace espalier
