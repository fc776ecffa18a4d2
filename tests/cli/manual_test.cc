// The manual pages, as man and mandoc read them.

#include <algorithm>

#include "cli/cli_test.h"

namespace espalier::testing::manual_test {
namespace {

class ManualTest : public CliTest {
 protected:
  void SetUp() override {
    const Outcome outcome = run_program({ESPALIER_PROGRAM "_pages", folder_.path("pages"), "2026-11-18"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
  }
  static bool has(const char* program) {
    return run_program({"/bin/sh", "-c", std::string("command -v ") + program}).status == 0;
  }
  std::vector<std::string> pages() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path("pages/man1")))
      names.push_back(entry.path().string());
    std::ranges::sort(names);
    return names;
  }
};

TEST_F(ManualTest, EveryCommandAndTaskHasAPage) {
  // Fifteen commands, four of them with six tasks, and the program.
  EXPECT_EQ(pages().size(), 15u + 4 * 6 + 1);
  EXPECT_TRUE(std::filesystem::exists(folder_.path("pages/man1/espalier.1")));
  EXPECT_TRUE(std::filesystem::exists(folder_.path("pages/man1/espalier-cross-validate-treebank.1")));
}

TEST_F(ManualTest, ReadersHaveNothingToComplainOf) {
  for (const std::string& page : pages()) {
    if (has("mandoc")) {
      const Outcome lint = run_program({"mandoc", "-T", "lint", page});
      EXPECT_EQ(lint.out + lint.err, "");
    }
    if (has("groff")) {
      const Outcome formatted = run_program({"groff", "-man", "-ww", "-z", "-Tutf8", page});
      EXPECT_EQ(formatted.err, "") << page;
    }
  }
}

// What a page shows, words with one space between.
TEST_F(ManualTest, HasWhatHelpHas) {
  if (!has("mandoc")) GTEST_SKIP() << "no mandoc";
  for (const std::string command : {"train tag", "path graph", "predict", "infer", "show"}) {
    std::string name = command;
    std::ranges::replace(name, ' ', '-');
    const Outcome shown = run_program(
        {"mandoc", "-T", "ascii", "-O", "width=500", folder_.path("pages/man1/espalier-" + name + ".1")});
    std::string page;
    for (std::size_t k = 0; k < shown.out.size(); ++k) {  // bold type is a letter over itself
      if (k + 1 < shown.out.size() && shown.out[k + 1] == '\b') {
        ++k;
      } else {
        page += shown.out[k];
      }
    }
    std::string joined;
    for (const std::string& word : words(page)) joined += word + ' ';
    for (const std::string& line : lines(succeed(command + " --help-all"))) {
      const std::vector<std::string> left = words(line);
      if (!left.empty() && left.front().starts_with("--")) {
        EXPECT_NE(joined.find(' ' + left.front() + ' '), std::string::npos) << command << ' ' << left.front();
      }
    }
  }
}

}  // namespace
}  // namespace espalier::testing::manual_test
