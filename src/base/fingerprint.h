#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace espalier {

// XXH3 (64 bits) of some bytes.
std::uint64_t fingerprint_of(std::string_view bytes);

// XXH3 (64 bits) of data that comes in pieces: equal data have equal ones, and others almost certainly have
// not.
class Fingerprint {
 public:
  Fingerprint();
  ~Fingerprint();

  // Forgets what was added.
  void clear();
  void add_bytes(std::string_view bytes);
  // The values with their number in front, so that lists that follow each other do not run together.
  template <class T>
  void add_list(std::span<const T> values) {
    const std::uint64_t size = values.size();
    add_bytes({reinterpret_cast<const char*>(&size), sizeof(size)});
    add_bytes({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
  }
  std::uint64_t value() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace espalier
