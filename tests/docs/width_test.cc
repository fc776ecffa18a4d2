// clang-format keeps code to 110 columns and leaves comments alone; scripts/wrap_comments.py wraps those.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/input.h"

namespace espalier {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kColumns = 110;

// Characters, not bytes.
std::size_t width(std::string_view line) {
  return static_cast<std::size_t>(std::ranges::count_if(line, [](char c) { return (c & 0xC0) != 0x80; }));
}

// A literal may be in one piece that is longer.
bool may_be_longer(std::string_view line) {
  const std::size_t comment = line.find("//");
  return line.substr(0, comment).find('"') != std::string_view::npos;
}

TEST(Sources, KeepToTheColumnLimit) {
  std::size_t files = 0;
  for (const char* folder : {"include", "src", "tests", "examples", "bench"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(ESPALIER_SOURCE_DIR) / folder)) {
      if (entry.path().extension() != ".h" && entry.path().extension() != ".cc") continue;
      ++files;
      LineReader reader(entry.path().string());
      for (std::string_view line; reader.next(line);) {
        EXPECT_TRUE(width(line) <= kColumns || may_be_longer(line))
            << entry.path().string() << ':' << reader.line_number() << ": " << width(line) << " columns";
      }
    }
  }
  EXPECT_GT(files, 600u);
}

}  // namespace
}  // namespace espalier
