// Everything that a user can get wrong, each with the one line that tells. Whatever it is: exit status 2, nothing on
// standard output, and no file left behind.

#include <xxhash.h>

#include <cstring>
#include <fstream>
#include <functional>

#include "cli/cli_test.h"
#include "cli/idx_bytes.h"
#include "espalier/base/output.h"
#include "espalier/model/model_file.h"

namespace espalier::testing {
namespace {

constexpr const char* kGood = "1 1:1 2:0.5\n2 1:-1 3:2\n1 1:2\n2 2:-1 3:1\n";
constexpr const char* kGoodItems = "music\tsinger\talbum\nsports\tleague\twins:2\nmusic\tstudio\n";

class BadInputTest;

struct BadInput {
  std::string name;
  // Where it says good.svm, good.txt, model.esp (of good.svm), items.esp (of good.txt), margin.esp (a max-margin model)
  // or digits.esp, that file is there, and in order.
  std::string arguments;
  std::string message;                                          // behind "espalier: "
  std::vector<std::pair<std::string, std::string>> files = {};  // a name that ends in '/' is a folder
  std::function<void(const BadInputTest&)> prepare = {};
};

void PrintTo(const BadInput& bad, std::ostream* stream) { *stream << bad.name; }

class BadInputTest : public CliTest, public ::testing::WithParamInterface<BadInput> {
 public:
  void set_up() const {
    const std::string& arguments = GetParam().arguments;
    const auto needs = [&](const char* name) { return arguments.find(name) != std::string::npos; };
    write("good.svm", kGood);
    write("good.txt", kGoodItems);
    if (needs("model.esp")) succeed("train classify good.svm --quiet -o model.esp");
    if (needs("items.esp")) succeed("train classify good.txt --format crfsuite --quiet -o items.esp");
    if (needs("margin.esp")) succeed("train classify good.svm --loss svm --quiet -o margin.esp");
    if (needs("digits.esp")) {
      write("images", idx_images(1, 2, {0, 255, 255, 0}));
      write("labels", idx_labels({0, 1}));
      succeed("train classify images,labels --quiet -o digits.esp");
    }
    for (const auto& [name, contents] : GetParam().files) {
      if (name.ends_with('/')) {
        std::filesystem::create_directory(folder_.path(name));
      } else {
        write(name, contents);
      }
    }
    if (GetParam().prepare) GetParam().prepare(*this);
  }

  // For `prepare`.
  std::string path(const std::string& name) const { return folder_.path(name); }
  void pack(const std::string& name) const {
    OutputFile file(path(name));
    for (int i = 0; i < 1000; ++i) file.write("1 1:" + std::to_string(i) + "\n2 2:3\n");
    file.commit();
  }
  void cut(const std::string& name, std::uintmax_t bytes) const {
    std::filesystem::resize_file(path(name), std::filesystem::file_size(path(name)) - bytes);
  }
  // Turns the bits of a byte around, counted from the end if negative.
  void damage(const std::string& name, std::ptrdiff_t at) const {
    std::fstream file(path(name), std::ios::in | std::ios::out | std::ios::binary);
    const auto from = at < 0 ? std::ios::end : std::ios::beg;
    file.seekg(at, from);
    const char byte = static_cast<char>(~file.get());
    file.seekp(at, from);
    file.put(byte);
  }
  // A model whose format is as given and whose header is in order otherwise.
  void set_format(const std::string& name, std::uint32_t version) const {
    std::fstream file(path(name), std::ios::in | std::ios::out | std::ios::binary);
    char header[64];
    file.read(header, sizeof(header));
    std::memcpy(header + 8, &version, sizeof(version));
    const std::uint64_t checksum = XXH3_64bits(header, 56);
    std::memcpy(header + 56, &checksum, sizeof(checksum));
    file.seekp(0);
    file.write(header, sizeof(header));
  }
  // A model with something else in its settings.
  void set_setting(const std::string& name, const std::string& key, const Json& value) const {
    const ModelFile model(path(name));
    Json settings = Json::parse(model.section_bytes("model"));
    settings[key] = value;
    const std::string text = settings.dump();
    ModelFileWriter writer;
    writer.add_bytes("model", text);
    for (const char* section : {"weights", "labels.bytes", "labels.offsets", "labels.table",
                                "attributes.bytes", "attributes.offsets", "attributes.table"}) {
      writer.add_bytes(section, model.section_bytes(section));
    }
    writer.write(path(name));
  }
};

TEST_P(BadInputTest, IsAnsweredWithOneLine) {
  set_up();
  const auto before = files();
  const Outcome outcome = run(GetParam().arguments);
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.err, "espalier: " + GetParam().message + "\n");
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(files(), before);
}

std::string name_of(const ::testing::TestParamInfo<BadInput>& info) { return info.param.name; }

// A file of training data that is wrong from its third line on, with both kinds of line ends.
BadInput bad_line(const std::string& name, const std::string& line, const std::string& message,
                  const std::string& end = "\n", const std::string& options = "") {
  return {name,
          "train classify bad.svm -o out.esp" + options,
          "bad.svm:3: " + message,
          {{"bad.svm", "1 1:1" + end + "2 2:1" + end + line + end + "1 1:2" + end}}};
}

INSTANTIATE_TEST_SUITE_P(
    Files, BadInputTest,
    ::testing::Values(
        BadInput{"Missing", "train classify none.svm -o out.esp",
                 "none.svm: cannot open: No such file or directory; expected a file that can be read"},
        BadInput{"Folder",
                 "train classify folder -o out.esp",
                 "folder: is a folder; expected a file",
                 {{"folder/", ""}}},
        BadInput{"Empty",
                 "train classify bad.svm -o out.esp",
                 "bad.svm: no examples; expected at least one",
                 {{"bad.svm", ""}}},
        BadInput{"WhitespaceOnly",
                 "train classify bad.svm -o out.esp",
                 "bad.svm: no examples; expected at least one",
                 {{"bad.svm", " \n\t\n\r\n\n"}}},
        BadInput{"CommentsOnly",
                 "train classify bad.svm -o out.esp",
                 "bad.svm: no examples; expected at least one",
                 {{"bad.svm", "# one\n# two\n"}}},
        BadInput{"EmptyStandardInput", "train classify - -o out.esp",
                 "standard input: no examples; expected at least one"},
        BadInput{"Binary",
                 "train classify bad.svm -o out.esp",
                 "bad.svm:2: a NUL byte; expected a text file, as it is or packed by gzip or zstd",
                 {{"bad.svm", std::string("1 1:1\n\0\1\2\n", 10)}}},
        BadInput{"TruncatedGzip",
                 "train classify bad.svm.gz -o out.esp",
                 "bad.svm.gz: truncated gzip data; copy or download the file again",
                 {},
                 [](const BadInputTest& test) {
                   test.pack("bad.svm.gz");
                   test.cut("bad.svm.gz", 5);
                 }},
        BadInput{"CorruptZstd",
                 "train classify bad.svm.zst -o out.esp",
                 "bad.svm.zst: corrupt zstd data (Restored data doesn't match checksum); copy or download "
                 "the file again",
                 {},
                 [](const BadInputTest& test) {
                   test.pack("bad.svm.zst");
                   test.damage("bad.svm.zst", -1);
                 }},
        BadInput{"EmptyDev",
                 "train classify good.svm --dev dev.svm -o out.esp",
                 "dev.svm: no examples; expected at least one",
                 {{"dev.svm", ""}}},
        BadInput{"MissingDev", "path classify good.svm --dev dev.svm -o out.esp --log run.jsonl",
                 "dev.svm: cannot open: No such file or directory; expected a file that can be read"},
        BadInput{"DevWithoutLabels",
                 "train classify good.svm --dev dev.svm -o out.esp",
                 "dev.svm:1: '1:1' in place of the label; expected 'label index:value index:value ...'",
                 {{"dev.svm", "1:1\n"}}},
        BadInput{"OneLabel",
                 "train classify bad.svm -o out.esp",
                 "bad.svm: only the label '7'; expected at least two labels",
                 {{"bad.svm", "7 1:1\n7 2:1\n"}}},
        BadInput{"NoAttributes",
                 "train classify bad.svm -o out.esp",
                 "bad.svm: no attributes in any example; expected some, and --format to be that of the data",
                 {{"bad.svm", "1 1:0\n2\n"}}},
        BadInput{
            "AnotherFormat", "train classify good.svm --format crfsuite -o out.esp",
            "good.svm: no attributes in any example; expected some, and --format to be that of the data"},
        BadInput{"FirstFewHaveOneLabel", "train classify good.svm --first 1 -o out.esp",
                 "good.svm: only the label '1'; expected at least two labels"},
        BadInput{"LogOfARunThatNeverStarts", "train classify none.svm -o out.esp --log run.jsonl",
                 "none.svm: cannot open: No such file or directory; expected a file that can be read"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Lines, BadInputTest,
    ::testing::Values(
        bad_line("Index", "1 x:1", "index 'x'; expected a whole number from 1"),
        bad_line("IndexCrlf", "1 x:1", "index 'x'; expected a whole number from 1", "\r\n"),
        bad_line("NegativeIndex", "1 -1:1", "index '-1'; expected a whole number from 1"),
        bad_line("IndexZero", "1 0:1", "index 0; indices start at 1"),
        bad_line("IndexTwice", "1 4:1 2:1 4:2", "index 4 twice; expected each index once in a row"),
        bad_line("NotANumber", "1 1:nan", "value 'nan' of index 1; expected a finite number"),
        bad_line("Infinite", "1 1:inf", "value 'inf' of index 1; expected a finite number"),
        bad_line("TooLarge", "1 1:1e39", "value '1e39' of index 1; expected a finite number"),
        bad_line("NoValue", "1 1:", "value '' of index 1; expected a finite number"),
        bad_line("NoValueCrlf", "1 1:", "value '' of index 1; expected a finite number", "\r\n"),
        bad_line("TextForAValue", "1 1:x\x01y", "value 'x\\x01y' of index 1; expected a finite number"),
        bad_line("DenseAmongSparse", "1 1:1 7",
                 "'7' among fields with an index; expected 'label index:value index:value ...'"),
        bad_line("SparseAmongDense", "1 7 1:1",
                 "'1:1' among values without an index; expected 'label value value ...'"),
        bad_line("NoLabel", "1:1",
                 "'1:1' in place of the label; expected 'label index:value index:value ...'"),
        bad_line("SeveralLabels", "1,2 1:1", "several labels '1,2'; expected one label a row"),
        bad_line("Ranking", "1 qid:3 1:1", "'qid:3', a query of ranking data; expected classification data"),
        BadInput{"RaggedDense",
                 "train classify bad.svm -o out.esp",
                 "bad.svm:3: 3 values; expected 2 as in line 1",
                 {{"bad.svm", "1 1 2\n2 3 4\n1 1 2 3\n"}}},
        BadInput{"CrfsuiteValue",
                 "train classify bad.txt --format crfsuite -o out.esp",
                 "bad.txt:3: value 'x' of attribute 'a'; expected a finite number; a colon that is part of a "
                 "name is "
                 "written '\\:'",
                 {{"bad.txt", "x\ta\ny\tb\nx\ta:x\n"}}},
        BadInput{"CrfsuiteNamelessAttribute",
                 "train classify bad.txt --format crfsuite -o out.esp",
                 "bad.txt:3: ':2' without a name; expected 'attribute' or 'attribute:value'",
                 {{"bad.txt", "x\ta\r\ny\tb\r\nx\t:2\r\n"}}},
        BadInput{"CrfsuiteNoLabel",
                 "train classify bad.txt --format crfsuite -o out.esp",
                 "bad.txt:2: no label before the first TAB; expected 'label TAB attribute TAB "
                 "attribute:value ...'",
                 {{"bad.txt", "x\ta\n\tb\n"}}}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Idx, BadInputTest,
    ::testing::Values(
        BadInput{"Magic",
                 "train classify images,labels -o out.esp",
                 "images: begins with 50360a31; expected 00000803, an IDX file of images",
                 {{"images", "P6\n1 1\n"}, {"labels", idx_labels({1, 2})}}},
        BadInput{"Swapped",
                 "train classify labels,images -o out.esp",
                 "labels: an IDX file of labels; expected one of images; the order is IMAGES,LABELS",
                 {{"images", idx_images(1, 1, {1, 2})}, {"labels", idx_labels({1, 2})}}},
        BadInput{"TruncatedImages",
                 "train classify images,labels -o out.esp",
                 "images: truncated: 1 of 2 images; copy or download the file again",
                 {{"images", idx_images(1, 2, {1, 2, 3, 4}).substr(0, 19)}, {"labels", idx_labels({1, 2})}}},
        BadInput{"TruncatedHeader",
                 "train classify images,labels -o out.esp",
                 "images: truncated: the header is incomplete; copy or download the file again",
                 {{"images", idx_images(1, 2, {1, 2}).substr(0, 9)}, {"labels", idx_labels({1, 2})}}},
        BadInput{"TruncatedLabels",
                 "train classify images,labels -o out.esp",
                 "labels: truncated: 1 of 2 labels; copy or download the file again",
                 {{"images", idx_images(1, 1, {1, 2})}, {"labels", idx_labels({1, 2}).substr(0, 9)}}},
        BadInput{"CountsDiffer",
                 "train classify images,labels -o out.esp",
                 "labels: 3 labels; expected 2, as many as there are images",
                 {{"images", idx_images(1, 1, {1, 2})}, {"labels", idx_labels({1, 2, 3})}}},
        BadInput{"MissingLabels",
                 "train classify images,labels -o out.esp",
                 "labels: cannot open: No such file or directory; expected a file that can be read",
                 {{"images", idx_images(1, 1, {1, 2})}}},
        BadInput{"OnlyImages",
                 "train classify images -o out.esp",
                 "images: images without labels; expected IMAGES,LABELS: two files with a comma between them",
                 {{"images", idx_images(1, 1, {1, 2})}}}),
    name_of);

BadInput bad_option(const std::string& name, const std::string& options, const std::string& message) {
  return {name, "train classify good.svm -o out.esp " + options, message};
}
constexpr const char* kSee = "; see 'espalier train classify --help'";

INSTANTIATE_TEST_SUITE_P(
    Options, BadInputTest,
    ::testing::Values(
        bad_option("Format", "--format csv",
                   "--format: 'csv' is no format of classification; expected libsvm, crfsuite or idx"),
        bad_option("Loss", "--loss hinge",
                   "--loss: 'hinge' is no loss; expected crf, svm, softmax-margin, perceptron, or BETA,GAMMA "
                   "with BETA in "
                   "(0, inf] and GAMMA >= 0"),
        bad_option("BetaZero", "--loss 0,1",
                   "--loss: '0,1' is no loss; expected crf, svm, softmax-margin, perceptron, or BETA,GAMMA "
                   "with BETA in "
                   "(0, inf] and GAMMA >= 0"),
        bad_option("GammaNegative", "--loss 1,-1",
                   "--loss: '1,-1' is no loss; expected crf, svm, softmax-margin, perceptron, or BETA,GAMMA "
                   "with BETA in "
                   "(0, inf] and GAMMA >= 0"),
        bad_option("PerceptronByEg", "--loss perceptron --solver eg",
                   "--loss perceptron: its regularised optimum is theta = 0; expected a loss with a cost "
                   "(gamma > 0) or "
                   "a finite beta"),
        bad_option("Solver", "--solver newton",
                   "--solver: 'newton' is no solver; expected one of eg, eg-batch, sdca, frank-wolfe, smo, "
                   "excessive-gap, "
                   "extragradient, cutting-plane, bmrm, lbfgs, sgd, dca, mira, perceptron"),
        bad_option(
            "SolverOfAChain", "--solver eg,,lbfgs",
            "--solver: '' is no solver; expected one of eg, eg-batch, sdca, frank-wolfe, smo, excessive-gap, "
            "extragradient, cutting-plane, bmrm, lbfgs, sgd, dca, mira, perceptron"),
        bad_option("SolverForLoss", "--solver lbfgs --loss svm",
                   "--solver lbfgs: not for loss svm; expected a loss of finite beta, or --solver eg"),
        bad_option("Sampling", "--sampling up",
                   "--sampling: 'up' is no way of sampling; expected gap, random, shuffled or cyclic"),
        bad_option("Step", "--step big", "--step: 'big' is no step rule; expected auto, paper or safe"),
        bad_option("Start", "--start here", "--start: 'here' is no starting point; expected gold or uniform"),
        bad_option("L2Zero", "--l2 0", "--l2: '0' is no regularisation; expected a number > 0, or auto"),
        bad_option("L2Negative", "--l2 -1",
                   "--l2: '-1' is no regularisation; expected a number > 0, or auto"),
        bad_option("L2Text", "--l2 abc", "--l2: 'abc' is no regularisation; expected a number > 0, or auto"),
        bad_option("L2NotANumber", "--l2 nan",
                   "--l2: 'nan' is no regularisation; expected a number > 0, or auto"),
        bad_option("L2AutoWithoutDev", "--l2 auto",
                   "--l2 auto: no held-out data to choose by; expected --dev FILE"),
        bad_option("GapNegative", "--gap -1",
                   std::string("--gap: found '-1'; expected a number >= 0") + kSee),
        bad_option("GapNotANumber", "--gap nan",
                   std::string("--gap: found 'nan'; expected a number >= 0") + kSee),
        bad_option("PassesZero", "--passes 0",
                   std::string("--passes: found '0'; expected a number > 0") + kSee),
        bad_option("PassesText", "--passes abc",
                   std::string("--passes: found 'abc'; expected a number > 0") + kSee),
        bad_option("SecondsZero", "--seconds 0",
                   std::string("--seconds: found '0'; expected a number > 0") + kSee),
        bad_option("ReportEveryZero", "--report-every 0",
                   std::string("--report-every: found '0'; expected a number > 0") + kSee),
        bad_option("SeedNegative", "--seed -1",
                   std::string("--seed: found '-1'; expected a whole number >= 0") + kSee),
        bad_option("FirstZero", "--first 0",
                   std::string("--first: found '0'; expected a whole number >= 1") + kSee),
        bad_option("FirstNegative", "--first -1",
                   std::string("--first: found '-1'; expected a whole number >= 1") + kSee),
        bad_option("ThreadsText", "--threads 1.5",
                   std::string("--threads: found '1.5'; expected a whole number >= 1") + kSee),
        bad_option("Unknown", "--speed 3", std::string("unexpected argument '--speed'") + kSee),
        bad_option("OneFileTooMany", "more.svm", std::string("unexpected argument 'more.svm'") + kSee),
        bad_option("Twice", "--passes 1 --passes 2", std::string("--passes: given more than once") + kSee),
        bad_option("NoValue", "--dev", std::string("--dev: no value; expected one") + kSee),
        BadInput{"NoTrainingData", "train classify -o out.esp", std::string("TRAIN is required") + kSee},
        BadInput{"NoOutput", "train classify good.svm", std::string("--output is required") + kSee},
        BadInput{"NoCommand", "",
                 "no command; expected train, predict, eval, path, cross-validate, race, show, convert, demo "
                 "or generate; see "
                 "'espalier --help'"},
        BadInput{"UnknownCommand", "trane classify good.svm",
                 "'trane' is no command; expected train, predict, eval, path, cross-validate, race, show, "
                 "convert, demo or generate; see 'espalier --help'"},
        BadInput{"NoTask", "train", "no task; expected tag, classify or parse; see 'espalier train --help'"},
        BadInput{"UnknownTask", "path sort good.svm --dev good.svm",
                 "'sort' is no task; expected tag, classify or parse; see 'espalier path --help'"},
        BadInput{"PathWithoutDev", "path classify good.svm",
                 "--dev is required; see 'espalier path classify --help'"},
        BadInput{"PathWithL2", "path classify good.svm --dev good.svm --l2 1",
                 "unexpected argument '--l2'; see 'espalier path classify --help'"},
        BadInput{"PathUpwards", "path classify good.svm --dev good.svm --l2-max 1 --l2-min 2 -o out.esp",
                 "--l2-max 1 --l2-min 2: no range; expected 0 < l2-min <= l2-max"},
        BadInput{"PathStandsStill", "path classify good.svm --dev good.svm --factor 1 -o out.esp",
                 "--factor 1: l2 would not decrease; expected a number between 0 and 1"},
        BadInput{"PathModelAmongItsTable", "path classify good.svm --dev good.svm -o -",
                 "--output -: standard output is where the table goes; expected the name of a file"},
        BadInput{"Kbest", "predict model.esp good.svm --kbest 0 -o out.txt",
                 "--kbest: found '0'; expected a whole number >= 1; see 'espalier predict --help'"},
        BadInput{"MarginalsOfAMargin", "predict margin.esp good.svm --marginals -o out.txt",
                 "--marginals: a model of loss svm has no probabilities; expected one trained with a finite "
                 "beta, as "
                 "--loss crf"},
        BadInput{"WeightsAsJson", "show model.esp --json --weights",
                 "--json excludes --weights; see 'espalier show --help'"},
        BadInput{"Demo", "demo juggle", "demo: 'juggle' has no demo; expected tag, classify or parse"},
        BadInput{"Generate", "generate juggle -o out.txt",
                 "generate: 'juggle' is no task; expected classify, tag, supertag, parse or treebank"},
        BadInput{"GenerateNegative", "generate classify -n -1 -o out.txt",
                 "--sentences: found '-1'; expected a whole number >= 0; see 'espalier generate --help'"}),
    name_of);

BadInput bad_costs(const std::string& name, const std::string& line, const std::string& message) {
  return {name,
          "train classify good.svm --costs costs.txt -o out.esp",
          "costs.txt:3: " + message,
          {{"costs.txt", "# gold predicted cost\n1 2 5\n" + line + "\n"}}};
}

INSTANTIATE_TEST_SUITE_P(
    Costs, BadInputTest,
    ::testing::Values(
        bad_costs("UnknownLabel", "1 3 1", "the label '3'; expected a label of the training data"),
        bad_costs("Negative", "2 1 -1", "the cost '-1'; expected a number >= 0"),
        bad_costs("NotANumber", "2 1 much", "the cost 'much'; expected a number >= 0"),
        bad_costs("RightAnswer", "2 2 1",
                  "the cost '1' for the right answer; expected 0: being right is free"),
        bad_costs("Twice", "1 2 6", "'1' '2' once more; expected each pair once"),
        bad_costs("TwoFields", "1 2", "2 fields; expected GOLD PREDICTED COST"),
        BadInput{"Missing", "train classify good.svm --costs costs.txt -o out.esp",
                 "costs.txt: cannot open: No such file or directory; expected a file that can be read"}),
    name_of);

constexpr const char* kNoFolder =
    ": cannot create: No such file or directory; expected a folder that exists and can be written";
constexpr const char* kFull =
    "/dev/full: cannot write: No space left on device; make room there or write elsewhere";

INSTANTIATE_TEST_SUITE_P(
    Outputs, BadInputTest,
    ::testing::Values(
        BadInput{"ModelInAMissingFolder", "train classify good.svm -o none/out.esp",
                 std::string("none/out.esp") + kNoFolder},
        BadInput{"ModelIsAFolder",
                 "train classify good.svm -o folder",
                 "folder: is a folder; expected the name of a file to write",
                 {{"folder/", ""}}},
        BadInput{"ModelPacked", "train classify none.svm -o out.esp.gz",
                 "out.esp.gz: models are not packed; expected a name that ends otherwise, such as model.esp"},
        BadInput{"ModelOnAFullDisk", "train classify good.svm --quiet -o /dev/full", kFull},
        BadInput{"LogInAMissingFolder", "train classify good.svm -o out.esp --log none/run.jsonl",
                 std::string("none/run.jsonl") + kNoFolder},
        BadInput{"LogOnAFullDisk", "train classify good.svm --quiet -o out.esp --log /dev/full", kFull},
        BadInput{"PredictionsInAMissingFolder", "predict model.esp good.svm -o none/out.txt",
                 std::string("none/out.txt") + kNoFolder},
        BadInput{"PredictionsOnAFullDisk", "predict model.esp good.svm -o /dev/full", kFull},
        BadInput{"SentencesOnAFullDisk", "generate classify -o /dev/full", kFull}),
    name_of);

constexpr const char* kAnew = "; copy the model again or train it anew";

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
                 std::string("bad.esp: truncated: 12 bytes, not even a header") + kAnew,
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
                 "formats up to 1; "
                 "update the program",
                 {},
                 [](const BadInputTest& test) { test.set_format("model.esp", 99); }},
        BadInput{
            "NewerTask",
            "show model.esp",
            "model.esp: version 99 of classify models; this program reads up to 1; expected a newer espalier",
            {},
            [](const BadInputTest& test) { test.set_setting("model.esp", "task_version", 99); }},
        BadInput{"UnknownTask",
                 "show model.esp",
                 "model.esp: a model of the task 'juggle'; this program does not know it; expected a newer "
                 "espalier",
                 {},
                 [](const BadInputTest& test) { test.set_setting("model.esp", "task", "juggle"); }},
        BadInput{
            "OtherShape",
            "show model.esp",
            "model.esp: 6 weights for 7 rows of 2; expected as many as the rows hold; train the model anew",
            {},
            [](const BadInputTest& test) { test.set_setting("model.esp", "rows", 7); }}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Using, BadInputTest,
    ::testing::Values(
        BadInput{"DataMissing", "predict model.esp none.svm -o out.txt",
                 "none.svm: cannot open: No such file or directory; expected a file that can be read"},
        BadInput{"DataOfAnotherKind", "predict model.esp good.txt -o out.txt",
                 "good.txt:1: value 'singer' of index 1; expected a finite number; attributes that are words "
                 "need --format "
                 "crfsuite"},
        BadInput{"TextForImages", "predict digits.esp good.svm -o out.txt",
                 "good.svm: begins with 3120313a; expected 00000803, an IDX file of images"},
        BadInput{"ImagesForText",
                 "predict items.esp images -o out.txt",
                 "images:1: a NUL byte; expected a text file, as it is or packed by gzip or zstd",
                 {{"images", idx_images(1, 1, {1, 2})}}},
        BadInput{"Format", "eval model.esp good.svm --format csv",
                 "--format: 'csv' is no format of classification; expected libsvm, crfsuite or idx"},
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

constexpr const char* kTrees = "1\tIt\t_\tPRON\tPRP\t_\t2\tnsubj\n2\truns\t_\tVERB\tVBZ\t_\t0\troot\n\n";

BadInput bad_tree(const std::string& name, const std::string& lines, const std::string& message) {
  return {name,
          "train parse trees.conllu -o out.esp",
          "trees.conllu:" + message,
          {{"trees.conllu", kTrees + lines}}};
}

BadInput bad_parser_option(const std::string& name, const std::string& options, const std::string& message) {
  return {name, "train parse trees.conllu -o out.esp " + options, message, {{"trees.conllu", kTrees}}};
}

constexpr const char* kSeeParse = "; see 'espalier train parse --help'";

INSTANTIATE_TEST_SUITE_P(
    Parsing, BadInputTest,
    ::testing::Values(
        bad_tree("HeadBeyondTheEnd", "1\tYes\t_\tINTJ\tUH\t_\t2\troot\n",
                 "4: the head 2; expected another word, 1 to 1, or 0 for the root"),
        bad_tree("OwnHead", "1\tYes\t_\tINTJ\tUH\t_\t1\troot\n",
                 "4: word 1 as its own head; expected another word, 1 to 1, or 0 for the root"),
        bad_tree("Cycle", "1\ta\t_\tX\tX\t_\t2\tx\n2\tb\t_\tX\tX\t_\t1\tx\n3\tc\t_\tX\tX\t_\t0\troot\n",
                 "4: a cycle of heads, 1 <- 2 <- 1; expected heads that lead every word to the root, 0"),
        bad_tree("NoHead", "1\tYes\t_\tINTJ\tUH\t_\t_\t_\n",
                 "4: the head '_'; expected the number of a word, or 0 for the root"),
        bad_tree("SpacesForTabs", "1 Yes _ INTJ UH _ 0 root\n",
                 "4: no TAB in '1 Yes _ INTJ UH _ 0 root'; expected CoNLL-X or CoNLL-U"),
        BadInput{"NoTrees",
                 "train parse trees.conllu -o out.esp",
                 "trees.conllu: no sentences; expected some",
                 {{"trees.conllu", "\n\n"}}},
        BadInput{"ColumnsForTrees",
                 "train parse columns.txt -o out.esp",
                 "columns.txt:1: the ID 'It'; expected 1, that of a sentence's first word",
                 {{"columns.txt", "It\tPRP\tO\n"}}},
        bad_parser_option("Structure", "--structure tree",
                          "--structure: 'tree'; expected projective or nonprojective"),
        bad_parser_option("Crossing", "--crossing no", "--crossing: 'no'; expected lift, drop or refuse"),
        bad_parser_option("FewBits", "--hash-bits 9",
                          std::string("--hash-bits: found '9'; expected a whole number from 10 to 30") +
                              kSeeParse),
        bad_parser_option("ManyBits", "--hash-bits 31",
                          std::string("--hash-bits: found '31'; expected a whole number from 10 to 30") +
                              kSeeParse),
        bad_parser_option("NoHeads", "--most-heads 0",
                          std::string("--most-heads: found '0'; expected a whole number >= 1") + kSeeParse),
        bad_parser_option(
            "PruneAll", "--prune-below 1.5",
            std::string("--prune-below: found '1.5'; expected a probability, a number from 0 to 1") +
                kSeeParse),
        bad_parser_option("Partial", "--partial", std::string("unexpected argument '--partial'") + kSeeParse),
        bad_parser_option("EmptyDev", "--unlabelled --dev /dev/null",
                          "/dev/null: no sentences; expected some"),
        bad_parser_option("InitFromAnother", "--init model.esp --quiet",
                          "model.esp: a model of the task classify; expected one of the task parse"),
        BadInput{
            "CrossingRefused",
            "train parse trees.conllu --crossing refuse -o out.esp",
            "trees.conllu:1: a tree with crossing arcs; expected a projective one, --crossing lift or drop, "
            "or "
            "--structure nonprojective",
            {{"trees.conllu",
              "1\ta\t_\tX\tX\t_\t3\tx\n2\tb\t_\tX\tX\t_\t4\tx\n3\tc\t_\tX\tX\t_\t0\troot\n4\td\t_\tX\tX\t_"
              "\t3\tx\n"}}},
        BadInput{
            "TwoRoots",
            "train parse trees.conllu --single-root -o out.esp",
            "trees.conllu:4: a sentence with several words on the root; expected one, or training without "
            "--single-root",
            {{"trees.conllu",
              std::string(kTrees) + "1\ta\t_\tX\tX\t_\t0\troot\n2\tb\t_\tX\tX\t_\t0\troot\n"}}},
        BadInput{
            "TreesForAClassifier",
            "predict model.esp trees.conllu -o out.txt",
            "trees.conllu:1: value 'It' of index 1; expected a finite number; attributes that are words need "
            "--format crfsuite",
            {{"trees.conllu", kTrees}}}),
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

using CliOutputTest = CliTest;

// Numbers that are worth nothing are not saved.
TEST_F(CliOutputTest, AnObjectiveThatIsNotFiniteIsAFailure) {
  write("good.svm", kGood);
  const Outcome outcome = run("train classify good.svm --l2 1e-300 --quiet -o out.esp --log run.jsonl");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_TRUE(outcome.err.starts_with("espalier: failed: the objective is not finite after ")) << outcome.err;
  EXPECT_TRUE(outcome.err.ends_with(" passes; expected finite numbers: check the data's values and l2\n"))
      << outcome.err;
  EXPECT_EQ(files(), (std::set<std::string>{"good.svm", "run.jsonl"}));
  const std::vector<std::string> log = lines(read("run.jsonl"));
  const Json last = Json::parse(log.back());
  EXPECT_EQ(last.at("event"), "end");
  EXPECT_EQ(last.at("status"), "failed");
  EXPECT_FALSE(last.contains("model"));
  EXPECT_FALSE(Json::parse(log[log.size() - 2]).contains("primal"));  // JSON has no such number
}

TEST_F(CliOutputTest, AFailedRunLeavesTheOldModelAndLogAlone) {
  write("good.svm", kGood);
  write("old.esp", "a model of last week");
  write("old.jsonl", "a log of last week");
  EXPECT_EQ(run("train classify none.svm -o old.esp --log old.jsonl").status, 2);
  EXPECT_EQ(read("old.esp"), "a model of last week");
  EXPECT_EQ(read("old.jsonl"), "a log of last week");
}

TEST_F(CliOutputTest, StandardOutputOnAFullDiskIsTold) {
  write("good.svm", kGood);
  succeed("train classify good.svm --quiet -o model.esp");
  RunOptions full = here();
  full.output = "/dev/full";
  const std::pair<const char*, const char*> cases[] = {
      {"predict model.esp good.svm", "cannot write: No space left on device"},
      {"show model.esp", "cannot write: No space left on device"},
      {"eval model.esp good.svm --json", "cannot write: No space left on device"},
      {"generate tag", "cannot write: No space left on device"},
      {"path classify good.svm --dev good.svm --factor 0.1 --quiet", "cannot be written"},
      {"--help", "cannot be written"},
  };
  for (const auto& [arguments, why] : cases) {
    const Outcome outcome = run_program(command(arguments), full);
    EXPECT_EQ(outcome.status, 2) << arguments;
    EXPECT_EQ(outcome.err,
              std::string("espalier: standard output: ") + why + "; make room there or write elsewhere\n");
  }
}

TEST_F(CliOutputTest, StandardErrorOnAFullDiskDoesNotCostTheModel) {
  write("good.svm", kGood);
  EXPECT_EQ(run_shell("$E train classify good.svm -o model.esp 2> /dev/full").status, 0);
  EXPECT_EQ(run("show model.esp").status, 0);
  EXPECT_EQ(run_shell("$E train classify none.svm -o model.esp 2> /dev/full").status, 2);
}

}  // namespace
}  // namespace espalier::testing
