#include "cli/memory_limit.h"

#include <fmt/format.h>

#include "base/free_memory.h"
#include "base/text.h"
#include "cli/validators.h"
#include "espalier/base/error.h"
#include "espalier/model/open_limit.h"

namespace espalier::cli {

void MemoryLimit::add_to(Command command) {
  command.add_option("--memory", bytes_, "end with an error rather than take more memory")
      .metavar("SIZE")
      .default_str("")
      .check(bytes())
      .advanced();
}

void MemoryLimit::check_model(const std::string& path) const { check_memory_to_open(path, bytes_); }

void MemoryLimit::check(std::size_t bytes, const std::string& name, const std::string& expected) {
  if (bytes == 0) return;
  const auto now = static_cast<double>(resident_memory());
  if (now <= static_cast<double>(bytes)) return;
  throw Error::in(name,
                  fmt::format("{} are in use, more than the {} of --memory", in_bytes(now),
                              in_bytes(static_cast<double>(bytes))),
                  "expected " + expected);
}

ReadingObserver MemoryLimit::observer() const {
  return ReadingObserver([*this](const ReadingProgress& file) { check(file.name); });
}

}  // namespace espalier::cli
