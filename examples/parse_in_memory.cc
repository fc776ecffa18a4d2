// Trains a dependency parser on trees that are in memory already, and parses another sentence.

#include <espalier/espalier.h>
#include <fmt/format.h>

#include <string>

int main() {
  espalier::ParseData data;
  for (const char* noun : {"dog", "cat", "child"}) {
    for (const char* verb : {"sees", "hears"}) {
      data.add({.form = "the", .coarse = "DET", .relation = "det", .head = 2});
      data.add({.form = noun, .coarse = "NOUN", .relation = "nsubj", .head = 3});
      data.add({.form = verb, .coarse = "VERB", .relation = "root", .head = 0});
      data.add({.form = "a", .coarse = "DET", .relation = "det", .head = 5});
      data.add({.form = "bird", .coarse = "NOUN", .relation = "obj", .head = 3});
      data.end_sentence();
    }
  }
  espalier::ParseOptions options;
  options.hash_bits = 14;  // plenty for so few features
  const auto set = espalier::make_parse_training(data, options);
  const espalier::Model model = espalier::train(*set, {.l2 = 0.1});

  espalier::Parser::Sentence sentence(model.parser());
  sentence.add({.form = "a", .coarse = "DET"});
  sentence.add({.form = "wolf", .coarse = "NOUN"});
  sentence.add({.form = "hears", .coarse = "VERB"});
  sentence.add({.form = "the", .coarse = "DET"});
  sentence.add({.form = "dog", .coarse = "NOUN"});
  std::string tree;
  for (std::size_t d = 1; d <= sentence.size(); ++d) {
    const auto head = sentence.heads()[d - 1];
    fmt::print("word {}: head {} ({:.2f}), {}\n", d, head, sentence.head_probabilities(d)[head],
               sentence.relations()[d - 1]);
    tree += fmt::format("{}:{} ", head, sentence.relations()[d - 1]);
  }
  return tree == "2:det 3:nsubj 0:root 5:det 3:obj " ? 0 : 1;
}
