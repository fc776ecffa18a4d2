#pragma once

#include <cstddef>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/string_buffer.h"
#include "espalier/base/error.h"
#include "fleet/bytes.h"
#include "fleet/communicator.h"

namespace espalier {

// While there is one of these, files in blocks (run_blocks) are worked on by all ranks: each reads the whole
// file, rank r works on every K-th block from the r-th on, and rank 0 gets the results and writes them in the
// order of the file. On all others the work ends with the exception Done, since there is nothing to say.
class BlocksOnRanks {
 public:
  struct Done {};

  explicit BlocksOnRanks(Communicator& fleet);
  ~BlocksOnRanks();
  BlocksOnRanks(const BlocksOnRanks&) = delete;
  BlocksOnRanks& operator=(const BlocksOnRanks&) = delete;

  static Communicator* fleet();  // nullptr: there is none
};

// Results of a block as bytes, one after the other: what the block has in results().
class ResultWriter {
 public:
  explicit ResultWriter(std::string& bytes) : bytes_(bytes) {}
  template <class... Results>
  void write(const std::tuple<Results&...>& results) {
    std::apply([&](const auto&... result) { (put(result), ...); }, results);
  }

 private:
  template <class T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    append_bytes(bytes_, std::span(&value, 1));
  }
  template <class T>
  void put(const std::vector<T>& values) {
    put(values.size());
    append_bytes(bytes_, std::span(values));
  }
  void put(const std::string& text) {
    put(text.size());
    bytes_ += text;
  }
  void put(const StringBuffer& strings) {
    put(strings.size());
    for (std::size_t i = 0; i < strings.size(); ++i) put(std::string(strings[i]));
  }

  std::string& bytes_;
};

class ResultReader {
 public:
  explicit ResultReader(std::string_view bytes) : bytes_(bytes) {}
  template <class... Results>
  void read(const std::tuple<Results&...>& results) {
    std::apply([&](auto&... result) { (take(result), ...); }, results);
  }

 private:
  template <class T>
  void take(T& value) {
    value = read_bytes<T>(bytes_, at_);
    at_ += sizeof(T);
  }
  std::size_t take_size() {
    std::size_t size = 0;
    take(size);
    return size;
  }
  template <class T>
  void take(std::vector<T>& values) {
    values.resize(take_size());
    copy_bytes(bytes_, at_, std::span(values));
    at_ += values.size() * sizeof(T);
  }
  void take(std::string& text) {
    const std::size_t size = take_size();
    text = bytes_.substr(at_, size);
    at_ += size;
  }
  void take(StringBuffer& strings) {
    strings.clear();
    std::string text;
    for (std::size_t left = take_size(); left > 0; --left) {
      take(text);
      strings.add(text);
    }
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
};

// How the results of K blocks that follow each other come to rank 0: all ranks exchange what they have once
// for each such group, when it is the turn of their block to be written.
class ResultExchange {
 public:
  explicit ResultExchange(Communicator& fleet) : fleet_(fleet), from_(fleet.size()) {}

  bool is_mine(std::size_t block) const { return block % fleet_.size() == fleet_.rank(); }
  bool is_first() const { return fleet_.rank() == 0; }

  // Of this rank's block of the group.
  void hand_in(std::string_view results) { exchange('\0', results); }
  // Ends this rank: rank 0 throws the Error once it gets to the next block of it, or has one of its own.
  [[noreturn]] void fail(const Error& error);
  // On rank 0, of a block that is not its own. Throws the other rank's Error.
  std::string_view results_of(std::size_t block) const;
  // All have come to the end of the file, which had so many blocks.
  void end(std::size_t blocks);

 private:
  void exchange(char failed, std::string_view bytes);

  Communicator& fleet_;
  std::vector<Communicator::Parcel> from_;
  std::size_t groups_ = 0;  // that were exchanged
  std::string mine_;
};

}  // namespace espalier
