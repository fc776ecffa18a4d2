#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace espalier {

// A file that appears whole or not at all: written beside its place under a temporary name, and renamed by
// commit(). Destroyed without commit(), it leaves nothing behind. "-" is standard output, written through as
// it comes; a name that ends in ".gz" or ".zst" is packed. A path that is not a regular file (/dev/stdout,
// /dev/full, a pipe) is written in place. Throws Error (naming the path) where it cannot be created, written,
// flushed or renamed.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  ~OutputFile();
  OutputFile(OutputFile&&) noexcept;

  void write(std::string_view bytes);
  // Flushes, syncs, checks for errors and renames. Nothing may be written afterwards.
  void commit();

 private:
  struct Sink;
  std::unique_ptr<Sink> sink_;
};

}  // namespace espalier
