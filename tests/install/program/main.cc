// Trains a tagger and tags a word, to show that the installed library does.

#include <espalier/espalier.h>

#include <cstdio>
#include <string>

int main() {
  espalier::TagData data;
  for (const auto& [word, label] :
       {std::pair("dogs", "NOUN"), std::pair("ran", "VERB"), std::pair("ran", "VERB")}) {
    data.add_attributes({{word, 1}}, label);
    data.end_sentence();
  }
  const auto set = espalier::make_tag_training(data);
  const espalier::Model model = espalier::train(*set, {.l2 = 0.1});
  if (!(model.certificate().relative_gap() <= 1e-3)) return 1;
  espalier::Tagger::Sentence sentence(model.tagger());
  sentence.add_attributes({{"ran", 1}});
  const std::string label(model.tagger().label(sentence.labels()[0]));
  std::printf("espalier %s: ran is %s\n", ESPALIER_VERSION, label.c_str());
  return 0;
}
