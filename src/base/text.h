#pragma once

#include <fmt/core.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace espalier {

// 59000 -> "59,000"
std::string grouped(std::size_t number);
// "1 sequence", "59,000 sequences"; the plural is the singular with an s unless it is given.
std::string counted(std::size_t number, std::string_view singular, std::string_view plural = {});

// A percentage, 93.068 -> "93.07". "100.00" and "0.00" are exactly that: 99.996 -> "99.99".
std::string percentage(double percent, int decimals = 2);

// An amount of memory, 3.2e+09 -> "2.98 GiB".
std::string in_bytes(double bytes);

void append_formatted(std::string& to, fmt::string_view format, fmt::format_args arguments);
// to += fmt::format(...) without the string in between. fmt::format_to would compile all of fmt into each
// source that uses it.
template <class... T>
void append_format(std::string& to, fmt::format_string<T...> format, T&&... arguments) {
  append_formatted(to, format, fmt::make_format_args(arguments...));
}

}  // namespace espalier
