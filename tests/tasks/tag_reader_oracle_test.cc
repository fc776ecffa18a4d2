// Features as other programs find them in the same files, and what is known of data sets.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include "base/input.h"
#include "tasks/tag/encoding.h"
#include "tasks/tag/reader.h"
#include "tasks/tag_reading.h"

namespace espalier {
namespace {

using testing::Names;
using testing::names_of;
using testing::row_of;

std::set<std::string> set_of(const Dictionary& dictionary) {
  const Names names = names_of(dictionary);
  return {names.begin(), names.end()};
}

// The features and labels of a model of CRF++ as text: blocks parted by blank lines, header, labels,
// templates, "ID FEATURE", weights.
struct CrfppModel {
  explicit CrfppModel(const std::string& path) {
    std::ifstream model(path);
    std::size_t block = 0;
    for (std::string line; std::getline(model, line);) {
      if (line.empty()) {
        ++block;
      } else if (block == 1) {
        labels.push_back(line);
      } else if (block == 3) {
        const std::string feature = line.substr(line.find(' ') + 1);
        (feature[0] == 'U' ? tokens : transitions).insert(feature);
      }
    }
  }
  Names labels;
  std::set<std::string> tokens, transitions;
};

TEST(TagReaderOracle, CrfppFeatures) {
  const std::string folder = std::string(ESPALIER_SHARED_DIR) + "/oracles/crfpp/";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no " << folder;
  TagInput input;
  input.templates = read_all(folder + "template.txt");
  TagDictionaries dictionaries;
  const TagExamples examples = read_tag_growing(folder + "train.txt", input, {}, {}, dictionaries);
  EXPECT_EQ(examples.sequences.size(), 60u);
  const CrfppModel model(folder + "a.model.txt");
  EXPECT_EQ(names_of(dictionaries.labels), model.labels);
  EXPECT_EQ(set_of(dictionaries.attributes), model.tokens);
  EXPECT_EQ(set_of(dictionaries.transitions), model.transitions);
  EXPECT_GT(model.transitions.size(), 1u);
}

TEST(TagReaderOracle, CrfppCutOff) {
  const std::string folder = std::string(ESPALIER_SHARED_DIR) + "/oracles/crfpp/";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no " << folder;
  TagInput input;
  input.templates = read_all(folder + "template_b.txt");
  TagDictionaries dictionaries;
  const TagExamples examples = read_tag_growing(folder + "train.txt", input, {}, {}, dictionaries, 2);
  const CrfppModel model(folder + "b.model.txt");
  EXPECT_EQ(set_of(dictionaries.attributes), model.tokens);
  EXPECT_EQ(set_of(dictionaries.transitions), model.transitions);
  EXPECT_GT(examples.num_rare, model.tokens.size());
}

// The observations of a model file of Wapiti, "LENGTH:NAME,", by the letter that they begin with.
std::map<char, std::set<std::string>> wapiti_observations(const std::string& path) {
  std::map<char, std::set<std::string>> observations;
  std::ifstream model(path);
  int lists = 0;
  for (std::string line; std::getline(model, line);) {
    if (line.starts_with("#qrk#")) {
      ++lists;
    } else if (lists == 2 && line.ends_with(',')) {
      const std::size_t colon = line.find(':');
      observations[line[colon + 1]].insert(line.substr(colon + 1, line.size() - colon - 2));
    }
  }
  return observations;
}

void expect_wapiti_observations(const std::string& model, const TagDictionaries& dictionaries) {
  auto observations = wapiti_observations(model);
  std::set<std::string> tokens = observations['u'], transitions = observations['b'];
  for (const std::string& name : observations['*']) tokens.insert(name);
  EXPECT_EQ(set_of(dictionaries.attributes), tokens);
  // Wapiti also lists those that only a first token has, where no step leads to.
  for (const std::string& name : set_of(dictionaries.transitions)) {
    EXPECT_TRUE(transitions.contains(name) || observations['*'].contains(name)) << name;
  }
}

// Those of a dump, "OBSERVATION TAB LABEL BEFORE, or # TAB LABEL TAB WEIGHT", of tokens or of transitions.
std::set<std::string> wapiti_dumped(const std::string& path, bool of_transitions) {
  std::set<std::string> names;
  std::ifstream dump(path);
  for (std::string line; std::getline(dump, line);) {
    if (line.empty()) continue;
    const std::size_t tab = line.find('\t');
    if ((line.compare(tab, 3, "\t#\t") != 0) == of_transitions) names.insert(line.substr(0, tab));
  }
  return names;
}

TEST(TagReaderOracle, WapitiPatterns) {
  const std::string folder = std::string(ESPALIER_SHARED_DIR) + "/oracles/wapiti/";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no " << folder;
  TagInput input;
  input.templates = read_all(folder + "pattern.txt");
  TagDictionaries dictionaries;
  const TagExamples examples = read_tag_growing(folder + "train.txt", input, {}, {}, dictionaries);
  EXPECT_EQ(examples.sequences.size(), 40u);
  expect_wapiti_observations(folder + "a.model.txt", dictionaries);
  EXPECT_EQ(set_of(dictionaries.attributes), wapiti_dumped(folder + "a.dump.txt", false));
  EXPECT_EQ(set_of(dictionaries.transitions), wapiti_dumped(folder + "a.dump.txt", true));
  EXPECT_EQ(set_of(dictionaries.attributes).size(), 769u);
  // An l1 penalty leaves a part of them.
  for (const bool of_transitions : {false, true}) {
    const auto& names = of_transitions ? dictionaries.transitions : dictionaries.attributes;
    for (const std::string& name : wapiti_dumped(folder + "b.dump.txt", of_transitions)) {
      EXPECT_TRUE(names.find(name)) << name;
    }
  }
}

TEST(TagReaderOracle, WapitiAttributes) {
  const std::string folder = std::string(ESPALIER_SHARED_DIR) + "/oracles/wapiti/";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no " << folder;
  TagInput input;
  input.format = TagFormat::wapiti;
  TagDictionaries dictionaries;
  const TagExamples examples = read_tag_growing(folder + "raw_train.txt", input, {}, {}, dictionaries);
  EXPECT_EQ(examples.sequences.size(), 25u);
  expect_wapiti_observations(folder + "raw.model.txt", dictionaries);
  EXPECT_EQ(set_of(dictionaries.transitions), wapiti_dumped(folder + "raw.dump.txt", true));
}

TEST(TagReaderOracle, CrfsuiteAttributes) {
  const std::string folder = std::string(ESPALIER_SHARED_DIR) + "/oracles/crfsuite/";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no " << folder;
  TagInput input;
  input.format = TagFormat::crfsuite;
  TagDictionaries dictionaries;
  const TagExamples examples = read_tag_growing(folder + "train.txt", input, {}, {}, dictionaries);
  EXPECT_EQ(examples.sequences.size(), 60u);
  EXPECT_EQ(examples.sequences.num_tokens(), 719u);

  // "  12: NAME" between "ATTRIBUTES = {" and "}". Its value is always 0, so the dump lacks "zero".
  std::set<std::string> expected{"zero"};
  std::ifstream dump(folder + "a.dump.txt");
  bool inside = false;
  for (std::string line; std::getline(dump, line);) {
    if (line == "}") inside = false;
    if (inside) expected.insert(line.substr(line.find(": ") + 2));
    if (line == "ATTRIBUTES = {") inside = true;
  }
  EXPECT_EQ(expected.size(), 851u);
  EXPECT_EQ(set_of(dictionaries.attributes), expected);
  EXPECT_EQ(row_of(examples.sequences.tokens, 0, dictionaries.attributes).at("cap"), 0.25f);
}

// The counts were made by a separate program from the same files.
TEST(TagReaderData, Conll2000) {
  const std::string folder = std::string(ESPALIER_SHARED_DIR) + "/data/conll2000/";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no " << folder;
  TagInput input;
  input.format = TagFormat::crfsuite;
  TagDictionaries dictionaries;
  const TagExamples train = read_tag_growing(folder + "train.crfsuite.gz", input, {}, {}, dictionaries);
  EXPECT_EQ(train.sequences.size(), 8'936u);
  EXPECT_EQ(train.sequences.num_tokens(), 211'727u);
  EXPECT_EQ(train.sequences.tokens.num_entries(), 3'808'439u);
  EXPECT_TRUE(train.sequences.tokens.row(0).values.empty());
  EXPECT_EQ(dictionaries.attributes.size(), 335'674u);
  EXPECT_EQ(dictionaries.labels.size(), 22u);

  // The columns have the same sentences and labels.
  TagInput columns;
  columns.templates = "U00:%x[0,0]\nB\n";
  TagDictionaries others;
  const TagExamples same = read_tag_growing(folder + "train.txt.gz", columns, {}, {}, others);
  EXPECT_EQ(same.sequences.offsets, train.sequences.offsets);
  EXPECT_EQ(same.labels, train.labels);
  EXPECT_EQ(names_of(others.labels), names_of(dictionaries.labels));
}

TEST(TagReaderData, Conll2003) {
  const std::string folder = std::string(ESPALIER_SHARED_DIR) + "/data/conll2003/";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no " << folder;
  TagInput input;
  input.templates = "U00:%x[0,0]\n";
  input.encoding = Encoding::bioes;
  TagDictionaries dictionaries;
  const TagExamples train = read_tag_growing(folder + "eng.train.gz", input, {}, {}, dictionaries);
  EXPECT_EQ(train.sequences.size(), 14'041u);
  EXPECT_EQ(train.sequences.num_tokens(), 203'621u);
  EXPECT_EQ(dictionaries.labels.size(), 17u);
  EXPECT_FALSE(dictionaries.attributes.find("U00:-DOCSTART-"));
}

}  // namespace
}  // namespace espalier
