#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}

namespace espalier {

// The regular expressions of Wapiti's patterns, which are a small language of their own:
//   .  any character          \a \d \l \p \s \u \w
//      letter, digit, lower case, punctuation, space, upper case, letter or digit
//   x  itself                 \A \D \L ...          any character but those; \x for other x is x itself
//   ^  at the front, $ at the end: the ends of the text; elsewhere themselves
//   x* as few as will do      x? one if that will do
// Characters are bytes and classes those of ASCII. The match is the leftmost one.

// The same in RE2's syntax; none where a * or ? has nothing before it that it could repeat.
std::optional<std::string> wapiti_regex_as_re2(std::string_view regex);

// Const and thread-safe.
class WapitiRegex {
 public:
  // Bytes of a longest expression: how long one takes grows with its length times that of what it looks at,
  // and no more than RE2 has room for by default.
  static constexpr std::size_t kLongest = 1000;

  // Takes what wapiti_regex_as_re2() gives.
  explicit WapitiRegex(const std::string& re2);
  ~WapitiRegex();

  bool matches(std::string_view text) const;
  // The part of the text that matches; empty where none does.
  std::string_view match(std::string_view text) const;

 private:
  std::unique_ptr<const re2::RE2> regex_;
};

}  // namespace espalier
