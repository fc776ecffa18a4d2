#include "report/run_events.h"

#include <optional>

#include "base/input.h"
#include "espalier/base/error.h"

namespace espalier {
namespace {

constexpr const char* kExpectedLog = "expected a run log, as training writes it";

}  // namespace

RunEvents read_run_events(const std::string& path) {
  LineReader lines(path);
  RunEvents run{lines.name(), {}};
  std::optional<std::size_t> broken;
  for (std::string_view line; lines.next(line);) {
    if (broken) throw Error::at(run.name, *broken, "no JSON object", kExpectedLog);
    if (line.empty()) continue;
    Json event;
    try {
      event = Json::parse(line);
    } catch (const JsonError&) {
      broken = lines.line_number();
      continue;
    }
    if (!event.contains("event") || !event.at("event").is_string())
      throw Error::at(run.name, lines.line_number(), "no \"event\"", kExpectedLog);
    run.events.push_back(std::move(event));
  }
  if (run.events.empty()) throw Error::in(run.name, "no event of a run", kExpectedLog);
  return run;
}

}  // namespace espalier
