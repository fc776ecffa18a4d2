// Settings, graphs and checkpoints are JSON: what was read is written, and read again as the same.

#include "espalier/base/json.h"

#include "fuzzing/targets.h"

namespace espalier::fuzz {

void json(std::string_view bytes) {
  try {
    const std::string text = Json::parse(bytes).dump();
    expect(Json::parse(text).dump() == text, "JSON that is written as it was read");
  } catch (const JsonError&) {
  }
}

}  // namespace espalier::fuzz
