#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace espalier {

// Numbers in the messages of ranks, as they lie in memory: all ranks are machines of one kind.

template <class T>
std::string_view bytes_of(std::span<const T> values) {
  static_assert(std::is_trivially_copyable_v<T>);
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}
template <class T>
void append_bytes(std::string& bytes, std::span<T> values) {
  bytes.append(bytes_of(std::span<const std::remove_const_t<T>>(values)));
}

// What lies from a place on, which need not be aligned.
template <class T>
T read_bytes(std::string_view bytes, std::size_t place) {
  T value;
  std::memcpy(&value, bytes.data() + place, sizeof(T));
  return value;
}
template <class T>
void copy_bytes(std::string_view bytes, std::size_t place, std::span<T> to) {
  std::memcpy(to.data(), bytes.data() + place, to.size_bytes());
}
template <class T>
void add_bytes(std::string_view bytes, std::size_t place, std::span<T> to) {
  const char* from = bytes.data() + place;
  for (std::size_t k = 0; k < to.size(); ++k) {
    T x;
    std::memcpy(&x, from + k * sizeof(T), sizeof(T));
    to[k] += x;
  }
}

}  // namespace espalier
