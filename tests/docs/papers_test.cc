// Pages that name code name code that is there.

#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "base/input.h"

namespace espalier::papers_test {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = ESPALIER_SOURCE_DIR;

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// The name that a piece of code ends with: "step" of "EgBatch::step", empty for options and commands.
std::string name_of(const std::string& code) {
  std::size_t begin = code.size();
  while (begin > 0 && is_word(code[begin - 1])) --begin;
  const bool plain = code.find_first_of(" -/.") == std::string::npos;
  return plain ? code.substr(begin) : "";
}

bool has_word(std::string_view text, std::string_view word) {
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string_view::npos; ++at) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end]))) return true;
  }
  return false;
}

// `name`, `name` (file, file): every file has one of the names, and every name is in one of the files.
void check_page(const std::string& page, std::size_t fewest) {
  const std::regex piece(
      R"(`([^`]+)`|\(([^()|]*\b(?:src|include|tests)/[^()|]*)\)|((?:src|include|tests|examples)/[\w./]+))");
  const std::regex path(R"((?:src|include|tests|examples)/[\w./]+)");
  std::size_t checked = 0;
  LineReader reader((kRoot / page).string());
  std::string_view text;
  while (reader.next(text)) {
    if (!text.starts_with("|")) continue;
    const std::string line(text);
    const std::string where = page + ':' + std::to_string(reader.line_number());
    std::vector<std::string> names;
    for (std::sregex_iterator at(line.begin(), line.end(), piece), end; at != end; ++at) {
      if ((*at)[1].matched) {
        const std::string name = name_of((*at)[1]);
        if (!name.empty()) names.push_back(name);
        continue;
      }
      const std::string files = (*at)[2].matched ? (*at)[2].str() : (*at)[3].str();
      std::vector<std::string> contents;
      for (std::sregex_iterator f(files.begin(), files.end(), path); f != std::sregex_iterator(); ++f) {
        const fs::path file = kRoot / f->str();
        EXPECT_TRUE(fs::exists(file)) << where << ": " << f->str();
        if (fs::is_regular_file(file)) contents.push_back(read_all(file.string()));
      }
      if (!(*at)[2].matched) continue;
      for (const std::string& name : names) {
        bool found = false;
        for (const std::string& content : contents) found = found || has_word(content, name);
        EXPECT_TRUE(found) << where << ": no " << name << " in " << files;
        ++checked;
      }
      names.clear();
    }
  }
  EXPECT_GE(checked, fewest);
}

TEST(Papers, NamesOfCodeAreThere) { check_page("docs/papers.md", 80); }

TEST(Papers, NamesOfTheMathematicsAreThere) { check_page("docs/math.md", 80); }

}  // namespace
}  // namespace espalier::papers_test
