// A file that a command reads and writes, or writes twice: refused, whatever it is called, and nothing is
// touched.

#include <unistd.h>

#include <filesystem>

#include "cli/cli_test.h"

namespace espalier::testing::file_roles_test {
namespace {

namespace fs = std::filesystem;

class CliFileRolesTest : public CliTest {
 protected:
  void SetUp() override {
    succeed("generate tag -n 20 --seed 1 -o io.txt");
    succeed("generate tag -n 10 --seed 2 -o dev.txt");
    succeed("train tag io.txt --passes 2 --quiet -o m.esp");
    write("list.txt", "U:%x[0,0]\n");
    write("io.svm", "1 1:1 2:0.5\n2 1:-1 3:2\n");
    fs::create_symlink("io.txt", folder_.path("link.txt"));
    fs::create_hard_link(folder_.path("io.txt"), folder_.path("hard.txt"));
    fs::create_directory(folder_.path("sub"));
  }

  std::string all_bytes() const {
    std::string all;
    for (const std::string& name : files()) {
      all += name + '\n';
      if (fs::is_regular_file(folder_.path(name))) all += read(name);
    }
    return all;
  }

  // Refuses, says why and leaves everything as it was.
  void refuse(const std::string& arguments, const std::string& message, const std::string& input = "") const {
    const std::string before = all_bytes();
    EXPECT_EQ(error(arguments, input), "espalier: " + message) << arguments;
    EXPECT_TRUE(all_bytes() == before) << arguments;
  }
};

constexpr const char* kOther = "; expected another file for the output";

TEST_F(CliFileRolesTest, AnOutputThatIsAnInput) {
  const std::string output = ": is both the output (-o) and ";
  refuse("train tag io.txt -o io.txt", "io.txt" + output + "the training data" + kOther);
  refuse("train tag io.txt --dev dev.txt -o dev.txt",
         "dev.txt" + output + "the held-out data (--dev)" + kOther);
  refuse("train tag io.txt --template list.txt -o list.txt",
         "list.txt" + output + "the template (--template)" + kOther);
  refuse("train tag io.txt --gazetteer dev.txt --gazetteer list.txt -o list.txt",
         "list.txt" + output + "a gazetteer (--gazetteer)" + kOther);
  refuse("train tag io.txt --transitions list.txt -o list.txt",
         "list.txt" + output + "the list of transitions (--transitions)" + kOther);
  refuse("train tag io.txt --costs list.txt -o list.txt",
         "list.txt" + output + "the list of costs (--costs)" + kOther);
  refuse("train tag io.txt --init m.esp -o m.esp",
         "m.esp" + output + "the model to start from (--init)" + kOther);
  refuse("path tag io.txt --dev dev.txt -o dev.txt",
         "dev.txt" + output + "the held-out data (--dev)" + kOther);
  refuse("cross-validate tag io.txt -o io.txt", "io.txt" + output + "the training data" + kOther);
  refuse("train classify io.svm -o io.svm", "io.svm" + output + "the training data" + kOther);
  refuse("train classify io.svm,io.txt -o io.txt", "io.txt" + output + "the training data" + kOther);
  refuse("predict m.esp io.txt -o m.esp", "m.esp" + output + "the model" + kOther);
  refuse("predict m.esp io.txt -o io.txt", "io.txt" + output + "the input" + kOther);
  refuse("convert list.txt -o list.txt", "list.txt" + output + "the model" + kOther);
  refuse("infer list.txt --task PR -o list.txt", "list.txt" + output + "the graphical model" + kOther);
  refuse("infer dev.txt --evidence list.txt --task PR -o list.txt",
         "list.txt" + output + "the evidence (--evidence)" + kOther);
}

TEST_F(CliFileRolesTest, OtherOutputs) {
  refuse("train tag io.txt --log io.txt -o new.esp",
         "io.txt: is both the log (--log) and the training data; expected another file for the log");
  refuse("race tag io.txt --solvers eg --log io.txt",
         "io.txt: is both the log (--log) and the training data; expected another file for the log");
  refuse(
      "race tag io.txt --solvers eg --picture io.txt",
      "io.txt: is both the picture (--picture) and the training data; expected another file for the picture");
  refuse("cross-validate tag io.txt --log io.txt",
         "io.txt: is both the log (--log) and the training data; expected another file for the log");
  refuse("train tag io.txt --checkpoint io.txt --resume -o new.esp",
         "io.txt: is both the checkpoint (--checkpoint) and the training data; expected another file for the "
         "checkpoint");
}

TEST_F(CliFileRolesTest, OneFileForTwoOutputs) {
  refuse("train tag io.txt --log new -o new",
         "new: is both the output (-o) and the log (--log)" + std::string(kOther));
  refuse("train tag io.txt --log new --checkpoint ./new -o new.esp",
         "new: is both the log (--log) and (as ./new) the checkpoint (--checkpoint); expected another file "
         "for the "
         "log");
  refuse(
      "train tag io.txt -o sub/../new --checkpoint new",
      "sub/../new: is both the output (-o) and (as new) the checkpoint (--checkpoint)" + std::string(kOther));
  fs::create_symlink("new.esp", folder_.path("dangling"));
  refuse("train tag io.txt --log dangling -o new.esp",
         "new.esp: is both the output (-o) and (as dangling) the log (--log)" + std::string(kOther));
}

TEST_F(CliFileRolesTest, OtherNamesOfTheSameFile) {
  for (const std::string name : {"link.txt", "hard.txt", "./io.txt", "sub/../io.txt"}) {
    refuse("train tag io.txt -o " + name,
           name + ": is both the output (-o) and (as io.txt) the training data" + kOther);
  }
  refuse("predict m.esp link.txt -o hard.txt",
         "hard.txt: is both the output (-o) and (as link.txt) the input" + std::string(kOther));
  const std::string before = read("io.txt");
  const Outcome outcome = run_shell("$E predict m.esp -o io.txt < io.txt");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.err, "espalier: io.txt: is both the output (-o) and (as standard input) the input" +
                             std::string(kOther) + '\n');
  EXPECT_TRUE(read("io.txt") == before);
}

TEST_F(CliFileRolesTest, AnOutputWithoutAName) {
  const auto refused = [&](const std::string& script, const std::string& message) {
    const auto before = files();
    const Outcome outcome = run_shell("$E " + script);
    EXPECT_EQ(outcome.status, 2) << script;
    EXPECT_EQ(outcome.err, "espalier: " + message + '\n') << script;
    EXPECT_EQ(files(), before) << script;
  };
  refused("train tag io.txt -o ''", "--output: empty name; expected the name of a file");
  refused("train tag io.txt -o new.esp --log ''", "--log: empty name; expected the name of a file");
  refused("train tag io.txt -o new.esp --checkpoint ''",
          "--checkpoint: empty name; expected the name of a file");
  refused("path tag io.txt --dev dev.txt -o ''", "--output: empty name; expected the name of a file");
  refused("cross-validate tag io.txt -o ''", "--output: empty name; expected the name of a file");
  refused("predict m.esp io.txt -o ''", "--output: empty name; expected the name of a file");
  refused("generate tag -o ''", "--output: empty name; expected the name of a file");
}

// None of these can be destroyed.
TEST_F(CliFileRolesTest, DevicesMayPlayEveryRole) {
  succeed("train tag io.txt --passes 2 --quiet -o /dev/null --log /dev/null");
  succeed("train tag - --passes 2 --quiet -o -", read("io.txt"));
  succeed("train tag - --passes 2 --quiet -o /dev/stdout", read("io.txt"));
  succeed("predict m.esp - -o -", read("io.txt"));
  succeed("train tag io.txt --dev io.txt --template list.txt --passes 2 --quiet -o new.esp");
}

}  // namespace
}  // namespace espalier::testing::file_roles_test
