#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/input.h"
#include "docs/transcript.h"
#include "support/temporary_folder.h"

namespace espalier::docs_test {
namespace {

using testing::Command;
using testing::compare_output;
using testing::read_commands;
using testing::same_line;
using testing::TemporaryFolder;

namespace fs = std::filesystem;

const fs::path kSource = ESPALIER_SOURCE_DIR;

// README.md, and what is in docs/.
std::vector<std::string> documents() {
  std::vector<std::string> names{"README.md"};
  for (const auto& entry : fs::directory_iterator(kSource / "docs")) {
    if (entry.path().extension() == ".md") names.push_back("docs/" + entry.path().filename().string());
  }
  return names;
}

struct Outcome {
  int status = -1;
  std::vector<std::string> lines;
};

// Runs a command as a reader would, in `folder` and with the program on the path; both kinds of output come
// back.
Outcome run(const std::string& command, const TemporaryFolder& folder) {
  const std::string script = folder.file(".command", command);
  const std::string program = fs::path(ESPALIER_PROGRAM).parent_path().string();
  const std::string shell =
      "cd '" + folder.path() + "' && PATH='" + program + "':\"$PATH\" bash .command 2>&1";
  Outcome outcome;
  std::FILE* pipe = ::popen(shell.c_str(), "r");
  if (pipe == nullptr) return outcome;
  std::string printed;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) printed += static_cast<char>(c);
  const int status = ::pclose(pipe);
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  for (std::size_t begin = 0; begin < printed.size();) {
    const std::size_t end = std::min(printed.find('\n', begin), printed.size());
    outcome.lines.push_back(printed.substr(begin, end - begin));
    begin = end + 1;
  }
  return outcome;
}

// The pictures in docs/pictures/ are drawn by commands of the page that shows them. To draw them anew:
//   ESPALIER_WRITE_DOCS=1 build/tests/test_docs --gtest_filter='*gallery'
void check_pictures(const std::string& name, const TemporaryFolder& folder) {
  const std::string page = read_all((kSource / name).string());
  constexpr std::string_view kOpening = "](pictures/";
  for (std::size_t at = 0; (at = page.find(kOpening, at)) != std::string::npos;) {
    at += kOpening.size();
    const std::string picture = page.substr(at, page.find(')', at) - at);
    const fs::path drawn = folder.path(picture), kept = kSource / "docs/pictures" / picture;
    if (kept.extension() == ".png") {  // a screenshot of tests/browser
      EXPECT_LT(fs::file_size(kept), 150'000u) << kept;
      continue;
    }
    ASSERT_TRUE(fs::exists(drawn)) << name << ": no command draws " << picture;
    if (std::getenv("ESPALIER_WRITE_DOCS") != nullptr) {
      fs::create_directories(kept.parent_path());
      fs::copy_file(drawn, kept, fs::copy_options::overwrite_existing);
    }
    EXPECT_LT(fs::file_size(kept), 100'000u) << kept;
  }
}

void check_commands(const std::string& name) {
  const TemporaryFolder folder;
  fs::create_directory_symlink(kSource / "examples", folder.path("examples"));
  for (const Command& command : read_commands(read_all((kSource / name).string()))) {
    SCOPED_TRACE(name + ":" + std::to_string(command.line) + ": " + command.text);
    const Outcome outcome = run(command.text, folder);
    EXPECT_EQ(outcome.status, 0);
    EXPECT_EQ(compare_output(command, outcome.lines), "");
  }
  check_pictures(name, folder);
}

// One test for each, so that they run at the same time.
class Documents : public ::testing::TestWithParam<std::string> {};
TEST_P(Documents, CommandsDoWhatTheyShow) { check_commands(GetParam()); }
INSTANTIATE_TEST_SUITE_P(Documentation, Documents, ::testing::ValuesIn(documents()), [](const auto& page) {
  std::string name = fs::path(page.param).stem().string();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

// On its own, for it takes a script to prepare the data.
TEST(Documentation, ReferencesAreTakenApart) {
  const TemporaryFolder folder;
  if (run("python3 --version", folder).status != 0) GTEST_SKIP() << "python3 is missing";
  check_commands("examples/references/README.md");
}

TEST(Documentation, TheFirstStepsAreThere) {
  EXPECT_GE(read_commands(read_all((kSource / "README.md").string())).size(), 5u);
}

TEST(Documentation, TheUmbrellaHeaderHasEveryHeader) {
  const std::string umbrella = read_all((kSource / "include/espalier/espalier.h").string());
  for (const auto& entry : fs::recursive_directory_iterator(kSource / "include")) {
    if (entry.path().extension() != ".h" || entry.path().filename() == "espalier.h") continue;
    const std::string name = entry.path().lexically_relative(kSource / "include").generic_string();
    EXPECT_NE(umbrella.find("#include \"" + name + "\"\n"), std::string::npos) << name;
  }
}

TEST(Transcript, BlocksCommandsAndOutput) {
  const auto commands = read_commands(
      "$ not this\n```sh\n$ nor this\n```\n```console\n$ one\nout\n\n$ two \\\n> more\n```\n"
      "```console approximate\n$ three\n> out\n...\n```\n> text\n");
  ASSERT_EQ(commands.size(), 3u);
  EXPECT_EQ(commands[0].text, "one");
  EXPECT_EQ(commands[0].line, 6u);
  EXPECT_EQ(commands[0].output, (std::vector<std::string>{"out", ""}));
  EXPECT_EQ(commands[1].text, "two \\\nmore");
  EXPECT_TRUE(commands[1].output.empty());
  EXPECT_FALSE(commands[1].approximate);
  EXPECT_EQ(commands[2].text, "three\nout");
  EXPECT_EQ(commands[2].output, (std::vector<std::string>{"..."}));
  EXPECT_TRUE(commands[2].approximate);
}

TEST(Transcript, LinesAgree) {
  EXPECT_TRUE(same_line("a  b", "a b  ", false));
  EXPECT_TRUE(same_line("pass 5.1  0.06 s  primal 6952.2", "pass 5.1  12.34 s  primal 6952.9", false));
  EXPECT_TRUE(same_line("gap ..., saved x", "gap 1e-3, saved x", false));
  EXPECT_TRUE(same_line("...", "", false));
  EXPECT_TRUE(same_line("1,234 of 20,000", "1,235 of 20,000", false));
  EXPECT_TRUE(same_line("-1.0000e-04", "-1.0001e-04", false));
  EXPECT_TRUE(same_line("0 11 200", "3 9 250", true));
  EXPECT_TRUE(same_line("primal 6744.97", "primal 4000", true));
  EXPECT_TRUE(same_line("gap 4.02e-04", "gap 9.9e-04", true));
}

TEST(Transcript, LinesDiffer) {
  EXPECT_FALSE(same_line("a b", "a c", false));
  EXPECT_FALSE(same_line("a b", "a b c", false));
  EXPECT_FALSE(same_line("a b c", "a b", false));
  EXPECT_FALSE(same_line("1.000", "1.002", false));
  EXPECT_FALSE(same_line("1.000", "-1.000", false));
  EXPECT_FALSE(same_line("2 sheep", "3 sheep", false));
  EXPECT_FALSE(same_line("model1.esp", "model2.esp", true));
  EXPECT_FALSE(same_line("l2 100", "l3 100", true));
  EXPECT_FALSE(same_line("0.994", "0.094", true));
  EXPECT_FALSE(same_line("0 11", "4 11", true));
  EXPECT_FALSE(same_line("primal 6744.97", "primal 1600", true));
  EXPECT_FALSE(same_line("gap ..., saved x", "gap 1e-3, saved y", false));
}

TEST(Transcript, OutputsAgree) {
  const Command command{1, "x", {"first", "...", "middle", "...", "last"}, false};
  EXPECT_EQ(compare_output(command, {"first", "middle", "last"}), "");
  EXPECT_EQ(compare_output(command, {"first", "middle", "a", "middle", "b", "last"}), "");
  EXPECT_EQ(compare_output({1, "x", {"..."}, false}, {}), "");
  EXPECT_EQ(compare_output({1, "x", {}, false}, {}), "");
}

TEST(Transcript, OutputsDiffer) {
  const Command command{1, "x", {"first", "...", "last"}, false};
  EXPECT_EQ(compare_output(command, {"first", "other"}),
            "documented, but not printed: last\nprinted:\nfirst\nother\n");
  EXPECT_EQ(compare_output({1, "x", {"first"}, false}, {"first", "other"}),
            "more was printed than documented\nprinted:\nfirst\nother\n");
  EXPECT_EQ(compare_output({1, "x", {"first"}, false}, {}), "documented, but not printed: first\nprinted:\n");
  EXPECT_EQ(compare_output({1, "x", {}, false}, {"other"}),
            "more was printed than documented\nprinted:\nother\n");
}

}  // namespace
}  // namespace espalier::docs_test
