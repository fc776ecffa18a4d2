// Dependencies point one way, as CONTRIBUTING.md draws them: nobody includes a layer that is not below.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/input.h"

namespace espalier::layers_test {
namespace {

const std::filesystem::path kSource = ESPALIER_SOURCE_DIR;

// From the bottom to the top.
constexpr std::array<std::string_view, 15> kLayers{
    "base",      "fleet", "generate", "kernels", "structures", "features", "learning", "solvers",
    "selection", "tasks", "model",    "train",   "report",     "serve",    "cli"};
// Tasks make problems; they know nothing of who solves them, or of what is chosen by them.
const std::map<std::string, std::set<std::string>> kNotBelow{
    {"tasks", {"solvers", "selection"}},
};

std::optional<std::size_t> rank(std::string_view layer) {
  const auto found = std::find(kLayers.begin(), kLayers.end(), layer);
  if (found == kLayers.end()) return std::nullopt;
  return static_cast<std::size_t>(found - kLayers.begin());
}

// "learning" of "espalier/learning/loss.h" and of "learning/objective.h"; empty where there is no folder.
std::string layer_of(std::string path) {
  if (path.starts_with("espalier/")) path.erase(0, 9);
  const std::size_t slash = path.find('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

std::vector<std::string> included(const std::filesystem::path& file) {
  std::vector<std::string> result;
  std::istringstream lines(read_all(file.string()));
  constexpr std::string_view kDirective = "#include \"";
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(kDirective)) {
      result.push_back(line.substr(kDirective.size(), line.rfind('"') - kDirective.size()));
    }
  }
  return result;
}

TEST(Layers, DependenciesPointDownwards) {
  std::size_t files = 0;
  for (const std::string root : {"include/espalier", "src"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(kSource / root)) {
      const std::string inside = std::filesystem::relative(entry.path(), kSource / root).string();
      const std::string from = layer_of(inside);
      if (!entry.is_regular_file() || from.empty()) continue;
      ++files;
      const auto from_rank = rank(from);
      ASSERT_TRUE(from_rank) << root << '/' << inside << ": a folder that is in no layer";
      for (const std::string& header : included(entry.path())) {
        const std::string to = layer_of(header);
        if (to == from || to.empty()) continue;
        ASSERT_TRUE(rank(to)) << root << '/' << inside << ": " << header;
        const auto not_below = kNotBelow.find(from);
        const bool below =
            *rank(to) < *from_rank && (not_below == kNotBelow.end() || !not_below->second.contains(to));
        EXPECT_TRUE(below) << root << '/' << inside << ": " << header;
      }
    }
  }
  EXPECT_GT(files, 300u);
}

// A task is a room of its own: what two of them need is outside.
TEST(Layers, TasksDoNotKnowEachOther) {
  std::size_t includes = 0;
  const std::filesystem::path tasks = kSource / "src/tasks";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(tasks)) {
    const std::string inside = std::filesystem::relative(entry.path(), tasks).string();
    const std::string room = layer_of(inside);
    if (!entry.is_regular_file() || room.empty()) continue;
    for (std::string header : included(entry.path())) {
      if (!header.starts_with("tasks/")) continue;
      const std::string other = layer_of(header.erase(0, 6));
      EXPECT_TRUE(other.empty() || other == room) << "src/tasks/" << inside << ": tasks/" << header;
      includes += other == room ? 1 : 0;
    }
  }
  EXPECT_GT(includes, 50u);
}

}  // namespace
}  // namespace espalier::layers_test
