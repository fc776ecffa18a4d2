// Models with the right checksums and contents that do not fit together: each is refused with a line that
// names the file, or used as it is; none ends the program in another way.

#include "support/changed_model.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>

#include "base/random.h"
#include "espalier/base/error.h"
#include "espalier/model/model.h"
#include "support/error_message.h"
#include "support/golden.h"
#include "support/temporary_folder.h"

namespace espalier::testing::changed_model_test {
namespace {

// What a change to a model of tests/golden leads to, behind the name of the file.
std::string message_of(const std::string& model, const std::function<void(ChangedModel&)>& make) {
  const TemporaryFolder folder;
  ChangedModel changed(golden(model + ".esp"));
  make(changed);
  const std::string path = folder.path("changed.esp");
  changed.write(path);
  const std::string message = error_message([&] { const Model loaded(path); });
  EXPECT_TRUE(message.starts_with(path + ": ")) << message;
  return message.substr(std::min(message.size(), path.size() + 2));
}

// The weights, or what is kept of them, with one that is replaced.
void set_weight(ChangedModel& model, float value) {
  const char* name = model.section("weights").empty() ? "weights.values" : "weights";
  auto numbers = model.numbers<float>(name);
  numbers[0] = value;
  model.set_numbers(name, numbers);
}

TEST(ChangedModelTest, WeightsAreFinite) {
  for (const float value : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    EXPECT_EQ(message_of("classify-numbers", [&](ChangedModel& model) { set_weight(model, value); }),
              "numbers that are not finite in the section 'weights'; retrain the model");
  }
}

TEST(ChangedModelTest, SizesAreThoseOfTheContents) {
  EXPECT_EQ(message_of("treebank", [](ChangedModel& m) { m.set_of_task("hash_bits", 62); }),
            "2^62 rows of weights for spans; retrain the model");
  EXPECT_EQ(message_of("treebank", [](ChangedModel& m) { m.set_of_task("features", "words"); }),
            "unknown settings (features: 'words'; expected rules or spans); retrain the model");
  EXPECT_EQ(message_of("parse", [](ChangedModel& m) { m.set_of_task("structure", "ring"); }),
            "the structure 'ring' of order 1; retrain the model");
  EXPECT_EQ(message_of("parse", [](ChangedModel& m) { m.set_of_task("relation_bits", 0); }),
            "2^10 weights of arcs and 2^0 of relations; retrain the model");
}

TEST(ChangedModelTest, SettingsAreInTheRangesOfTheOptions) {
  for (const char* const task : {"parse", "treebank"}) {
    for (const std::size_t longest : {0, 65536})
      EXPECT_EQ(message_of(task, [&](ChangedModel& m) { m.set_of_task("longest", longest); }),
                fmt::format("pieces of {} words; retrain the model", longest));
  }
  EXPECT_EQ(message_of("treebank", [](ChangedModel& m) { m.set_of_task("prune_below", 2); }),
            "labels of a probability from 2; retrain the model");
  EXPECT_EQ(message_of("parse", [](ChangedModel& m) { m.set_of_task("prune_below", -1); }),
            "words of 10 heads, each of -1 of the best one's probability; retrain the model");
  EXPECT_EQ(message_of("parse", [](ChangedModel& m) { m.set_of_task("most_heads", 0); }),
            "words of 0 heads, each of 0.001 of the best one's probability; retrain the model");
}

// Weights that are zero need not be there: how many there are is said, and believed up to a limit.
TEST(ChangedModelTest, WeightsThatAreZeroHaveALimit) {
  EXPECT_EQ(message_of("treebank", [](ChangedModel& m) { m.set("rows", std::size_t{1} << 40); }),
            "1099511627776 rows of 1 weights; expected as many as memory holds; retrain the model");
}

// Settings may come from anybody, too.
TEST(ChangedModelTest, SettingsAreNestedNoDeeperThanAnyJson) {
  EXPECT_EQ(message_of("classify",
                       [](ChangedModel& m) {
                         m.section("model").insert(
                             1, "\"x\":" + std::string(300000, '[') + std::string(300000, ']') + ",");
                       }),
            "an unreadable model section (lists and objects nested more than 500 deep; expected shallower "
            "ones); retrain the model");
}

TEST(ChangedModelTest, ColumnsAreNoMoreThanALineHas) {
  EXPECT_EQ(message_of("tag-words", [](ChangedModel& m) { m.set_of_task("columns", 4294967295); }),
            "4294967295 columns; retrain the model");
}

TEST(ChangedModelTest, RulesAreThereOnce) {
  EXPECT_EQ(message_of("treebank",
                       [](ChangedModel& m) { m.section("binaries") += m.section("binaries").substr(0, 12); }),
            "a rule twice; retrain the model");
}

TEST(ChangedModelTest, ObservedFeaturesHaveLabels) {
  EXPECT_EQ(message_of("tag-words",
                       [](ChangedModel& m) {
                         m.section("labels.bytes").clear();
                         m.set_numbers("labels.offsets", std::vector<std::uint64_t>{0});
                         m.set_numbers("labels.table", std::vector<std::uint64_t>(16, ~std::uint64_t{0}));
                       }),
            "no labels; retrain the model");
}

TEST(ChangedModelTest, TablesOfDictionariesFindTheirNames) {
  const std::string wrong = "damaged dictionary: its table does not find its names; retrain the model";
  // Names that are not those that the table was made for.
  EXPECT_EQ(message_of("tag", [](ChangedModel& m) { m.section("labels.bytes")[0] ^= 1; }), wrong);
  // One id twice, another not at all.
  EXPECT_EQ(message_of("tag",
                       [](ChangedModel& m) {
                         auto table = m.numbers<std::uint64_t>("labels.table");
                         for (std::uint64_t& slot : table) {
                           if (slot != ~std::uint64_t{0}) slot &= ~std::uint64_t{0xffffffff};
                         }
                         m.set_numbers("labels.table", table);
                       }),
            wrong);
  // Full, so that every search is a long one.
  EXPECT_EQ(message_of("classify-numbers",
                       [](ChangedModel& m) {
                         auto table = m.numbers<std::uint64_t>("labels.table");
                         std::erase(table, ~std::uint64_t{0});
                         table.resize(4, ~std::uint64_t{0});
                         m.set_numbers("labels.table", table);
                       }),
            "damaged dictionary: its table has the wrong size; retrain the model");
}

TEST(ChangedModelTest, CoarseRulesAreInOrder) {
  const std::string wrong =
      "rules of a coarse grammar out of order, or without a probability; retrain the model";
  EXPECT_EQ(message_of("treebank",
                       [](ChangedModel& m) {
                         auto rules = m.numbers<std::uint32_t>("coarse.binaries");
                         std::swap_ranges(rules.begin(), rules.begin() + 3, rules.end() - 3);
                         m.set_numbers("coarse.binaries", rules);
                       }),
            wrong);
  EXPECT_EQ(message_of("treebank",
                       [](ChangedModel& m) {
                         auto probabilities = m.numbers<double>("coarse.probabilities");
                         probabilities[0] = -1;
                         m.set_numbers("coarse.probabilities", probabilities);
                       }),
            wrong);
}

// Anything -----------------------------------------------------------------------------------------------

// AddressSanitizer needs more addresses than any limit has. It may be in the library alone, so that only the
// program that is running knows.
void limit_memory() {
  if (::dlsym(RTLD_DEFAULT, "__asan_init") != nullptr) return;
  const rlimit memory{rlim_t{4} << 30, rlim_t{4} << 30};
  ::setrlimit(RLIMIT_AS, &memory);
}

// What `show` and `predict` do, in a process of its own: 0, 2 where a line says why not, and anything else
// where something is wrong.
int use(const std::string& model, const std::string& input) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    limit_memory();
    int status = 70;
    try {
      const Model loaded(model);
      std::string text = loaded.describe().dump();
      text += loaded.predictor().describe() + loaded.predictor().strongest(3);
      text += loaded.predictor().all_weights();
      loaded.count_weights();
      loaded.predictor().predict(input, {}, [&](std::string_view more) { text += more; });
      status = 0;
    } catch (const Error&) {
      status = 2;
    } catch (const std::exception& e) {
      ::dprintf(STDERR_FILENO, "%s\n", e.what());
    }
    ::_exit(status);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

template <class T>
void change_number(std::string& bytes, Random& random) {
  const std::size_t count = bytes.size() / sizeof(T);
  if (count == 0) return;
  T value;
  char* const at = bytes.data() + random.below(count) * sizeof(T);
  std::copy_n(at, sizeof(T), reinterpret_cast<char*>(&value));
  switch (random.below(6)) {
    case 0:
      value = T(value + 1);
      break;
    case 1:
      value = T(value - 1);
      break;
    case 2:
      value = 0;
      break;
    case 3:
      value = std::numeric_limits<T>::max();
      break;
    case 4:
      value = T(random.below(1000));
      break;
    default:
      std::copy_n(bytes.data() + random.below(count) * sizeof(T), sizeof(T), reinterpret_cast<char*>(&value));
  }
  std::copy_n(reinterpret_cast<const char*>(&value), sizeof(T), at);
}

Json other_value(const Json& value, Random& random) {
  switch (random.below(value.is_number() ? 9 : 6)) {
    case 0:
      return nullptr;
    case 1:
      return Json::array();
    case 2:
      return "x";
    case 3:
      return true;
    case 4:
      return Json::array({value, value});
    case 5:
      return random.below(100);
    case 6:
      return ~std::uint64_t{0} >> random.below(64);
    case 7:
      return -static_cast<double>(random.below(1000)) / 8;
    default:
      return value.get<double>() + 1;
  }
}

// Replaces some value at some depth.
Json change_json(const Json& json, Random& random) {
  if (json.is_object() && json.size() > 0 && random.below(8) > 0) {
    const std::size_t chosen = random.below(json.size());
    const bool dropped = random.below(10) == 0;
    Json changed = Json::object();
    std::size_t k = 0;
    for (const auto& [key, value] : json.items()) {
      if (k != chosen) changed[key] = value;
      if (k++ == chosen && !dropped) changed[key] = change_json(value, random);
    }
    return changed;
  }
  if (json.is_array() && json.size() > 0 && random.below(8) > 0) {
    const std::size_t chosen = random.below(json.size());
    Json changed = Json::array();
    for (std::size_t k = 0; k < json.size(); ++k)
      changed.push_back(k == chosen ? change_json(json[k], random) : json[k]);
    return changed;
  }
  return other_value(json, random);
}

std::string change_anything(ChangedModel& model, Random& random) {
  auto& sections = model.sections();
  if (random.below(4) == 0) {
    Json all = model.settings();
    if (all.contains("settings") && random.below(3) > 0) {
      all["settings"] = change_json(all.at("settings"), random);
    } else {
      all = change_json(all, random);
    }
    model.set_settings(all);
    return "settings " + all.dump();
  }
  auto& [name, bytes] = sections[1 + random.below(sections.size() - 1)];  // the first one has the settings
  switch (random.below(10)) {
    case 0:
      bytes.clear();
      return name + " emptied";
    case 1:
      bytes.resize(random.below(bytes.size() + 1) / 8 * 8);
      return name + " cut";
    case 2:
      bytes += bytes.substr(0, 8 * (1 + random.below(4)));
      return name + " longer";
    case 3: {
      const std::string other = sections[random.below(sections.size())].second;
      bytes = other;
      return name + " replaced";
    }
    case 4:
      if (!bytes.empty()) bytes[random.below(bytes.size())] = static_cast<char>(random.below(256));
      return name + ": a byte";
    case 5:
      change_number<std::uint64_t>(bytes, random);
      return name + ": 8 bytes";
    case 6:
      change_number<double>(bytes, random);
      return name + ": a double";
    case 7:
      change_number<float>(bytes, random);
      return name + ": a float";
    default:
      change_number<std::uint32_t>(bytes, random);
      return name + ": 4 bytes";
  }
}

// ESPALIER_CHANGES=N: so many cases, from a seed of ESPALIER_SEED.
std::size_t from_environment(const char* name, std::size_t otherwise) {
  const char* const value = std::getenv(name);
  return value ? std::strtoull(value, nullptr, 10) : otherwise;
}

TEST(ChangedModelTest, WhateverIsChangedIsRefusedOrUsed) {
  const TemporaryFolder folder;
  const std::string path = folder.path("changed.esp");
  const std::vector<std::string> names = golden_names();
  const std::size_t cases = from_environment("ESPALIER_CHANGES", 150);
  Random random(from_environment("ESPALIER_SEED", 1));
  std::size_t refused = 0, used = 0;
  for (std::size_t k = 0; k < cases; ++k) {
    const std::string& name = names[k % names.size()];
    ChangedModel changed(golden(name + ".esp"));
    std::string what;
    for (std::size_t more = 1 + random.below(2); more > 0; --more)
      what += change_anything(changed, random) + "; ";
    changed.write(path);
    const int status = use(path, golden(name + ".in"));
    (status == 0 ? used : refused) += 1;
    if (status == 0 || status == 2) continue;
    ADD_FAILURE() << "case " << k << ", " << name << ": " << what << "status " << status;
    if (const char* keep = std::getenv("ESPALIER_KEEP"))
      changed.write(fmt::format("{}/{}-{}.esp", keep, name, k));
  }
  EXPECT_GT(refused, cases / 4);
  EXPECT_GT(used, cases / 20);
}

}  // namespace
}  // namespace espalier::testing::changed_model_test
