// Trains a phrase-structure parser on bracketed trees that are in memory already, and parses another
// sentence.

#include <espalier/espalier.h>
#include <fmt/format.h>

#include <string>

int main() {
  espalier::TreebankData data;
  data.add("(S (NP (PRP I)) (VP (VBD saw) (NP (DT a) (NN dog)) (PP (IN with) (NP (NNS glasses)))))");
  data.add("(S (NP (PRP I)) (VP (VBD saw) (NP (NP (DT a) (NN dog)) (PP (IN with) (NP (NNS spots))))))");
  data.add("(S (NP (DT the) (NN child)) (VP (VBD slept)))");
  espalier::TreebankOptions options;
  options.hash_bits = 12;  // plenty for so few features
  const auto set = espalier::make_treebank_training(data, options);
  const espalier::Model model = espalier::train(*set, {.l2 = 0.01});

  espalier::TreebankParser::Sentence sentence(model.treebank_parser());
  sentence.add("the", "DT");
  sentence.add("child", "NN");
  sentence.add("saw", "VBD");
  sentence.add("a", "DT");
  sentence.add("dog", "NN");
  sentence.add("with", "IN");
  sentence.add("spots", "NNS");
  for (const auto& [tree, score] : sentence.kbest(2)) {
    std::string brackets;
    espalier::append_brackets(tree, brackets);
    fmt::print("{:.3f} {}\n", sentence.probability(score), brackets);
  }
  std::string best;
  espalier::append_brackets(sentence.tree(), best);
  return best.find("(NP (NP (DT a) (NN dog)) (PP (IN with) (NP (NNS spots))))") != std::string::npos ? 0 : 1;
}
