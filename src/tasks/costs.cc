#include "tasks/costs.h"

#include <fmt/format.h>

#include <array>

#include "base/input.h"
#include "base/parse_number.h"
#include "espalier/base/error.h"
#include "tasks/fields.h"

namespace espalier {
namespace {

constexpr std::string_view kExpected = "expected GOLD PREDICTED COST";

}  // namespace

std::vector<float> read_costs(const std::string& path, const Dictionary& labels) {
  const std::size_t size = labels.size();
  std::vector<float> costs(size * size, 1.0f);
  for (std::size_t y = 0; y < size; ++y) costs[y * size + y] = 0;
  std::vector<bool> named(size * size);

  LineReader reader(path);
  std::string_view line;
  while (reader.next(line)) {
    std::array<std::string_view, 4> fields;  // one more than there may be
    const std::size_t count = split_fields(line, fields);
    if (count == 0) continue;
    if (count != 3)
      reader.fail(fmt::format("{} fields", count == 4 ? "more than 3" : std::to_string(count)), kExpected);
    std::size_t pair = 0;
    for (const std::string_view name : {fields[0], fields[1]}) {
      const auto id = labels.find(name);
      if (!id)
        reader.fail(fmt::format("the label {}", in_quotes(name)), "expected a label of the training data");
      pair = pair * size + *id;
    }
    const auto cost = parse_float(fields[2]);
    if (!cost || *cost < 0)
      reader.fail(fmt::format("the cost {}", in_quotes(fields[2])), "expected a number >= 0");
    if (pair % (size + 1) == 0 && *cost != 0) {
      reader.fail(fmt::format("the cost {} for the correct label", in_quotes(fields[2])), "expected 0");
    }
    if (named[pair])
      reader.fail(fmt::format("{} {} a second time", in_quotes(fields[0]), in_quotes(fields[1])),
                  "expected each pair once");
    named[pair] = true;
    costs[pair] = *cost;
  }
  return costs;
}

}  // namespace espalier
