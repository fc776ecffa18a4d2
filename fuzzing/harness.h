#pragma once

// What fuzz targets have in common.

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>

namespace espalier::fuzz {

// A target takes any bytes. It returns, or ends the program where something is wrong.
using Target = void (*)(std::string_view bytes);

// Ends the program with a message if it is not true.
void expect(bool condition, const char* what);

// A file in memory, that is written anew for each input.
class MemoryFile {
 public:
  MemoryFile();
  const std::string& path() const { return path_; }
  const std::string& write(std::string_view bytes);  // returns the path

 private:
  int fd_;
  std::string path_;
};

// The i-th file of a target, which stays for all inputs.
MemoryFile& memory_file(std::size_t i = 0);

// What `read` throws for bad input: the message of an Error, fit to be shown. "" where it throws none.
// Anything else that it throws ends the program.
std::string message_of(const std::function<void()>& read);

// Whether a file of these bytes would be unpacked.
bool is_packed(std::string_view bytes);

// How many bytes a chunk of a file may have, by a choice from 0 to 5: a few, so that there are many chunks.
// Of what is packed, which may be a million newlines, more.
inline std::size_t chunk_bytes(std::size_t choice, std::string_view bytes) {
  constexpr std::size_t kFew = 7, kMany = 4096;
  return is_packed(bytes) ? kMany : 1 + kFew * choice;
}

// Whether this input is one of those for what takes ten times as long as an input does, such as starting
// threads. Every input where there are few, as in CI, or where the variable FUZZ_ALL is set.
bool turn_of_slow();

// The first byte of an input chooses between ways of reading the rest.
class Choices {
 public:
  explicit Choices(std::string_view& bytes);
  // 0 to n - 1. Letters and digits in seeds are as good as any other byte.
  std::size_t below(std::size_t n);
  bool flag() { return below(2) == 1; }

 private:
  std::size_t left_ = 0;
};

// The model file whose header and directory say what these bytes are, as far as they do: with sizes that fit
// and the right checksums, so that what lies behind them is reached.
std::string with_checksums(std::string_view bytes);

// Sections of a file in the repository.
std::string repository_file(const std::string& name);

}  // namespace espalier::fuzz
