#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

// Strings one after the other in memory that is used again and again, so that writing one allocates nothing.
class StringBuffer {
 public:
  void clear() {
    text_.clear();
    ends_.clear();
  }
  // What the string that is being written is appended to.
  std::string& text() { return text_; }
  // Ends it.
  void finish() { ends_.push_back(text_.size()); }
  void add(std::string_view string) {
    text_ += string;
    finish();
  }

  std::size_t size() const { return ends_.size(); }
  std::size_t num_bytes() const { return text_.size(); }
  // Valid until the next one is written.
  std::string_view operator[](std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return {text_.data() + begin, ends_[i] - begin};
  }

 private:
  std::string text_;
  std::vector<std::size_t> ends_;
};

}  // namespace espalier
