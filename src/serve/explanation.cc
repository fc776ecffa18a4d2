#include "serve/explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "serve/question.h"
#include "tasks/json_lines.h"

namespace espalier::serve {

void append_explanation(std::optional<std::size_t> token, std::string_view label, std::vector<Reason> reasons,
                        std::string& to) {
  constexpr std::size_t kMost = 100;
  double sum = 0;
  for (const Reason& reason : reasons) sum += reason.contribution();
  std::ranges::stable_sort(reasons, [](const Reason& a, const Reason& b) {
    return std::abs(a.contribution()) > std::abs(b.contribution());
  });
  to += '{';
  if (token) append_format(to, "\"token\":{},", *token);
  to += "\"label\":";
  append_json(label, to);
  to += ",\"score\":";
  append_json(sum, to);
  append_format(to, ",\"attributes\":{},\"contributions\":", reasons.size());
  append_json_list(std::min(reasons.size(), kMost), to, [&](std::size_t k) {
    to += "{\"attribute\":";
    append_json(reasons[k].attribute, to);
    if (!reasons[k].before.empty()) {
      to += ",\"before\":";
      append_json_list(reasons[k].before, to);
    }
    to += ",\"value\":";
    append_json(reasons[k].value, to);
    to += ",\"weight\":";
    append_json(reasons[k].weight, to);
    to += ",\"contribution\":";
    append_json(reasons[k].contribution(), to);
    to += '}';
  });
  to += '}';
}

std::optional<std::size_t> explained_number(const Json& explain, const char* name) {
  const Json* value = member(explain, name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_unsigned()) throw BadQuestion(fmt::format("explain: expected the number of a {}", name));
  return value->get<std::size_t>();
}

}  // namespace espalier::serve
