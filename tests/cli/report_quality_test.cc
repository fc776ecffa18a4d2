// What a report says of a model's errors and weights, counted anew from what `predict`, `eval` and `show
// --weights` print.

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/parse_number.h"
#include "cli/cli_test.h"

namespace espalier::testing::report_quality_test {
namespace {

using Pairs = std::map<std::pair<std::string, std::string>, std::size_t>;

Pairs pairs_of(const Json& confusion) {
  Pairs pairs;
  const Json& labels = confusion.at("labels");
  for (std::size_t g = 0; g < labels.size(); ++g) {
    for (std::size_t p = 0; p < labels.size(); ++p) {
      const auto count = confusion.at("counts")[g][p].get<std::size_t>();
      if (count > 0) pairs[{labels[g].get<std::string>(), labels[p].get<std::string>()}] = count;
    }
  }
  return pairs;
}

std::size_t total(const Json& list, const char* key) {
  std::size_t sum = 0;
  for (const Json& one : list) sum += one.at(key).get<std::size_t>();
  return sum;
}

std::vector<std::string> fields(const std::string& line) {
  std::vector<std::string> result;
  std::istringstream stream(line);
  for (std::string field; std::getline(stream, field, '\t');) result.push_back(field);
  return result;
}

class CliReportQualityTest : public CliTest {
 protected:
  // A model of generated sentences, and the report of it on others.
  Json report_on(const std::string& task, const std::string& options, int size = 120) const {
    succeed("generate " + task + " -n " + std::to_string(size) + " --seed 1 -o train");
    succeed("generate " + task + " -n 40 --seed 2 -o test");
    succeed("train " + task + " train --quiet -o m.esp " + options);
    return json("report m.esp --data test --json");
  }
};

// Of hashed weights: shares of templates, which add up to 1.
void expect_shares(const Json& document, const std::vector<std::string>& among) {
  const Json& shares = document.at("learnt").at("shares");
  double sum = 0;
  for (const auto& [name, share] : shares.items()) sum += share.get<double>();
  EXPECT_NEAR(sum, 1, 0.005);  // of four digits each
  for (const std::string& name : among) EXPECT_TRUE(shares.contains(name)) << name;
  EXPECT_GT(document.at("learnt").at("share_examples").get<std::size_t>(), 50u);
}

TEST_F(CliReportQualityTest, Tags) {
  const Json document = report_on("tag", "");
  const Json& quality = document.at("quality");
  EXPECT_EQ(quality.at("report"), json("eval m.esp test --json"));
  EXPECT_EQ(quality.at("data"), "test");

  std::set<std::string> known;
  for (const std::string& line : lines(read("train"))) {
    if (!line.empty()) known.insert(fields(line)[0]);
  }
  Pairs pairs;
  std::size_t seen = 0, unseen = 0, right_unseen = 0, wrong_sentences = 0, sure = 0, sure_right = 0;
  double surest = 0;
  const std::vector<std::string> predictions = lines(succeed("predict m.esp test --json --marginals"));
  std::vector<std::vector<std::string>> sentence;
  std::size_t number = 0;
  std::vector<std::string> all = lines(read("test"));
  all.emplace_back();
  for (const std::string& line : all) {
    if (!line.empty()) {
      sentence.push_back(fields(line));
      continue;
    }
    if (sentence.empty()) continue;
    const Json predicted = Json::parse(predictions.at(number++));
    bool wrong = false;
    for (std::size_t t = 0; t < sentence.size(); ++t) {
      const std::string gold = sentence[t][2], found = predicted.at("labels")[t].get<std::string>();
      const double p = predicted.at("marginals")[t].at(found).get<double>();
      ++pairs[{gold, found}];
      const bool is_known = known.contains(sentence[t][0]);
      ++(is_known ? seen : unseen);
      right_unseen += !is_known && gold == found ? 1 : 0;
      if (p > 0.9) ++sure, sure_right += gold == found ? 1 : 0;
      if (gold == found) continue;
      wrong = true;
      surest = std::max(surest, p);
    }
    wrong_sentences += wrong ? 1 : 0;
    sentence.clear();
  }
  ASSERT_EQ(number, predictions.size());
  EXPECT_EQ(pairs_of(quality.at("confusion")), pairs);
  EXPECT_EQ(quality.at("words").at("template"), "w[0]");
  EXPECT_EQ(quality.at("words").at("seen").at("tokens"), seen);
  EXPECT_EQ(quality.at("words").at("unseen"), (Json{{"tokens", unseen}, {"correct", right_unseen}}));
  EXPECT_EQ(total(quality.at("lengths"), "tokens"), seen + unseen);
  EXPECT_EQ(total(quality.at("lengths"), "sentences"), number);
  EXPECT_EQ(total(quality.at("lengths"), "exact"), number - wrong_sentences);
  const Json& last = quality.at("calibration").at("bins").back();
  EXPECT_EQ(last.at("count"), sure);
  EXPECT_NEAR(last.at("accuracy").get<double>(), static_cast<double>(sure_right) / static_cast<double>(sure),
              1e-4);
  const Json& errors = quality.at("errors");
  ASSERT_GT(wrong_sentences, 3u);
  EXPECT_EQ(errors.at("all"), wrong_sentences);
  EXPECT_EQ(errors.at("list").size(), wrong_sentences);
  EXPECT_NEAR(errors.at("list")[0].at("sure").get<double>(), surest, 1e-4);
  for (std::size_t k = 1; k < wrong_sentences; ++k)
    EXPECT_GE(errors.at("list")[k - 1].at("sure").get<double>(),
              errors.at("list")[k].at("sure").get<double>());
}

// Attributes in files instead of columns, and a loss without probabilities.
TEST_F(CliReportQualityTest, TagsOfAttributesByScores) {
  write("train", "A\tw=a\tx=1\nB\tw=b\n\nA\tw=a\nA\tw=a\nB\tw=b\n");
  write("test", "A\tw=a\nA\tw=b\n\nB\tw=b\tx=1\nA\tw=c\n");
  succeed("train tag train --format crfsuite --loss svm --quiet -o m.esp");
  const Json document = json("report m.esp --data test --json");
  const Json& quality = document.at("quality");
  EXPECT_EQ(quality.at("words").at("template"), "w");
  EXPECT_EQ(quality.at("words").at("unseen").at("tokens"), 1u);
  EXPECT_FALSE(quality.contains("calibration"));
  EXPECT_EQ(quality.at("errors").at("measure"), "score");
  EXPECT_EQ(quality.at("errors").at("list")[0].at("words"), Json::parse(R"(["a","b"])"));
  EXPECT_GT(quality.at("errors").at("list")[0].at("sure").get<double>(), 0);
}

TEST_F(CliReportQualityTest, Classes) {
  const Json document = report_on("classify", "--format crfsuite --l2 4");
  const Json& quality = document.at("quality");
  const Json report = json("eval m.esp test --json");
  EXPECT_EQ(quality.at("report"), report);
  const Json by_eval{{"labels", report.at("labels")}, {"counts", report.at("confusion")}};
  EXPECT_EQ(pairs_of(quality.at("confusion")), pairs_of(by_eval));
  EXPECT_EQ(quality.at("errors").at("all"), report.at("errors"));
  EXPECT_EQ(total(quality.at("calibration").at("bins"), "count"), 40u);
  const Json& first = quality.at("errors").at("list")[0];
  const std::string line = lines(read("test")).at(first.at("number").get<std::size_t>() - 1);
  EXPECT_EQ(quality.at("labels")[first.at("gold").get<std::size_t>()], fields(line)[0]);
  for (const Json& attribute : first.at("attributes"))
    EXPECT_NE(
        line.find(attribute.is_string() ? attribute.get<std::string>() : attribute[0].get<std::string>()),
        std::string::npos);
}

// share_k = sum c_k(y) s(y) / sum s(y)^2, by the weights that `show` prints.
TEST_F(CliReportQualityTest, TemplatesHaveTheirSharesOfTheVariance) {
  write("train", "A\ta=1\tb=1\nB\ta=2\tb=1:2\nC\ta=1\tb=2\nA\ta=1\tb=1\nB\ta=2\tplain\n");
  write("test", "A\ta=1\tb=2:0.5\nB\ta=2\tplain\tnew\nC\tb=1\n");
  succeed("train classify train --format crfsuite --l2 0.5 --quiet -o m.esp");
  std::map<std::string, std::map<std::string, double>> weights;
  std::map<std::string, double> squares;
  double all_squares = 0;
  const auto template_of = [](const std::string& attribute) {
    const std::size_t end = attribute.find('=');
    return end == std::string::npos ? std::string("(others)") : attribute.substr(0, end);
  };
  for (const std::string& line : lines(succeed("show m.esp --weights"))) {
    const std::vector<std::string> of = fields(line);
    const double weight = *parse_double(of[2]);
    weights[of[0]][of[1]] = weight;
    squares[template_of(of[0])] += weight * weight;
    all_squares += weight * weight;
  }
  const std::vector<std::vector<std::pair<std::string, double>>> examples{
      {{"a=1", 1}, {"b=2", 0.5}}, {{"a=2", 1}, {"plain", 1}}, {{"b=1", 1}}};
  std::map<std::string, double> covariance;
  double variance = 0;
  for (const auto& example : examples) {
    std::map<std::string, std::map<std::string, double>> contributions;
    std::map<std::string, double> scores;
    for (const auto& [attribute, value] : example) {
      for (const std::string label : {"A", "B", "C"})
        contributions[template_of(attribute)][label] += value * weights[attribute][label];
    }
    for (auto& [name, by_label] : contributions) {
      double mean = 0;
      for (const auto& [label, c] : by_label) mean += c / 3;
      for (auto& [label, c] : by_label) scores[label] += c -= mean;
    }
    for (const auto& [label, s] : scores) variance += s * s;
    for (const auto& [name, by_label] : contributions) {
      for (const auto& [label, c] : by_label) covariance[name] += c * scores[label];
    }
  }
  const Json learnt = json("report m.esp --data test --json").at("learnt");
  ASSERT_EQ(learnt.at("templates").size(), 3u);
  double sum = 0;
  for (const Json& one : learnt.at("templates")) {
    const auto name = one.at("name").get<std::string>();
    EXPECT_NEAR(one.at("share").get<double>(), covariance[name] / variance, 2e-4) << name;
    EXPECT_NEAR(one.at("squares").get<double>(), squares[name] / all_squares, 2e-4) << name;
    sum += one.at("share").get<double>();
  }
  EXPECT_NEAR(sum, 1, 5e-4);
}

TEST_F(CliReportQualityTest, WhatATaggerLearnt) {
  const Json learnt = report_on("tag", "").at("learnt");
  std::map<std::string, std::vector<std::pair<double, std::string>>> of_label;
  std::map<std::pair<std::string, std::string>, double> steps;
  std::size_t weights = 0;
  for (const std::string& line : lines(succeed("show m.esp --weights"))) {
    const std::vector<std::string> of = fields(line);
    ++weights;
    const double weight = *parse_double(of.back());
    if (of.size() == 3) of_label[of[1]].emplace_back(-weight, of[0]);
    if (of.size() == 4) steps[{of[1], of[2]}] = weight;
  }
  EXPECT_EQ(learnt.at("weights").at("all"), weights);
  std::size_t counted = learnt.at("weights").at("histogram").at("zeros").get<std::size_t>();
  for (const Json& count : learnt.at("weights").at("histogram").at("counts"))
    counted += count.get<std::size_t>();
  EXPECT_EQ(counted, weights);
  const Json& labels = learnt.at("labels");
  const auto name = [&](const Json& id) { return labels[id.get<std::size_t>()].get<std::string>(); };
  EXPECT_EQ(learnt.at("strongest").size(), 9u);
  for (const Json& one : learnt.at("strongest")) {
    auto& all = of_label[name(one.at("label"))];
    std::ranges::sort(all);
    for (std::size_t k = 0; k < one.at("positive").size(); ++k)
      EXPECT_NEAR(one.at("positive")[k][1].get<double>(), -all[k].first, 1e-3 * std::abs(all[k].first));
    for (std::size_t k = 0; k < one.at("negative").size(); ++k)
      EXPECT_NEAR(one.at("negative")[k][1].get<double>(), -all[all.size() - 1 - k].first,
                  1e-3 * std::abs(all[all.size() - 1 - k].first));
  }
  const Json& matrix = learnt.at("transitions")[0];
  for (std::size_t r = 0; r < 9; ++r) {
    for (std::size_t c = 0; c < 9; ++c) {
      const double wanted = steps.at({name(matrix.at("labels")[r]), name(matrix.at("labels")[c])});
      EXPECT_NEAR(matrix.at("values")[r][c].get<double>(), wanted, 1e-3 * std::abs(wanted));
    }
  }
  const Json& first = learnt.at("search").at("attributes")[0];
  std::vector<std::pair<double, std::string>> heaviest;
  for (const auto& [label, all] : of_label) {
    for (const auto& [weight, attribute] : all) {
      if (attribute == first[0].get<std::string>()) heaviest.emplace_back(-std::abs(weight), label);
    }
  }
  std::ranges::sort(heaviest);
  EXPECT_EQ(name(first[1][0][0]), heaviest[0].second);
}

TEST_F(CliReportQualityTest, DependencyTrees) {
  const Json document = report_on("parse", "--l2 10 --hash-bits 14");
  const Json& quality = document.at("quality");
  const Json report = json("eval m.esp test --json");
  EXPECT_EQ(quality.at("report"), report);
  for (const Json& table : quality.at("attachment")) {
    EXPECT_EQ(total(table[2], "words"), report.at("words").get<std::size_t>()) << table[0];
    EXPECT_EQ(total(table[2], "heads"), report.at("correct_heads").get<std::size_t>()) << table[0];
    EXPECT_EQ(total(table[2], "labelled"), report.at("correct_labelled").get<std::size_t>()) << table[0];
  }
  EXPECT_EQ(total(quality.at("calibration").at("bins"), "count"), report.at("words").get<std::size_t>());
  // The words that are wrong in all trees are those that eval counts.
  std::size_t wrong_heads = 0;
  for (const Json& one : quality.at("errors").at("list")) {
    for (std::size_t i = 0; i < one.at("heads").size(); ++i)
      wrong_heads += one.at("heads")[i] == one.at("predicted")[i] ? 0 : 1;
  }
  EXPECT_EQ(wrong_heads,
            report.at("words").get<std::size_t>() - report.at("correct_heads").get<std::size_t>());
  for (const Json& one : document.at("learnt").at("templates"))
    EXPECT_EQ(one.at("strongest").size(), 0u);  // hashed
  expect_shares(document, {"arc: head.xpos word.xpos", "relation: head.xpos word.xpos"});
}

TEST_F(CliReportQualityTest, PhraseTrees) {
  const Json document = report_on("treebank", "--gap 1e-2 --hash-bits 12", 80);
  const Json& quality = document.at("quality");
  const Json report = json("eval m.esp test --json");
  std::size_t gold = 0, predicted = 0, correct = 0;
  for (const auto& [label, of] : quality.at("types").items()) {
    gold += of.at("gold").get<std::size_t>();
    predicted += of.at("predicted").get<std::size_t>();
    correct += of.at("correct").get<std::size_t>();
  }
  EXPECT_EQ(gold, report.at("gold_brackets").get<std::size_t>());
  EXPECT_EQ(predicted, report.at("predicted_brackets").get<std::size_t>());
  EXPECT_EQ(correct, report.at("correct_brackets").get<std::size_t>());
  EXPECT_EQ(quality.at("errors").at("all").get<std::size_t>(),
            report.at("sentences").get<std::size_t>() - report.at("exact_sentences").get<std::size_t>());
  expect_shares(document, {"span: first.tag last.tag length", "split: before.form first.form"});
  std::size_t calibrated = 0;
  double right = 0;
  for (const Json& bin : quality.at("calibration").at("bins")) {
    calibrated += bin.at("count").get<std::size_t>();
    right += bin.at("accuracy").get<double>() * bin.at("count").get<double>();
  }
  // Brackets of punctuation are left out by eval, and so are those of whole trees.
  EXPECT_GE(calibrated, predicted / 2);
  EXPECT_NEAR(right / static_cast<double>(calibrated),
              static_cast<double>(correct) / static_cast<double>(predicted), 0.1);
  const Json& first = quality.at("errors").at("list")[0];
  const std::string trees = succeed("predict m.esp test");
  std::string brackets;
  const auto append = [&](const auto& self, const Json& node) -> void {
    brackets += '(' + node[0].get<std::string>();
    for (std::size_t k = 1; k < node.size(); ++k) {
      brackets += ' ';
      if (node[k].is_string()) {
        brackets += node[k].get<std::string>();
      } else {
        self(self, node[k]);
      }
    }
    brackets += ')';
  };
  append(append, first.at("predicted"));
  EXPECT_NE(trees.find(brackets), std::string::npos) << brackets;
}

TEST_F(CliReportQualityTest, Graphs) {
  const Json document = report_on("graph", "", 20);
  const Json& quality = document.at("quality");
  const Json report = json("eval m.esp test --json");
  std::size_t right = 0, all = 0;
  for (const auto& [pair, count] : pairs_of(quality.at("confusion"))) {
    all += count;
    right += pair.first == pair.second ? count : 0;
  }
  EXPECT_EQ(all, report.at("nodes").get<std::size_t>());
  EXPECT_EQ(right, report.at("correct_nodes").get<std::size_t>());
  // Pictures of 8 x 8 pixels, row by row, whose places follow from their edges.
  const Json& positions = quality.at("errors").at("list")[0].at("positions");
  ASSERT_EQ(positions.size(), 64u);
  for (std::size_t v = 0; v < 64; ++v) EXPECT_EQ(positions[v], Json::array({v % 8, v / 8}));
  EXPECT_EQ(quality.at("errors").at("list")[0].at("edges").size(), 2u * 7 * 8);

  // What nodes and edges contribute, at the labels that are predicted around a node.
  std::map<std::string, double> weights;
  for (const std::string& line : lines(succeed("show m.esp --weights"))) {
    const std::vector<std::string> of = fields(line);
    std::string name = of[0];
    for (std::size_t k = 1; k + 1 < of.size(); ++k) name += ' ' + of[k];
    weights[name] = *parse_double(of.back());
  }
  std::map<std::string, double> covariance;
  double variance = 0;
  for (const std::string& line : lines(succeed("predict m.esp test"))) {
    const Json graph = Json::parse(line);
    const auto labels = graph.at("labels").get<std::vector<std::string>>();
    for (std::size_t v = 0; v < labels.size(); ++v) {
      std::map<std::string, double> ink;  // how much more than to paper; centred, half of it
      const auto feature = graph.at("nodes")[v].at("features")[0].get<std::string>();
      ink["pixel"] = weights.at("pixel:" + feature + " ink") - weights.at("pixel:" + feature + " paper");
      for (const Json& clique : graph.at("cliques")) {
        const auto a = clique.at("nodes")[0].get<std::size_t>(), b = clique.at("nodes")[1].get<std::size_t>();
        if (a != v && b != v) continue;
        const auto type = clique.at("type").get<std::string>();
        const auto weight = [&](const std::string& label) {
          const std::string first = a == v ? label : labels[a], second = b == v ? label : labels[b];
          std::string name = type;
          name += ":constant ";
          name += first;
          name += ' ';
          name += second;
          return weights.at(name);
        };
        ink[type] += weight("ink") - weight("paper");
      }
      double score = 0;
      for (const auto& [name, c] : ink) score += c;
      variance += score * score;
      for (const auto& [name, c] : ink) covariance[name] += c * score;
    }
  }
  ASSERT_EQ(document.at("learnt").at("templates").size(), 3u);
  for (const Json& one : document.at("learnt").at("templates")) {
    const auto name = one.at("name").get<std::string>();
    EXPECT_NEAR(one.at("share").get<double>(), covariance.at(name) / variance, 2e-4) << name;
  }

  write(
      "placed",
      R"({"nodes":[{"type":"pixel","features":["light"]},{"type":"pixel","features":["dark"]}],"positions":[[0.5,2],[3,1]],"labels":["ink","paper"]})"
      "\n");
  const Json placed = json("report m.esp --data placed --json").at("quality").at("errors").at("list")[0];
  EXPECT_EQ(placed.at("positions"), Json::parse("[[0.5,2],[3,1]]"));
}

TEST_F(CliReportQualityTest, PicturesOfPixels) {
  const std::string images = std::string("\0\0\x08\x03\0\0\0\x04\0\0\0\x04\0\0\0\x04", 16);
  const std::string labels = std::string("\0\0\x08\x01\0\0\0\x04\1\2\1\2", 12);
  std::string pixels(64, '\0');
  for (const std::size_t at : {0u, 5u, 16u + 15u, 32u, 37u, 48u + 15u}) pixels[at] = '\xff';
  write("images", images + pixels);
  write("labels", labels);
  std::string wrong = labels;
  std::swap(wrong[8], wrong[9]);
  write("wrong", wrong);
  succeed("train classify images,labels --quiet -o m.esp");
  const Json document = json("report m.esp --data images,wrong --json");
  const Json& errors = document.at("quality").at("errors");
  ASSERT_EQ(errors.at("all"), 2u);
  std::map<std::size_t, std::string> found;
  for (const Json& one : errors.at("list"))
    found[one.at("number").get<std::size_t>()] = one.at("pixels").get<std::string>();
  EXPECT_EQ(found.at(1), "ff00000000ff" + std::string(20, '0'));
  EXPECT_EQ(found.at(2), std::string(30, '0') + "ff");
  const Json& pictures = document.at("learnt").at("pictures");
  EXPECT_EQ(pictures.at("rows"), 4u);
  EXPECT_GT(pictures.at("values")[0][0].get<double>(), 0);
  EXPECT_LT(pictures.at("values")[1][0].get<double>(), 0);
}

TEST_F(CliReportQualityTest, RefusesDataThatDoNotFit) {
  report_on("tag", "--passes 1 --gap 1");
  write("empty", "");
  EXPECT_EQ(error("report m.esp --data empty -o r.html"), error("eval m.esp empty"));
  EXPECT_EQ(error("report m.esp --data missing -o r.html"), error("eval m.esp missing"));
  EXPECT_EQ(error("report m.esp --data - -o r.html"),
            "espalier: --data: not from standard input, since it is read several times; expected a file");
  EXPECT_EQ(error("report m.esp --data test -o test"),
            "espalier: test: is both the output (-o) and the labelled data (--data); expected another file "
            "for the output");
  EXPECT_EQ(files().count("r.html"), 0u);
}

TEST_F(CliReportQualityTest, RunsWriteTheirOwn) {
  succeed("generate tag -n 60 --seed 1 -o train");
  succeed("generate tag -n 20 --seed 2 -o dev");
  const auto document_of = [&](const std::string& file) {
    const std::string page = read(file), begin = "<script type=\"application/json\" id=\"document\">";
    const std::size_t from = page.find(begin) + begin.size();
    return Json::parse(page.substr(from, page.find("</script>", from) - from));
  };
  const std::string values = " --l2-max 10 --l2-min 1 --factor 0.1 --quiet";
  succeed("train tag train --dev dev --quiet -o m.esp --log run.jsonl --report train.html");
  const Json trained = document_of("train.html"),
             of_log = json("report m.esp --data dev --log run.jsonl --json");
  EXPECT_EQ(trained, of_log);
  succeed("train tag train --quiet -o m.esp --report plain.html");
  EXPECT_FALSE(document_of("plain.html").contains("quality"));
  EXPECT_EQ(document_of("plain.html").at("certificate").at("runs").size(), 1u);
  succeed("path tag train --dev dev --report path.html" + values);
  EXPECT_EQ(document_of("path.html").at("certificate").at("runs")[0].at("path").at("points").size(), 2u);
  EXPECT_TRUE(document_of("path.html").contains("quality"));
  succeed("cross-validate tag train --folds 2 --report folds.html" + values);
  EXPECT_EQ(document_of("folds.html").at("certificate").at("runs")[0].at("folds").at("each").size(), 2u);
  EXPECT_FALSE(document_of("folds.html").contains("learnt"));
  succeed("cross-validate tag train --folds 2 -o m.esp --report folds.html" + values);
  EXPECT_EQ(document_of("folds.html").at("title"), "m.esp");
  succeed("race tag train --solvers eg,lbfgs --quiet --report race.html");
  EXPECT_EQ(document_of("race.html").at("certificate").at("runs")[0].at("race").size(), 2u);

  // What goes wrong with it does not lose the run.
  const Outcome full = run("train tag train --quiet -o saved.esp --report /dev/full");
  EXPECT_EQ(full.status, 0);
  EXPECT_TRUE(files().contains("saved.esp"));
  EXPECT_TRUE(full.err.ends_with("; there is no report\n")) << full.err;

  EXPECT_EQ(error("train tag train --quiet -o m.esp --report -"),
            "espalier: --report -: found standard output; expected the name of a file");
  EXPECT_EQ(error("train tag train --quiet -o m.esp --report m.esp"),
            "espalier: m.esp: is both the output (-o) and the report (--report); expected another file for "
            "the output");
  EXPECT_EQ(error("train tag train --quiet -o m.esp --report none/r.html").substr(0, 22),
            "espalier: none/r.html:");
}

TEST_F(CliReportQualityTest, ADemoWritesOne) {
  const Outcome outcome = run("demo graph --report");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  ASSERT_EQ(files(), std::set<std::string>{"espalier-demo-graph.html"});
  const std::string page = read("espalier-demo-graph.html");
  EXPECT_NE(page.find("\"quality\":{\"task\":\"graph\""), std::string::npos);
  EXPECT_NE(outcome.out.find("/espalier-demo-graph.html\n"), std::string::npos);
}

}  // namespace
}  // namespace espalier::testing::report_quality_test
