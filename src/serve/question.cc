#include "serve/question.h"

#include <fmt/format.h>

#include <algorithm>

#include "espalier/base/error.h"

namespace espalier::serve {

void Budget::check(const std::string& answer) const {
  if (answer.size() > limits_.answer)
    throw BadQuestion(
        fmt::format("an answer of more than {} bytes; expected a smaller question", limits_.answer), 413);
  if (std::chrono::steady_clock::now() > end_)
    throw BadQuestion(
        fmt::format("more than {} ms of work; expected a smaller question", limits_.seconds.count()), 503);
}

void Budget::check_tokens(std::size_t tokens) const {
  if (tokens > limits_.tokens)
    throw BadQuestion(fmt::format("{} tokens; expected at most {}", tokens, limits_.tokens), 413);
}

void Budget::check_parsed(std::size_t words, std::size_t& all) const {
  if (words > limits_.longest_parsed)
    throw BadQuestion(
        fmt::format("a sentence of {} words; expected at most {}", words, limits_.longest_parsed), 413);
  all += words;
  if (all > limits_.parsed_words)
    throw BadQuestion(fmt::format("{} words and more; expected at most {}", all, limits_.parsed_words), 413);
}

void Budget::check_graphs(std::size_t nodes, std::size_t labellings) const {
  if (nodes > limits_.nodes)
    throw BadQuestion(fmt::format("graphs of {} nodes and more; expected at most {}", nodes, limits_.nodes),
                      413);
  if (labellings > limits_.joint_labellings)
    throw BadQuestion(fmt::format("cliques of {} joint labellings and more; expected at most {}", labellings,
                                  limits_.joint_labellings),
                      413);
}

void check_members(const Json& question, std::initializer_list<std::string_view> known) {
  if (!question.is_object()) throw BadQuestion("expected a JSON object");
  for (const Json::Member& member : question.items()) {
    if (std::ranges::find(known, std::string_view(member.key)) != known.end()) continue;
    throw BadQuestion(
        fmt::format("the member {}; expected {}", in_quotes(member.key), fmt::join(known, ", ")));
  }
}

const Json* member(const Json& question, std::string_view name) {
  if (!question.contains(name) || question.at(name).is_null()) return nullptr;
  return &question.at(name);
}

const Json& list_of(const Json& value, std::string_view name) {
  if (!value.is_array()) throw BadQuestion(fmt::format("{}: expected a list", name));
  return value;
}

std::size_t kbest_of(const Json& question, const Budget& budget) {
  const Json* value = member(question, "kbest");
  if (value == nullptr) return 0;
  const std::size_t most = budget.limits().kbest;
  if (!value->is_unsigned() || *value == Json(0) || value->get<std::uint64_t>() > most)
    throw BadQuestion(fmt::format("kbest: expected a whole number from 1 to {}", most));
  return value->get<std::size_t>();
}

std::string marginals_of(const Json& question) {
  const Json* value = member(question, "marginals");
  if (value == nullptr || *value == Json(false)) return "";
  if (*value == Json(true) || *value == Json("label")) return "label";
  if (*value == Json("entity")) return "entity";
  throw BadQuestion("marginals: expected true, \"label\" or, of taggers, \"entity\"");
}

}  // namespace espalier::serve
