// Models that are damaged, and data that are not for them.

#include "cli/bad_input.h"

namespace espalier::testing::bad_models_test {
namespace {

constexpr const char* kAnew = "; copy the model again or retrain it";

INSTANTIATE_TEST_SUITE_P(
    Models, BadInputTest,
    ::testing::Values(
        BadInput{"Missing", "predict none.esp good.svm -o out.txt",
                 "none.esp: cannot open: No such file or directory; expected a model that can be read"},
        BadInput{"Folder", "show folder", "folder: is a folder; expected a model file", {{"folder/", ""}}},
        BadInput{"Empty", "show bad.esp", std::string("bad.esp: empty file") + kAnew, {{"bad.esp", ""}}},
        BadInput{"NoModel", "predict good.svm good.svm -o out.txt",
                 "good.svm: not a model; expected a file that 'espalier train' wrote"},
        BadInput{"HeaderOnly",
                 "show bad.esp",
                 std::string("bad.esp: truncated: 12 bytes, less than a header") + kAnew,
                 {{"bad.esp", "ESPALIER\1\2\3\4"}}},
        BadInput{"DamagedHeader",
                 "eval model.esp good.svm",
                 std::string("model.esp: corrupt header") + kAnew,
                 {},
                 [](const BadInputTest& test) { test.damage("model.esp", 20); }},
        BadInput{"DamagedWeights",
                 "predict model.esp good.svm -o out.txt",
                 std::string("model.esp: corrupt section 'attributes.table'") + kAnew,
                 {},
                 [](const BadInputTest& test) { test.damage("model.esp", -1); }},
        BadInput{"NewerFormat",
                 "show model.esp",
                 "model.esp: model of format 99, made by a newer version of this program, which reads "
                 "formats up to 2; "
                 "update the program",
                 {},
                 [](const BadInputTest& test) { test.set_format("model.esp", 99); }},
        BadInput{
            "NewerTask",
            "show model.esp",
            "model.esp: version 99 of classify models; this program reads up to 3; expected a newer espalier",
            {},
            [](const BadInputTest& test) { test.set_setting("model.esp", "task_version", 99); }},
        BadInput{"UnknownTask",
                 "show model.esp",
                 "model.esp: a model of the task 'juggle'; this program does not know it; expected a newer "
                 "espalier",
                 {},
                 [](const BadInputTest& test) { test.set_setting("model.esp", "task", "juggle"); }},
        BadInput{"OtherShape",
                 "show model.esp",
                 "model.esp: 6 weights for 7 rows of 2; expected as many as the rows hold; retrain the model",
                 {},
                 [](const BadInputTest& test) { test.set_setting("model.esp", "rows", 7); }}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Using, BadInputTest,
    ::testing::Values(
        BadInput{"DataMissing", "predict model.esp none.svm -o out.txt",
                 "none.svm: cannot open: No such file or directory; expected a file that can be read"},
        BadInput{
            "DataOfAnotherKind", "predict model.esp good.txt -o out.txt",
            "good.txt:1: value 'singer' of index 1; expected a finite number; lines 'label TAB text' need "
            "--format text, attributes that are words --format crfsuite"},
        BadInput{"TextForAModelOfNumbers", "predict model.esp good.txt --format text -o out.txt",
                 "--format: text for a model that was trained on the format libsvm; expected a model trained "
                 "on text"},
        BadInput{"TextForImages", "predict digits.esp good.svm -o out.txt",
                 "good.svm: begins with 3120313a; expected 00000803, an IDX file of images"},
        BadInput{"ImagesForText",
                 "predict items.esp images -o out.txt",
                 "images:1: a NUL byte; expected a text file, plain or compressed by gzip, zstd or xz",
                 {{"images", idx_images(1, 1, {1, 2})}}},
        BadInput{"Format", "eval model.esp good.svm --format csv",
                 "--format: unknown format 'csv'; expected libsvm, crfsuite, idx, named or text"},
        BadInput{"GoldWithoutLabels",
                 "eval model.esp gold.svm",
                 "gold.svm:2: '2:1' in place of the label; expected 'label index:value index:value ...'",
                 {{"gold.svm", "1 1:1\n2:1\n"}}},
        BadInput{"GoldItemsWithoutLabels",
                 "eval items.esp gold.txt",
                 "gold.txt:1: no label before the first TAB; expected 'label TAB attribute TAB "
                 "attribute:value ...'",
                 {{"gold.txt", "\tsinger\n"}}},
        BadInput{"EmptyGold",
                 "eval model.esp gold.svm",
                 "gold.svm: no examples; expected at least one",
                 {{"gold.svm", ""}}},
        BadInput{"NoGold", "eval model.esp", "GOLD is required; see 'espalier eval --help'"},
        BadInput{"NoModel", "predict", "MODEL is required; see 'espalier predict --help'"},
        BadInput{"BadLineOfNewData",
                 "predict model.esp new.svm -o out.txt",
                 "new.svm:3: value 'x' of index 2; expected a finite number",
                 {{"new.svm", "1:1\r\n\r\n2:x\r\n"}}}),
    name_of);

// What has lengths in it that are not for a table.
using CliModelTest = CliTest;

TEST_F(CliModelTest, TruncatedAnywhereIsTold) {
  write("good.svm", kGood);
  succeed("train classify good.svm --quiet -o whole.esp");
  const std::string whole = read("whole.esp");
  for (const std::size_t length : {std::size_t{64}, std::size_t{1000}, whole.size() - 1}) {
    write("cut.esp", whole.substr(0, length));
    const Outcome outcome = run("show cut.esp");
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.err, "espalier: cut.esp: truncated: " + std::to_string(length) + " of " +
                               std::to_string(whole.size()) + " bytes" + kAnew + "\n");
    EXPECT_EQ(outcome.out, "");
  }
}

}  // namespace
}  // namespace espalier::testing::bad_models_test
