#pragma once

#include <chrono>
#include <cstddef>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/base/json.h"

namespace espalier::serve {

// What is wrong with a question, for who asked it.
class BadQuestion : public std::runtime_error {
 public:
  explicit BadQuestion(const std::string& message, int status = 400)
      : std::runtime_error(message), status(status) {}
  int status;
};

// What a question may take.
struct QuestionLimits {
  std::size_t kbest = 100;
  std::size_t tokens = 20'000;  // of all sentences
  // Of trees, whose time grows with the cube of a sentence's words, and of which one is not left half done.
  std::size_t parsed_words = 2'000, longest_parsed = 200;
  // Of graphs: how long one takes goes by how its nodes hang together, too, and it is not left half done.
  std::size_t nodes = 5'000, joint_labellings = 5'000'000;
  std::size_t answer = std::size_t{1} << 25;  // bytes
  std::chrono::milliseconds seconds{10'000};  // of work
};

// Looks at the limits while a question is answered.
class Budget {
 public:
  explicit Budget(const QuestionLimits& limits)
      : limits_(limits), end_(std::chrono::steady_clock::now() + limits.seconds) {}

  // Throw BadQuestion.
  void check(const std::string& answer) const;
  void check_tokens(std::size_t tokens) const;
  // The words of sentences that are to be parsed, added one sentence after the other to `all`.
  void check_parsed(std::size_t words, std::size_t& all) const;
  // Nodes of all graphs, and joint labellings of all cliques.
  void check_graphs(std::size_t nodes, std::size_t labellings) const;
  const QuestionLimits& limits() const { return limits_; }

 private:
  const QuestionLimits& limits_;
  std::chrono::steady_clock::time_point end_;
};

// Members of a question. All throw BadQuestion for values of another kind.
void check_members(const Json& question, std::initializer_list<std::string_view> known);
// nullptr where it is not there, or null.
const Json* member(const Json& question, std::string_view name);
std::size_t kbest_of(const Json& question, const Budget& budget);
// "" (none), "label" or "entity".
std::string marginals_of(const Json& question);
// Lists.
const Json& list_of(const Json& value, std::string_view name);

}  // namespace espalier::serve
