#pragma once

#include <span>
#include <string>
#include <string_view>

namespace espalier {

// JSON that is written piece by piece: lists of the k best outputs may be longer than memory has room for as
// values.

// A string in quotes. Bytes that are no UTF-8 are replaced.
void append_json(std::string_view text, std::string& to);
// A number, or null where it is not finite.
void append_json(double number, std::string& to);

// [element, element, ...], where append(i) writes the i-th.
template <class Append>
void append_json_list(std::size_t size, std::string& to, const Append& append) {
  to += '[';
  for (std::size_t i = 0; i < size; ++i) {
    if (i > 0) to += ',';
    append(i);
  }
  to += ']';
}
inline void append_json_list(std::span<const std::string_view> texts, std::string& to) {
  append_json_list(texts.size(), to, [&](std::size_t i) { append_json(texts[i], to); });
}

// ,"probability":0.5 where a model has probabilities, else ,"score":1.25
inline void append_json_value(bool is_probability, double value, std::string& to) {
  to += is_probability ? ",\"probability\":" : ",\"score\":";
  append_json(value, to);
}

}  // namespace espalier
