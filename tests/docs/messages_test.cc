// Messages of the library name settings, and the command line spells them as options: whoever writes
// "--hash-bits" outside of it has forgotten that programs have no such option.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <regex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/input.h"
#include "espalier/base/options.h"

namespace espalier {
namespace {

const std::filesystem::path kSource = ESPALIER_SOURCE_DIR;

// Calls visit(name, text) for every source of the library.
template <class Visit>
std::size_t for_each_source(const Visit& visit) {
  std::size_t files = 0;
  for (const std::string root : {"include", "src"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(kSource / root)) {
      const std::string name = std::filesystem::relative(entry.path(), kSource).string();
      if (!entry.is_regular_file() || name.starts_with("src/cli/")) continue;
      visit(name, read_all(entry.path().string()));
      ++files;
    }
  }
  return files;
}

// What stands between quotes, escapes as written. The sources have no raw strings.
std::vector<std::string> string_literals(std::string_view text) {
  std::vector<std::string> result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    if (rest.starts_with("//")) {
      i = std::min(text.find('\n', i), text.size());
    } else if (rest.starts_with("'\"'") || rest.starts_with("'\\")) {
      i += 2;  // a character that is no beginning
    } else if (text[i] == '"') {
      std::string literal;
      for (++i; i < text.size() && text[i] != '"'; ++i) {
        literal += text[i];
        if (text[i] == '\\') literal += text[++i];
      }
      result.push_back(std::move(literal));
    }
  }
  return result;
}

// Examples and demos of tasks are commands.
bool is_command(std::string_view literal) {
  if (literal.starts_with("  espalier ")) return true;
  constexpr std::array kCommands{"train ", "predict ", "eval ", "show ", "generate "};
  return std::ranges::any_of(kCommands, [&](const char* name) { return literal.starts_with(name); });
}

bool names_option(const std::string& literal) {
  static const std::regex option("--[a-z]");
  return std::regex_search(literal, option);
}

TEST(Messages, OnlyTheCommandLineHasOptions) {
  std::size_t literals = 0, commands = 0;
  const std::size_t files = for_each_source([&](const std::string& name, const std::string& text) {
    EXPECT_EQ(text.find("R\"("), std::string::npos) << name;
    for (const std::string& literal : string_literals(text)) {
      ++literals;
      if (!names_option(literal)) continue;
      EXPECT_TRUE(is_command(literal)) << name << ": \"" << literal << "\"; expected setting(\"...\")";
      ++commands;
    }
  });
  EXPECT_GT(files, 300u);
  EXPECT_GT(literals, 2000u);
  EXPECT_GT(commands, 20u);
}

TEST(Messages, EverySettingIsADocumentedOption) {
  std::string documentation;
  for (const auto& entry : std::filesystem::directory_iterator(kSource / "docs")) {
    if (entry.is_regular_file()) documentation += read_all(entry.path().string());
  }
  const std::regex call("[^a-z_]setting\\(\"([^\"]*)\"\\)");
  std::size_t settings = 0;
  for_each_source([&](const std::string& name, const std::string& text) {
    for (auto match = std::sregex_iterator(text.begin(), text.end(), call); match != std::sregex_iterator();
         ++match) {
      const std::string option = argument_of((*match)[1].str());
      const std::regex whole(option + "(?![a-z0-9-])");
      EXPECT_TRUE(std::regex_search(documentation, whole))
          << name << ": " << option << " is in no page of docs/";
      ++settings;
    }
  });
  EXPECT_GT(settings, 80u);
}

TEST(Messages, TheTestKnowsLiterals) {
  const std::vector<std::string> expected{"a\\\"b", "// --c", ""};
  EXPECT_EQ(string_literals("f(\"a\\\"b\", '\"', '\\'', \"// --c\");  // \"--d\"\n\"\""), expected);
  EXPECT_TRUE(names_option("with --c 1"));
  EXPECT_FALSE(names_option("-c, -- and --1"));
  EXPECT_TRUE(is_command("  espalier train tag --l2 1"));
  EXPECT_FALSE(is_command("training without --l2"));
}

// A program that includes them is built without the library's own flags, and has to see the same code.
TEST(PublicHeaders, DoNotDependOnPrivateFlags) {
  for_each_source([&](const std::string& name, const std::string& text) {
    if (!name.starts_with("include/") || name == "include/espalier/base/error.h") return;
    for (const char* word : {"ESPALIER_EXPECT", "ESPALIER_CHECKED", "NDEBUG"}) {
      EXPECT_EQ(text.find(word), std::string::npos) << name << ": " << word;
    }
  });
}

}  // namespace
}  // namespace espalier
