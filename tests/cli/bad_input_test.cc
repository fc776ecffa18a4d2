// Data that cannot be read or trained on.

#include "cli/bad_input.h"

namespace espalier::testing::bad_input_test {
namespace {

TEST_P(BadInputTest, IsAnsweredWithOneLine) {
  set_up();
  const auto before = files();
  const Outcome outcome = run(GetParam().arguments);
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.err, "espalier: " + GetParam().message + "\n");
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(files(), before);
}

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
                 "bad.svm:2: a NUL byte; expected a text file, plain or compressed by gzip, zstd or xz",
                 {{"bad.svm", std::string("1 1:1\n\0\1\2\n", 10)}}},
        BadInput{"EscapeCodes",
                 "train classify bad.svm -o out.esp",
                 "bad.svm:1: value '\\x1b[31mred' of index 1; expected a finite number",
                 {{"bad.svm", "1 1:\x1b[31mred\n"}}},
        BadInput{"NestedTooDeep",
                 "train graph bad.jsonl -o out.esp",
                 "bad.jsonl:1: lists and objects nested more than 500 deep; expected shallower ones",
                 {{"bad.jsonl", std::string(105000, '[') + "\n"}}},
        BadInput{"AnnouncedAndNotThere",
                 "infer bad.uai --task PR",
                 "bad.uai:1: the file ends; expected the number of a variable's labels, from 1 to 2147483647",
                 {{"bad.uai", "MARKOV 2147483647 2"}}},
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
        bad_line("Index", "1 x:1", "index 'x'; expected a whole number >= 1; names need --format named"),
        bad_line("IndexCrlf", "1 x:1", "index 'x'; expected a whole number >= 1; names need --format named",
                 "\r\n"),
        bad_line("NegativeIndex", "1 -1:1",
                 "index '-1'; expected a whole number >= 1; names need --format named"),
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
        bad_line("SeveralLabels", "1,2 1:1", "several labels '1,2'; expected one label per row"),
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
        BadInput{"TextWithoutTab",
                 "train classify bad.txt --format text -o out.esp",
                 "bad.txt:3: no TAB in the line; expected 'label TAB text'",
                 {{"bad.txt", "x\ta\r\ny\tb\r\nx some words\r\n"}}},
        BadInput{"TextWithoutLabel",
                 "train classify bad.txt --format text -o out.esp",
                 "bad.txt:2: no label before the TAB; expected 'label TAB text'",
                 {{"bad.txt", "x\ta\n \tb\n"}}},
        BadInput{"TextWithoutWords",
                 "train classify bad.txt --format text -o out.esp",
                 "bad.txt: no attributes in any example; expected some, and --format to be that of the data",
                 {{"bad.txt", "x\t\ny\t \n"}}},
        BadInput{"TextWithoutAttributes", "train classify good.txt --format text --ngrams 0 -o out.esp",
                 "--ngrams: 0, so a text has no attributes; expected at least 1, or some --char-ngrams"},
        BadInput{"SingleCharacters", "train classify good.txt --format text --char-ngrams 1 -o out.esp",
                 "--char-ngrams: 1; expected at least 2 characters, or 0 for none"},
        BadInput{"OptionsOfTextForNumbers", "train classify good.svm --weighting tf-idf -o out.esp",
                 "--weighting: only for text, but the format is libsvm; expected --format text"},
        BadInput{"CaseOfNumbers", "train classify good.svm --keep-case -o out.esp",
                 "--keep-case: only for text, but the format is libsvm; expected --format text"},
        BadInput{"NamedWithoutValue",
                 "train classify bad.txt --format named -o out.esp",
                 "bad.txt:2: 'b' without a value; expected 'label name:value name:value ...'",
                 {{"bad.txt", "x a:1\ny b\n"}}},
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
        bad_costs("RightAnswer", "2 2 1", "the cost '1' for the correct label; expected 0"),
        bad_costs("Twice", "1 2 6", "'1' '2' a second time; expected each pair once"),
        bad_costs("TwoFields", "1 2", "2 fields; expected GOLD PREDICTED COST"),
        BadInput{"Missing", "train classify good.svm --costs costs.txt -o out.esp",
                 "costs.txt: cannot open: No such file or directory; expected a file that can be read"}),
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
                 "columns.txt:1: the ID 'It'; expected 1, the first word of a sentence",
                 {{"columns.txt", "It\tPRP\tO\n"}}},
        bad_parser_option("Structure", "--structure tree",
                          std::string("--structure: found 'tree'; expected projective or nonprojective") +
                              kSeeParse),
        bad_parser_option("Crossing", "--crossing no",
                          std::string("--crossing: found 'no'; expected lift, drop or refuse") + kSeeParse),
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
        bad_parser_option("Partial", "--partial", std::string("unknown option '--partial'") + kSeeParse),
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
            "trees.conllu:1: value 'It' of index 1; expected a finite number; lines 'label TAB text' need "
            "--format text, attributes that are words --format crfsuite",
            {{"trees.conllu", kTrees}}}),
    name_of);

}  // namespace
}  // namespace espalier::testing::bad_input_test
