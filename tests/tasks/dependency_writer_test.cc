#include "espalier/tasks/parse.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/temporary_folder.h"

namespace espalier::dependency_writer_test {
namespace {

using Relations = std::vector<std::string_view>;

DependencySentence sentence_of(const std::string& text) {
  const testing::TemporaryFolder folder;
  DependencyReader reader(folder.file("t", text), false);
  DependencySentence sentence;
  EXPECT_TRUE(reader.next(sentence));
  return sentence;
}

std::string written(const std::string& text, const std::vector<std::uint32_t>& heads,
                    const Relations& relations) {
  std::string out = "before\n";
  append_tree(sentence_of(text), heads, relations, out);
  return out;
}

TEST(DependencyWriter, ReplacesHeadsAndRelations) {
  EXPECT_EQ(written("1\ta\tb\tc\td\te\t2\told\t2\told\n"
                    "2\ta\tb\tc\td\te\t0\tROOT\t0\tROOT\n",
                    {0, 1}, {"root", "new"}),
            "before\n"
            "1\ta\tb\tc\td\te\t0\troot\t2\told\n"
            "2\ta\tb\tc\td\te\t1\tnew\t0\tROOT\n"
            "\n");
}

TEST(DependencyWriter, WithoutRelationsThereAreNone) {
  EXPECT_EQ(written("1\ta\tb\tc\td\te\t0\told\n", {0}, {}), "before\n1\ta\tb\tc\td\te\t0\t_\n\n");
}

TEST(DependencyWriter, AddsColumnsThatAreMissing) {
  EXPECT_EQ(written("1\ta\tb\tc\td\te\n"
                    "2\ta\tb\tc\td\te\t\n"
                    "3\ta\tb\tc\td\te\t_\n"
                    "4\ta\tb\tc\td\te\t_\t_\n"
                    "5\ta\tb\tc\td\te\t_\t_\tf\n"
                    "6\ta\tb\tc\td\te\t_\t\tf\tg\n",
                    {2, 3, 4, 5, 6, 0}, {"u", "v", "w", "x", "y", "z"}),
            "before\n"
            "1\ta\tb\tc\td\te\t2\tu\n"
            "2\ta\tb\tc\td\te\t3\tv\n"
            "3\ta\tb\tc\td\te\t4\tw\n"
            "4\ta\tb\tc\td\te\t5\tx\n"
            "5\ta\tb\tc\td\te\t6\ty\tf\n"
            "6\ta\tb\tc\td\te\t0\tz\tf\tg\n"
            "\n");
}

TEST(DependencyWriter, KeepsWhatIsNoWord) {
  EXPECT_EQ(written("# text = don't\n"
                    "1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\t_\n"
                    "1\tdo\t_\t_\t_\t_\t_\t_\t_\t_\n"
                    "# a comment\n"
                    "2\tn't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n"
                    "2.1\tgo\t_\t_\t_\t_\t_\t_\t0:root\t_\n",
                    {0, 1}, {"root", "advmod"}),
            "before\n"
            "# text = don't\n"
            "1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\t_\n"
            "1\tdo\t_\t_\t_\t_\t0\troot\t_\t_\n"
            "# a comment\n"
            "2\tn't\t_\t_\t_\t_\t1\tadvmod\t_\tSpaceAfter=No\n"
            "2.1\tgo\t_\t_\t_\t_\t_\t_\t0:root\t_\n"
            "\n");
}

}  // namespace
}  // namespace espalier::dependency_writer_test
