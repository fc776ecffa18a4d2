#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace espalier {

// The user's mistake, or the machine's (disk full): one sentence that says what was found and what was
// expected. The command line prints it after "espalier: " and exits with status 2.
class Error : public std::runtime_error {
 public:
  // Settings in the message are marked by setting(); what() has their bare names. Whatever it quotes, the
  // message is one_line() and no longer than kLongest.
  explicit Error(const std::string& message);
  static constexpr std::size_t kLongest = 2000;  // bytes; of longer ones the middle is left out

  // "FILE:LINE: found; expected". Lines count from 1.
  static Error at(std::string_view file, std::size_t line, std::string_view found, std::string_view expected);
  // "FILE: found; expected", for what has no line (a binary file, a folder, an option's value).
  static Error in(std::string_view file, std::string_view found, std::string_view expected);
  // "FILE: cannot ACTION: REASON; expected", the reason in the operating system's words. `code` is an errno.
  static Error system(std::string_view file, std::string_view action, int code, std::string_view expected);

  // The message with its marks: for spelled(), and for the message of another Error.
  std::string_view marked() const noexcept { return marked_ ? std::string_view(*marked_) : what(); }

 private:
  // Null where nothing is marked. Shared, since copying an exception must not throw.
  std::shared_ptr<const std::string> marked_;
};

// The name of a setting (hash_bits), marked as one: the command line calls it --hash-bits, so whoever shows a
// text to its users has to find the settings in it.
std::string setting(std::string_view name);
// A text with every marked setting as `spell` writes it.
std::string spelled(std::string_view text, const std::function<std::string(std::string_view name)>& spell);

// The user stopped (Ctrl-C) what was not far enough to leave anything behind.
class Stopped : public std::runtime_error {
 public:
  explicit Stopped(const std::string& message) : std::runtime_error(message) {}
};

[[noreturn]] void expectation_failed(const char* condition, const char* file, int line);

// A text as a terminal may show it: what it could take for commands (control characters), what breaks lines
// or changes the direction of others, and bytes that are not UTF-8 are escaped.
std::string one_line(std::string_view text);
// A piece of user input made fit for a message: shortened, and as one_line() has it, in quotes.
std::string in_quotes(std::string_view text);

}  // namespace espalier

// The programmer's mistake. Active in debug and sanitizer builds of the library; costs nothing elsewhere. Not
// for public headers: they have to mean the same in programs that are built without its flag.
#ifdef ESPALIER_CHECKED
#define ESPALIER_EXPECT(condition) \
  ((condition) ? static_cast<void>(0) : ::espalier::expectation_failed(#condition, __FILE__, __LINE__))
#else
#define ESPALIER_EXPECT(condition) static_cast<void>(sizeof(!(condition)))
#endif
