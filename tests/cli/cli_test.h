#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/input.h"
#include "espalier/base/json.h"
#include "support/run_program.h"
#include "support/temporary_folder.h"

namespace espalier::testing {

inline std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> result;
  for (std::string word; stream >> word;) result.push_back(word);
  return result;
}

inline std::vector<std::string> lines(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> result;
  for (std::string line; std::getline(stream, line);) result.push_back(line);
  return result;
}

// The program, run as a user runs it, in a folder of its own.
class CliTest : public ::testing::Test {
 protected:
  // Arguments are separated by spaces, as on a command line, and none contains one.
  static std::vector<std::string> command(const std::string& arguments) {
    std::vector<std::string> all = words(arguments);
    all.insert(all.begin(), ESPALIER_PROGRAM);
    return all;
  }
  RunOptions here() const {
    RunOptions options;
    options.folder = folder_.path();
    return options;
  }
  Outcome run(const std::string& arguments, const std::string& input = "") const {
    RunOptions options = here();
    options.input = input;
    return run_program(command(arguments), options);
  }
  // Runs what has to work, and returns its standard output.
  std::string succeed(const std::string& arguments, const std::string& input = "") const {
    const Outcome outcome = run(arguments, input);
    EXPECT_EQ(outcome.status, 0) << arguments << '\n' << outcome.err;
    return outcome.out;
  }
  // Runs what is to be refused, and returns the last line that it says.
  std::string error(const std::string& arguments, const std::string& input = "") const {
    const Outcome outcome = run(arguments, input);
    EXPECT_EQ(outcome.status, 2) << arguments;
    EXPECT_EQ(outcome.out, "") << arguments;
    const std::vector<std::string> all = lines(outcome.err);
    return all.empty() ? "" : all.back();
  }
  // Several programs joined by pipes; $E is ours.
  Outcome run_shell(const std::string& script) const {
    return run_program({"/bin/sh", "-c", "E='" ESPALIER_PROGRAM "'; " + script}, here());
  }

  void write(const std::string& name, std::string_view contents) const { folder_.file(name, contents); }
  // A file's bytes, unpacked.
  std::string read(const std::string& name) const { return read_all(folder_.path(name)); }
  std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      names.insert(entry.path().filename().string());
    }
    return names;
  }

  // Sentences with their topics, in CRFsuite's format. Small, so that a test takes no time.
  void generate(const std::string& name, int sentences, int seed) const {
    succeed("generate classify -n " + std::to_string(sentences) + " --seed " + std::to_string(seed) + " -o " +
            name);
  }
  void generate_all() const {
    generate("train.txt", 300, 1);
    generate("dev.txt", 100, 2);
    generate("test.txt", 100, 3);
  }
  // model.esp of train.txt, both made here.
  void train_model(const std::string& options = "") const {
    generate_all();
    succeed("train classify train.txt --format crfsuite -o model.esp --quiet " + options);
  }
  // Options of a run that only a signal or --seconds ends: the default finds the optimum of anything this
  // small to the last bit, in milliseconds; one block at a time does not.
  static constexpr const char* kEndless = "--solver eg --l2 1e-6 --gap 0 --passes 1e9 ";

  Json json(const std::string& arguments) const { return Json::parse(succeed(arguments)); }

  TemporaryFolder folder_;
};

}  // namespace espalier::testing
