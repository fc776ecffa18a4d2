#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace espalier {

// The bytes of a file, whatever it is packed in: plain, gzip (also several members), zstd or xz, told by the
// first bytes, not by the name; "-" is standard input. Reads ahead in large chunks, so memory does not grow
// with the file.
class ByteReader {
 public:
  // Who unpacks: whoever reads, or a thread that is ahead by a few blocks. Files that are not packed, and
  // those that are no regular files (a pipe may never have more to give), need no such thread and have none.
  enum class Unpack { here, ahead };

  // Throws Error if the file cannot be opened, is a folder, or is of a kind that is refused by name.
  explicit ByteReader(const std::string& path, Unpack unpack = Unpack::here);
  // A text in memory, as it is; messages call it `name`. It has to stay where it is. At its end, `failure` is
  // thrown if there is one: what ended the reading of a file, of which this is the last part that was read.
  static ByteReader of_text(std::string_view text, const std::string& name, std::exception_ptr failure = {});
  // Bytes begin to end - 1 of a regular file, as they are in it; fewer where the file ends before.
  static ByteReader of_range(const std::string& path, std::uint64_t begin, std::uint64_t end);
  ~ByteReader();
  ByteReader(ByteReader&&) noexcept;

  // Reads up to n bytes; fewer at the end of the file and in front of what cannot be read, 0 at the end.
  // Throws Error for packed data that is corrupt or truncated, once all that comes before was read: so who
  // reads lines finds the same first error whatever he reads at once.
  std::size_t read(char* to, std::size_t n);
  // Whether what is read is not what is in the file.
  bool is_packed() const;
  // The name for messages: the path, or "standard input" for "-".
  const std::string& name() const;

 private:
  struct Source;
  explicit ByteReader(std::unique_ptr<Source> source);
  std::unique_ptr<Source> source_;
};

// How far the reading of a file is, in bytes as they are in the file, packed or not.
struct ReadingProgress {
  const std::string& name;
  std::uint64_t bytes, size;  // size 0: nobody knows, as of a pipe
};

// While it lives, the function is called now and then by all that is read in this thread: a sign of life.
class ReadingObserver {
 public:
  explicit ReadingObserver(std::function<void(const ReadingProgress&)> observe);
  ~ReadingObserver();
  ReadingObserver(const ReadingObserver&) = delete;
  ReadingObserver& operator=(const ReadingObserver&) = delete;

 private:
  std::function<void(const ReadingProgress&)> observe_;
};

struct TextChunk;

// A text file line by line. The view returned stays valid until the next call. Lines end with LF or CRLF
// (neither is part of the line); a last line without one counts. A UTF-8 byte order mark at the start is
// skipped, and one of UTF-16 or UTF-32 refused.
class LineReader {
 public:
  static constexpr std::size_t kLongestLine = std::size_t{1} << 30;

  explicit LineReader(const std::string& path, std::size_t longest_line = kLongestLine);
  explicit LineReader(ByteReader bytes, std::size_t longest_line = kLongestLine);
  // A part of a file, which has to stay where it is: lines have the numbers that they have in the file.
  explicit LineReader(const TextChunk& chunk, std::size_t longest_line = kLongestLine);

  // False at the end of the file. Throws Error::at for a NUL byte (a binary file) or a line that is too long.
  bool next(std::string_view& line);
  // Number of the line last returned, from 1.
  std::size_t line_number() const { return line_number_; }
  const std::string& name() const { return bytes_.name(); }

  // Throws Error::at this file and the current line.
  [[noreturn]] void fail(std::string_view found, std::string_view expected) const;

 private:
  void check_start();
  void fill();

  ByteReader bytes_;
  std::string buffer_;
  std::size_t longest_line_;
  std::size_t begin_ = 0, end_ = 0;      // what is read but not yet returned is buffer_[begin_, end_)
  std::size_t nul_ = std::string::npos;  // where the first NUL byte of it is
  std::size_t line_number_ = 0;
  bool at_end_ = false;
};

// The whole file, unpacked.
std::string read_all(const std::string& path);

}  // namespace espalier
