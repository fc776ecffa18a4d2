// Whatever a message quotes, it is one short line that a terminal takes no commands from.

#include "espalier/base/error.h"
#include "fuzzing/targets.h"

namespace espalier::fuzz {

void messages(std::string_view bytes) {
  const std::string quoted = in_quotes(bytes);
  expect(quoted == one_line(quoted) && quoted.size() <= 2 + 3 + 6 * 40, "a quoted text");
  message_of([&] { throw Error::system(bytes, "open", static_cast<int>(bytes.size() % 140), bytes); });
  message_of([&] { throw Error::at(bytes, 1, bytes, setting("l2") + " is " + std::string(bytes)); });
}

}  // namespace espalier::fuzz
