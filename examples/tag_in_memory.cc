// Trains a tagger on sentences that are in memory already, and tags another one.

#include <espalier/espalier.h>
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

int main() {
  // Whether a word is a noun or a verb is for its neighbours to say.
  const std::vector<std::vector<std::pair<std::string_view, std::string_view>>> sentences{
      {{"we", "pronoun"}, {"walk", "verb"}, {"the", "determiner"}, {"dogs", "noun"}},
      {{"the", "determiner"}, {"walk", "noun"}},
      {{"dogs", "noun"}, {"watch", "verb"}, {"a", "determiner"}, {"watch", "noun"}},
      {{"we", "pronoun"}, {"watch", "verb"}, {"the", "determiner"}, {"fish", "noun"}},
      {{"we", "pronoun"}, {"fish", "verb"}},
      {{"a", "determiner"}, {"watch", "noun"}}};

  espalier::TagData data;
  for (const auto& sentence : sentences) {
    for (const auto& [word, label] : sentence) data.add_attributes({{word, 1}}, label);
    data.end_sentence();
  }
  const auto set = espalier::make_tag_training(data);
  const espalier::Model model = espalier::train(*set, {.l2 = 0.1, .gap = 1e-6});
  const espalier::Certificate& certificate = model.certificate();
  fmt::print("objective {:.6f}, gap {:.1e}\n", certificate.primal, certificate.gap());

  espalier::Tagger::Sentence unseen(model.tagger());
  for (const char* word : {"we", "fish", "a", "walk"}) unseen.add_attributes({{word, 1}});
  std::string labels;
  for (const auto label : unseen.labels()) labels += fmt::format("{} ", model.tagger().label(label));
  fmt::print("we fish a walk: {}\n", labels);

  const bool certified = certificate.gap() >= 0 && certificate.relative_gap() <= 1e-6;
  return certified && labels == "pronoun verb determiner noun " ? 0 : 1;
}
