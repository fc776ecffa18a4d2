// What the paths answer, on models that were trained here, without sockets.

#include "serve/service.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <set>
#include <thread>
#include <vector>

#include "espalier/train/read.h"
#include "espalier/train/train.h"
#include "support/temporary_folder.h"

namespace espalier::testing::service_test {
namespace {

using serve::Service;
namespace fs = std::filesystem;

const std::string kEvil = "<b>\"&\\</script>";

// Words and parts of speech; names are known by their part of speech, and in one model by a label that is to
// be escaped.
Model tagger(std::size_t columns, const std::string& label = "B-PER") {
  TagData data;
  const auto add = [&](std::string_view word, std::string_view pos, std::string_view gold) {
    if (columns == 2) {
      data.add_columns({word, pos}, gold);
    } else {
      data.add_columns({word}, columns == 1 ? gold : pos);
    }
  };
  for (int i = 0; i < 3; ++i) {
    add("Anna", "NNP", label);
    add("left", "VBD", "O");
    add(".", ".", "O");
    data.end_sentence();
    add("It", "PRP", "O");
    add("rained", "VBD", "O");
    add(".", ".", "O");
    data.end_sentence();
  }
  const auto training = make_tag_training(data);
  return train(*training, {.l2 = 0.1, .gap = 1e-2});
}
// One column, and its labels are parts of speech.
Model pos_tagger() { return tagger(0); }

class ServiceTest : public ::testing::Test {
 protected:
  std::string save(const Model& model, const std::string& name) const {
    model.save(folder_.path(name));
    return folder_.path(name);
  }
  void serve(const Model& model, const std::vector<serve::ColumnFile>& columns = {},
             const serve::QuestionLimits& limits = {}) {
    model_ = std::make_unique<serve::ServedModel>(save(model, "m.esp"), columns);
    service_ = std::make_unique<Service>(*model_, serve::ServiceSettings{2, 8, limits});
  }
  serve::Response ask(const std::string& body) const {
    return service_->answer({"POST", "/v1/predict", body, {}});
  }
  Json answer(const std::string& body) const {
    const serve::Response response = ask(body);
    EXPECT_EQ(response.status, 200) << response.body;
    return Json::parse(response.body);
  }
  std::string refused(const std::string& body, int status = 400) const {
    const serve::Response response = ask(body);
    EXPECT_EQ(response.status, status) << response.body;
    const Json error = Json::parse(response.body).at("error");
    EXPECT_EQ(error.at("status").get<int>(), response.status);
    return error.at("message").get<std::string>();
  }

  TemporaryFolder folder_;
  std::unique_ptr<serve::ServedModel> model_;
  std::unique_ptr<Service> service_;
};

TEST_F(ServiceTest, TextTokensAndFilesAreAnsweredAlike) {
  const std::string pos = save(pos_tagger(), "pos.esp");
  serve(tagger(2), {{"pos", pos}});
  const Json text = answer(R"({"text":"Anna left. It rained.","marginals":"entity","kbest":2})");
  ASSERT_EQ(text["sentences"].size(), 2u);
  const Json& first = text["sentences"][0];
  EXPECT_EQ(first["tokens"].dump(), R"(["Anna","left","."])");
  EXPECT_EQ(first["columns"].dump(), R"([["NNP"],["VBD"],["."]])");
  EXPECT_EQ(first["offsets"].dump(), "[[0,4],[5,9],[9,10]]");
  EXPECT_EQ(first["labels"].dump(), R"(["B-PER","O","O"])");
  EXPECT_EQ(first["chunks"].size(), 1u);
  EXPECT_GE(first["kbest"][0]["probability"].get<double>(), first["kbest"][1]["probability"].get<double>());

  const Json words = answer(R"({"tokens":[["Anna","left","."]],"marginals":true})");
  const Json columns = answer(R"({"tokens":[[["Anna","NNP"],["left","VBD"],[".","."]]],"marginals":true})");
  EXPECT_EQ(words, columns);
  const Json file = answer(R"({"input":"Anna NNP\nleft VBD\n. .\n","marginals":true})");
  EXPECT_EQ(file["results"][0]["labels"], words["sentences"][0]["labels"]);
  EXPECT_EQ(file["results"][0]["marginals"], words["sentences"][0]["marginals"]);
  EXPECT_EQ(answer(R"({"text":""})").dump(), R"({"task":"tag","sentences":[]})");
  EXPECT_EQ(answer(R"({"tokens":[[]]})")["sentences"][0]["labels"].size(), 0u);
}

// The score of a token with one label instead of another one is what the labels' own reasons add up to.
TEST_F(ServiceTest, ForcedLabelsAndReasons) {
  serve(tagger(1));
  const auto best = [&](const std::string& more) {
    return answer(R"({"tokens":[["Anna","left"]],"kbest":1)" + more + "}")["sentences"][0];
  };
  const Json forced = best(R"(,"forced":[["O","O"]])");
  EXPECT_EQ(forced["labels"].dump(), R"(["O","O"])");
  EXPECT_NEAR(forced["kbest"][0]["probability"].get<double>(), 1, 1e-9);
  EXPECT_EQ(best(R"(,"forced":[[["O","B-PER"],null]])")["labels"].dump(), R"(["B-PER","O"])");
  const Json all = answer(R"({"tokens":[["Anna"]],"kbest":2})")["sentences"][0]["kbest"];
  const auto score = [&](const std::string& label) {
    const Json why = answer(R"({"tokens":[["Anna"]],"explain":{"token":0,"label":")" + label + "\"}}");
    const Json& explanation = why["sentences"][0]["explanation"];
    double sum = 0;
    for (const Json& one : explanation["contributions"]) {
      EXPECT_NEAR(one["contribution"].get<double>(), one["value"].get<double>() * one["weight"].get<double>(),
                  1e-9);
      sum += one["contribution"].get<double>();
    }
    EXPECT_NEAR(sum, explanation["score"].get<double>(), 1e-9);
    return sum;
  };
  EXPECT_NEAR(score("B-PER") - score("O"),
              std::log(all[0]["probability"].get<double>() / all[1]["probability"].get<double>()), 1e-5);
}

TEST_F(ServiceTest, Refuses) {
  serve(tagger(2), {}, {.kbest = 5, .tokens = 10});
  EXPECT_EQ(refused("{"), "byte 2 of the body: not JSON");
  EXPECT_EQ(refused("[]"), "expected a JSON object");
  EXPECT_EQ(refused("{}"), "expected one of text, tokens and input");
  EXPECT_EQ(refused(R"({"txt":"a"})"),
            "the member 'txt'; expected text, tokens, input, marginals, kbest, forced, explain");
  EXPECT_EQ(
      refused(R"({"text":"a"})"),
      "format: text for a model that looks at column 2 besides the words; expected a tagger that fills it: "
      "columns pos=MODEL");
  EXPECT_EQ(refused(R"({"tokens":[["a"]]})").substr(0, 7), "format:");
  EXPECT_EQ(refused(R"({"tokens":[[["a"]]]})"),
            "a token of 1 columns; expected 2 as in training, without the label");
  EXPECT_EQ(refused(R"({"tokens":"a"})"), "tokens: expected a list");
  EXPECT_EQ(refused(R"({"tokens":[[["a",""]]]})"), "tokens: an empty word or column; expected some text");
  EXPECT_EQ(refused(R"({"tokens":[[{"w=a":1}]]})").substr(0, 10), "attributes");
  const std::string token = R"(["a","b"])";
  const auto with = [&](const std::string& more) {
    return refused("{\"tokens\":[[" + token + "]]," + more + "}");
  };
  EXPECT_EQ(with(R"("kbest":6)"), "kbest: expected a whole number from 1 to 5");
  EXPECT_EQ(with(R"("kbest":0)"), "kbest: expected a whole number from 1 to 5");
  EXPECT_EQ(with(R"("marginals":"all")"), "marginals: expected true, \"label\" or, of taggers, \"entity\"");
  EXPECT_EQ(with(R"("forced":[["X"]])"), "forced: 'X'; expected a label of the model");
  EXPECT_EQ(with(R"("forced":[["O","O"]])"), "forced: 2 labels for 1 tokens");
  EXPECT_EQ(with(R"("forced":[["O"],["O"]])"), "forced: labels of 2 sentences; expected 1");
  EXPECT_EQ(with(R"("explain":{"token":1})"),
            "explain: token 1; expected one of the 1 of the sentence, from 0");
  std::string many = token;
  for (int i = 0; i < 10; ++i) many += "," + token;
  EXPECT_EQ(refused("{\"tokens\":[[" + many + "]]}", 413), "11 tokens; expected at most 10");
  EXPECT_EQ(refused(R"({"input":"a\n"})").substr(0, 8), "input:1:");
  EXPECT_EQ(refused(R"({"text":"\ud800"})").substr(0, 4), "byte");
  // It goes on as before.
  EXPECT_EQ(answer(R"({"tokens":[[["Anna","NNP"]]]})")["sentences"][0]["labels"].dump(), R"(["B-PER"])");
}

TEST_F(ServiceTest, NothingOfTheMachineAndNothingUnescaped) {
  const std::string word = kEvil;
  serve(tagger(1, kEvil));
  const std::string folder = folder_.path();
  for (const std::string path : {"/", "/v1/model", "/healthz", "/metrics", "/openapi.json"}) {
    const serve::Response response = service_->answer({"GET", path, {}, {}});
    EXPECT_EQ(response.status, 200) << path;
    EXPECT_EQ(response.body.find(folder), std::string::npos) << path;
    if (response.type == "application/json") Json::parse(response.body);
  }
  Json question = Json::object();
  question["input"] = word + "\nleft too\n";
  const std::string message = refused(question.dump());
  EXPECT_EQ(message.find("/proc"), std::string::npos) << message;
  const Json labelled = answer(R"({"text":"Anna <b>"})");
  EXPECT_EQ(labelled["sentences"][0]["labels"][0].get<std::string>(), kEvil);
  // Pages have nothing of the model in their source: scripts ask for it.
  EXPECT_EQ(service_->answer({"GET", "/", {}, {}}).body.find(kEvil), std::string::npos);
}

TEST_F(ServiceTest, Classification) {
  ClassifyData data;
  for (int i = 0; i < 3; ++i) {
    data.add_text("good fine", "yes");
    data.add_text("bad poor", "no");
  }
  serve(train(*make_classify_training(data), {.l2 = 0.1}));
  const Json one = answer(R"({"text":"so good","marginals":true,"kbest":2})");
  EXPECT_EQ(one["examples"][0]["label"].get<std::string>(), "yes");
  EXPECT_EQ(one["examples"][0]["kbest"][0]["label"].get<std::string>(), "yes");
  EXPECT_NEAR(one["examples"][0]["marginals"]["yes"].get<double>() +
                  one["examples"][0]["marginals"]["no"].get<double>(),
              1, 1e-9);
  EXPECT_EQ(answer(R"({"text":["good","poor"]})")["examples"].dump(), R"([{"label":"yes"},{"label":"no"}])");
  EXPECT_EQ(answer(R"({"input":"good\npoor\n"})")["results"].dump(), R"([{"label":"yes"},{"label":"no"}])");
  EXPECT_EQ(refused(R"({"attributes":{"a":"b"}})"), "attributes: 'a' is not a number");
  EXPECT_EQ(refused(R"({"text":"good","explain":{"label":"maybe"}})"),
            "explain: 'maybe'; expected a label of the model");
  EXPECT_EQ(refused(R"({"tokens":[]})"),
            "the member 'tokens'; expected text, attributes, input, format, marginals, kbest, explain");
}

// Scores differ by as much as the logarithms of probabilities do, however texts are weighted.
TEST_F(ServiceTest, ReasonsOfClasses) {
  ClassifyData data;
  for (int i = 0; i < 3; ++i) {
    data.add_text("good fine fine day", "yes");
    data.add_text("bad poor day", "no");
  }
  for (const std::string weighting : {"count", "binary", "tf-idf"}) {
    ClassifyOptions options;
    options.weighting = weighting;
    options.ngrams = 2;
    options.bias = true;
    serve(train(*make_classify_training(data, options), {.l2 = 0.1}));
    const std::string text = R"({"text":["","fine fine new day"],"marginals":true)";
    const Json p = answer(text + "}")["examples"][1]["marginals"];
    const auto score = [&](const std::string& label) {
      const Json why = answer(text + R"(,"explain":{"example":1,"label":")" + label + "\"}}");
      return why["examples"][1]["explanation"]["score"].get<double>();
    };
    EXPECT_NEAR(score("yes") - score("no"), std::log(p["yes"].get<double>() / p["no"].get<double>()), 1e-5)
        << weighting;
    EXPECT_FALSE(answer(text + R"(,"explain":{}})")["examples"][1].contains("explanation"));
  }
}

TEST_F(ServiceTest, TreesInTheTasksFormat) {
  TreebankData data;
  data.add("(S (NP (DT the) (NN dog)) (VP (VBD barked)))");
  data.add("(S (NP (DT a) (NN cat)) (VP (VBD slept)))");
  serve(train(*make_treebank_training(data), {.gap = 0.1}));
  const std::string tree = "(S (NP (DT a) (NN dog)) (VP (VBD slept)))";
  const auto first = [](const Json& answer) { return answer["results"][0]["tree"].get<std::string>(); };
  EXPECT_EQ(first(answer(R"({"input":")" + tree + "\"}")), tree);
  EXPECT_EQ(first(answer(R"({"tokens":[[["a","DT"],["dog","NN"],["slept","VBD"]]]})")), tree);
  EXPECT_EQ(first(answer(R"({"input":"a_DT dog_NN slept_VBD","format":"tagged"})")), tree);
  EXPECT_EQ(refused(R"({"text":"a dog"})").substr(0, 30), "format: 'text' for a model tha");
  EXPECT_EQ(refused(R"({"tokens":[["a b"]]})"), "tokens: white space in 'a b'; expected none");
  EXPECT_EQ(refused(R"({"input":"(S"})").substr(0, 8), "input:1:");

  // How probable phrases are, and what speaks for one.
  const Json more = answer("{\"input\":\"" + tree +
                           R"(","marginals":true,"explain":{"begin":0,"end":2,"label":"NP"}})")["results"][0];
  EXPECT_EQ(more["tree"].get<std::string>(), tree);
  bool found = false;
  for (const Json& one : more["constituents"]) {
    const auto p = one["probability"].get<double>();
    EXPECT_TRUE(p > 0 && p <= 1 + 1e-9) << p;
    found = found || (one["label"] == Json("NP") && one["begin"] == Json(0) && one["end"] == Json(2));
  }
  EXPECT_TRUE(found);
  EXPECT_FALSE(more["explanation"]["contributions"].empty());
  EXPECT_EQ(more["explanation"]["contributions"][0]["attribute"].get<std::string>().find("span: "), 0u);
  EXPECT_EQ(refused("{\"input\":\"" + tree + R"(","explain":{"begin":0,"end":2,"label":"<b>"}})"),
            "explain: '<b>' over words 0 to 2, of which no feature of the model says anything");
  EXPECT_EQ(refused("{\"input\":\"" + tree + R"(","explain":{"begin":2,"end":2,"label":"NP"}})"),
            "explain: expected begin, end (words 0 to 3) and the label of a phrase");

  // What would take long is refused before it begins.
  serve(model_->current()->model(), {}, {.parsed_words = 5, .longest_parsed = 3});
  EXPECT_EQ(first(answer("{\"input\":\"" + tree + "\"}")), tree);
  const std::string four = "(S (NP (DT a) (NN cat) (NN dog)) (VP (VBD slept)))";
  EXPECT_EQ(refused("{\"input\":\"" + four + "\"}", 413), "a sentence of 4 words; expected at most 3");
  EXPECT_EQ(refused("{\"input\":\"" + tree + "\\n" + tree + "\"}", 413),
            "6 words and more; expected at most 5");
  EXPECT_EQ(refused(R"({"input":"a_DT b_NN c_NN d_NN","format":"tagged"})", 413),
            "a sentence of 4 words; expected at most 3");
  EXPECT_EQ(refused(R"({"tokens":[[["a","DT"],["b","NN"],["c","NN"],["d","NN"]]]})", 413),
            "a sentence of 4 words; expected at most 3");
}

TEST_F(ServiceTest, DependenciesOfTextAndTokens) {
  ParseData data;
  for (int i = 0; i < 3; ++i) {
    data.add(
        {.form = "Anna", .coarse = "PROPN", .fine = "NNP", .relation = "nsubj", .head = 2, .has_head = true});
    data.add(
        {.form = "left", .coarse = "VERB", .fine = "VBD", .relation = "root", .head = 0, .has_head = true});
    data.end_sentence();
  }
  ParseOptions options;
  options.hash_bits = 12;
  serve(train(*make_parse_training(data, options)), {{"xpos", save(pos_tagger(), "pos.esp")}},
        {.parsed_words = 5, .longest_parsed = 3});
  const Json text = answer(R"({"text":"Anna left","marginals":true,"kbest":1})")["results"][0];
  EXPECT_EQ(text["words"].dump(), R"(["Anna","left"])");
  EXPECT_EQ(text["offsets"].dump(), "[[0,4],[5,9]]");
  EXPECT_EQ(text["heads"].dump(), "[2,0]");
  EXPECT_EQ(text["relations"].dump(), R"(["nsubj","root"])");
  EXPECT_EQ(
      answer(R"({"tokens":[[["Anna","PROPN","NNP"],["left","VERB","VBD"]]]})")["results"][0]["heads"].dump(),
      "[2,0]");

  // Heads that are given, and why a word has its own: each head by itself is a tree of two words.
  const std::string tokens = R"({"tokens":[[["Anna","PROPN","NNP"],["left","VERB","VBD"]]])";
  const Json forced = answer(tokens + R"(,"forced":[[0,null]],"marginals":true})")["results"][0];
  EXPECT_EQ(forced["heads"][0].get<int>(), 0);
  EXPECT_NEAR(forced["marginals"][0]["0"].get<double>(), 1, 1e-9);
  const auto why = [&](const std::string& more) {
    return answer(tokens + R"(,"explain":{"word":1)" + more + "}}")["results"][0]["explanation"];
  };
  EXPECT_EQ(why("")["head"].get<int>(), 2);
  EXPECT_EQ(why("")["label"].get<std::string>(), "nsubj");
  EXPECT_GT(why("")["score"].get<double>(), why(R"(,"head":0)")["score"].get<double>());
  std::set<std::string> kinds;
  const Json reasons = why("");
  for (const Json& one : reasons["contributions"]) {
    const auto name = one["attribute"].get<std::string>();
    kinds.insert(name.substr(0, name.find(' ')));
  }
  EXPECT_EQ(kinds, (std::set<std::string>{"arc:", "relation:"}));
  EXPECT_EQ(
      answer(R"({"text":"Anna left","explain":{"word":1}})")["results"][0]["explanation"]["head"].get<int>(),
      2);
  EXPECT_EQ(refused(tokens + R"(,"forced":[[2,1]]})"),
            "input:1: the given heads are of no projective tree; expected those of some tree");
  EXPECT_EQ(refused(tokens + R"(,"forced":[[2]]})"), "forced: 1 heads for 2 words");
  EXPECT_EQ(refused(tokens + R"(,"forced":[[99999999999,null]]})"),
            "forced: the head 99999999999 in a sentence of 2 words");
  // A sentence without words has no result.
  EXPECT_EQ(answer(R"({"tokens":[[],[["Anna","PROPN"],["left","VERB"]],[]],"forced":[[],[0,null],[]],)"
                   R"("explain":{"word":1}})")["results"][0]["explanation"]["head"]
                .get<int>(),
            0);
  EXPECT_EQ(refused(tokens + R"(,"forced":[["x",null]]})"),
            "forced: expected the number of a word, 0 for the root, or null");
  EXPECT_EQ(refused(R"({"text":"Anna left","forced":[[0,null]]})"),
            "forced: expected tokens, whose heads these are");
  EXPECT_EQ(refused(tokens + R"(,"explain":{"word":3}})"),
            "explain: expected the number of a word, from 1 to 2");
  EXPECT_EQ(refused(R"({"text":"one two three four"})", 413), "a sentence of 4 words; expected at most 3");
  EXPECT_EQ(refused(R"({"text":"a b c\n\nd e f"})", 413), "6 words and more; expected at most 5");
  std::string lines;
  for (int i = 1; i <= 4; ++i) lines += std::to_string(i) + "\\ta\\t_\\t_\\t_\\t_\\n";
  EXPECT_EQ(refused("{\"input\":\"" + lines + "\"}", 413), "a sentence of 4 words; expected at most 3");
}

TEST_F(ServiceTest, GraphsInTheTasksFormat) {
  const std::string line =
      R"({"nodes":[{"features":["a"]},{"features":["b"]}],"cliques":[{"nodes":[0,1]}],"labels":["x","y"]})";
  const std::string path = folder_.file("g.jsonl", line + "\n" + line + "\n");
  serve(train(*read_graph_training(path, {}), {.l2 = 0.1}));
  Json question = Json::object();
  question["input"] = line;
  question["marginals"] = true;
  const Json result = answer(question.dump())["results"][0];
  EXPECT_EQ(result["labels"].dump(), R"(["x","y"])");
  EXPECT_EQ(result["marginals"].size(), 2u);
  EXPECT_EQ(refused(R"({"input":"{}"})").substr(0, 8), "input:1:");
  EXPECT_EQ(refused(R"({"text":"a"})"),
            "the member 'text'; expected input, format, marginals, kbest, forced, explain");

  // Labels that are given, and what adds up to the others.
  question["kbest"] = 4;
  const Json all = answer(question.dump())["results"][0]["kbest"];
  question["forced"] = Json::array({Json::array({"y", nullptr})});
  const Json forced = answer(question.dump())["results"][0];
  EXPECT_EQ(forced["labels"][0].get<std::string>(), "y");
  EXPECT_NEAR(forced["marginals"][0]["y"].get<double>(), 1, 1e-9);
  question.erase("forced");
  const auto score = [&](std::size_t node, const char* label) {
    question["explain"] = {{"node", node}, {"label", label}};
    const Json explanation = answer(question.dump())["results"][0]["explanation"];
    EXPECT_EQ(explanation["node"].get<std::size_t>(), node);
    return explanation["score"].get<double>();
  };
  const auto log_probability = [&](const char* labels) {
    for (const Json& one : all) {
      if (one["labels"].dump() == labels) return std::log(one["probability"].get<double>());
    }
    return 0.0;
  };
  EXPECT_NEAR(score(0, "x") - score(0, "y"),
              log_probability(R"(["x","y"])") - log_probability(R"(["y","y"])"), 1e-5);
  EXPECT_NEAR(score(1, "y") - score(1, "x"),
              log_probability(R"(["x","y"])") - log_probability(R"(["x","x"])"), 1e-5);
  const auto with = [&](const char* name, const Json& value) {
    Json asked = Json::object();
    asked["input"] = line;
    asked[name] = value;
    return refused(asked.dump());
  };
  EXPECT_EQ(with("forced", Json::array({Json::array({"y"})})), "forced: 1 labels for 2 nodes");
  EXPECT_EQ(with("forced", Json::array()), "forced: labels of 0 graphs; expected one list for each");
  EXPECT_EQ(with("forced", Json::array({Json::array({"z", nullptr})})).substr(0, 8), "input:1:");
  EXPECT_EQ(with("explain", {{"node", 2}}), "explain: expected the number of a node, from 0 to 1");
  EXPECT_EQ(with("explain", {{"graph", 1}, {"node", 0}}), "explain: graph 1; expected one of the 1, from 0");
  EXPECT_EQ(with("explain", {{"node", 0}, {"label", kEvil}}).substr(0, 10), "explain: '");

  // What would take long is refused before it begins.
  serve(model_->current()->model(), {}, {.nodes = 3, .joint_labellings = 7});
  EXPECT_EQ(answer(Json(question).dump())["results"].size(), 1u);
  question["input"] = line + "\n" + line;
  EXPECT_EQ(refused(question.dump(), 413), "graphs of 4 nodes and more; expected at most 3");
  question["input"] = R"({"nodes":[{},{},{}],"cliques":[{"nodes":[0,1]},{"nodes":[1,2]}]})";
  EXPECT_EQ(refused(question.dump(), 413), "cliques of 8 joint labellings and more; expected at most 7");
}

// Nobody notices but by the labels.
TEST_F(ServiceTest, ReplacedUnderLoad) {
  const Model one = tagger(1, "B-ONE"), two = tagger(1, "B-TWO");
  const std::string other = save(two, "two.esp"), again = save(one, "one.esp");
  serve(one);
  std::atomic<bool> stop{false};
  std::atomic<int> failed{0}, ones{0}, twos{0};
  std::vector<std::thread> clients;
  for (int k = 0; k < 3; ++k) {
    clients.emplace_back([&] {
      while (!stop) {
        const serve::Response response = ask(R"({"tokens":[["Anna","left"]]})");
        if (response.status != 200) ++failed;
        if (response.body.find("B-ONE") != std::string::npos) ++ones;
        if (response.body.find("B-TWO") != std::string::npos) ++twos;
      }
    });
  }
  std::string problem;
  for (int i = 0; i < 6; ++i) {
    fs::copy_file(i % 2 == 0 ? other : again, folder_.path("new"), fs::copy_options::overwrite_existing);
    fs::rename(folder_.path("new"), folder_.path("m.esp"));
    EXPECT_EQ(model_->look(problem), serve::ServedModel::Change::loaded) << problem;
    EXPECT_EQ(model_->look(problem), serve::ServedModel::Change::none);
    // Each has its time.
    for (const int before = ones + twos; ones + twos <= before + 3 && failed == 0;) std::this_thread::yield();
  }
  // Written over where it is, and damaged.
  folder_.file("m.esp", "no model");
  EXPECT_EQ(model_->look(problem), serve::ServedModel::Change::failed);
  EXPECT_NE(problem.find("m.esp"), std::string::npos);
  EXPECT_EQ(model_->look(problem), serve::ServedModel::Change::none);
  fs::remove(folder_.path("m.esp"));
  EXPECT_EQ(model_->look(problem), serve::ServedModel::Change::failed);
  fs::copy_file(other, folder_.path("m.esp"));
  EXPECT_EQ(model_->look(problem), serve::ServedModel::Change::loaded);
  stop = true;
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(failed, 0);
  EXPECT_GT(ones, 0);
  EXPECT_GT(twos, 0);
  EXPECT_EQ(answer(R"({"tokens":[["Anna"]]})")["sentences"][0]["labels"][0].get<std::string>(), "B-TWO");
}

TEST_F(ServiceTest, Metrics) {
  serve(tagger(1));
  answer(R"({"text":"Anna left. It rained."})");
  service_->observe("/v1/predict", 200, 0.002);
  service_->observe("", 404, 0.1);
  const std::string text = service_->answer({"GET", "/metrics", {}, {}}).body;
  for (const char* line :
       {"espalier_requests_total{path=\"/v1/predict\",code=\"200\"} 1\n",
        "espalier_predict_seconds_bucket{le=\"0.001\"} 0\n",
        "espalier_predict_seconds_bucket{le=\"0.0025\"} 1\n", "espalier_predict_seconds_count 1\n",
        "espalier_tokens_total 6\n", "espalier_examples_total 2\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
}

}  // namespace
}  // namespace espalier::testing::service_test
