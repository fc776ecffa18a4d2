// Relative links and anchors of all pages lead somewhere, and the site's navigation has every page of docs/.

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/input.h"

namespace espalier::links_test {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = ESPALIER_SOURCE_DIR;

struct Link {
  std::size_t line = 0;
  std::string target;
};

struct Page {
  std::set<std::string> anchors;
  std::vector<Link> links;
};

// As web views of repositories name headings: letters in lower case, digits, hyphens and underscores stay, a
// space becomes a hyphen, anything else goes. Headings here have no other letters than those of ASCII.
std::string anchor_of(std::string_view heading) {
  std::string name;
  for (const char c : heading) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '-' || c == '_') name += static_cast<char>(std::tolower(byte));
    if (c == ' ') name += '-';
  }
  return name;
}

// The text of a line without what stands between backticks, which may look like a link.
std::string without_code(std::string_view line) {
  std::string text;
  bool code = false;
  for (const char c : line) {
    if (c == '`') code = !code;
    if (!code) text += c;
  }
  return text;
}

// The heading of a line such as "## Data"; empty if it is none.
std::string heading_of(const std::string& line) {
  const std::size_t level = line.find_first_not_of('#');
  if (level == 0 || level == std::string::npos || line[level] != ' ') return {};
  return line.substr(level + 1);
}

Page read_page(const std::string& markdown) {
  Page page;
  std::istringstream lines(markdown);
  bool block = false;
  std::size_t number = 0;
  std::map<std::string, int> times;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.starts_with("```") && line.find('`', 3) == std::string::npos) block = !block;
    if (block || line.starts_with("    ")) continue;
    if (const std::string heading = heading_of(line); !heading.empty()) {
      const std::string name = anchor_of(heading);
      const int before = times[name]++;
      page.anchors.insert(before == 0 ? name : name + "-" + std::to_string(before));
    }
    const std::string text = without_code(line);
    for (std::size_t at = 0; (at = text.find("](", at)) != std::string::npos; ++at) {
      const std::size_t end = text.find(')', at);
      page.links.push_back({number, text.substr(at + 2, end == std::string::npos ? end : end - at - 2)});
    }
  }
  return page;
}

std::vector<std::string> pages() {
  std::vector<std::string> names{"README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md",
                                 "bench/README.md"};
  for (const char* folder : {"docs", "examples"}) {
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
      if (entry.path().extension() != ".md") continue;
      names.push_back(entry.path().lexically_relative(kRoot).generic_string());
    }
  }
  std::ranges::sort(names);
  return names;
}

// What is wrong with a link on page `name`, or nothing.
std::string complaint(const std::string& name, const std::string& target) {
  if (target.find("://") != std::string::npos) return {};
  const std::size_t hash = target.find('#');
  const std::string path = target.substr(0, hash);
  const fs::path file = path.empty() ? kRoot / name : kRoot / fs::path(name).parent_path() / path;
  if (!fs::exists(file)) return "no such file";
  if (hash == std::string::npos) return {};
  if (file.extension() != ".md") return "an anchor in what is no page";
  const Page page = read_page(read_all(file.string()));
  return page.anchors.contains(target.substr(hash + 1)) ? "" : "no such heading";
}

TEST(Links, LeadSomewhere) {
  std::size_t links = 0;
  for (const std::string& name : pages()) {
    for (const Link& link : read_page(read_all((kRoot / name).string())).links) {
      ++links;
      EXPECT_EQ(complaint(name, link.target), "") << name << ':' << link.line << ": " << link.target;
    }
  }
  EXPECT_GT(links, 150u);
}

TEST(Links, NavigationHasEveryPage) {
  const std::string navigation = read_all((kRoot / "docs/site/mkdocs.yml").string());
  for (const std::string& name : pages()) {
    if (name.starts_with("examples/")) continue;
    EXPECT_NE(navigation.find(": " + name + "\n"), std::string::npos) << name;
  }
}

TEST(Links, AreReadAsWebViewsReadThem) {
  const Page page = read_page(
      "# Title\n[a](b.md#c) and [d](../e), not `[f](g)`\n```cpp\n# no heading\n[h](i)\n```\n"
      "    [j](k)\n## The `bench.races.svm.race`: C++, `--l2`\n## Title\n#hash\n[l](#title-1)\n");
  EXPECT_EQ(page.anchors, (std::set<std::string>{"title", "the-benchracessvmrace-c---l2", "title-1"}));
  ASSERT_EQ(page.links.size(), 3u);
  EXPECT_EQ(page.links[0].target, "b.md#c");
  EXPECT_EQ(page.links[0].line, 2u);
  EXPECT_EQ(page.links[1].target, "../e");
  EXPECT_EQ(page.links[2].target, "#title-1");
}

TEST(Links, ThatLeadNowhereAreFound) {
  EXPECT_EQ(complaint("docs/tagging.md", "tutorial.md#train"), "");
  EXPECT_EQ(complaint("docs/tagging.md", "../examples"), "");
  EXPECT_EQ(complaint("docs/tagging.md", "https://example.org/"), "");
  EXPECT_EQ(complaint("docs/tagging.md", "tutorials.md"), "no such file");
  EXPECT_EQ(complaint("docs/tagging.md", "tutorial.md#training"), "no such heading");
  EXPECT_EQ(complaint("docs/tagging.md", "../include/espalier/version.h#top"),
            "an anchor in what is no page");
}

}  // namespace
}  // namespace espalier::links_test
