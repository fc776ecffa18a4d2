// Tags sentences that are in memory with a model from a file, on several threads: how a program embeds a
// tagger.

#include <espalier/espalier.h>
#include <fmt/format.h>
#include <stdlib.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

// A token has the columns of the training data, without the label: here a word and its part of speech.
using Token = std::array<std::string_view, 2>;
using Text = std::vector<Token>;

// The chunks of a sentence, as "PER Anna Lund (0.98)".
std::vector<std::string> names_in(const Text& text, espalier::Tagger::Sentence& sentence) {
  sentence.clear();
  for (const Token& token : text) sentence.add_columns(token);
  std::vector<std::string> names;
  for (const espalier::Tagger::Chunk& chunk : sentence.chunks()) {
    std::string name(chunk.type);
    for (std::size_t t = chunk.begin; t < chunk.end; ++t) name += fmt::format(" {}", text[t][0]);
    names.push_back(fmt::format("{} ({:.2f})", name, chunk.probability));
  }
  return names;
}

// Most programs have a model already, trained by `espalier train tag`. This one trains on sentences of the
// built-in grammar.
void train(const std::string& folder, const std::string& model) {
  const std::string data = folder + "/train.txt";
  std::string text;
  const auto append_sentence = espalier::find_task("tag")->generators.front().start(/*seed=*/1);
  for (int i = 0; i < 1000; ++i) append_sentence(text);
  std::ofstream(data) << text;

  const auto set = espalier::read_tag_training(data, {});
  espalier::train(*set).save(model);
}

}  // namespace

int main() {
  std::string folder = (std::filesystem::temp_directory_path() / "espalier-example-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return 1;
  train(folder, folder + "/names.esp");

  // Opened once, for all threads.
  const espalier::Model model(folder + "/names.esp");
  const espalier::Tagger& tagger = model.tagger();

  const std::vector<Text> texts{
      {{"Anna", "NNP"}, {"Tremley", "NNP"}, {"flew", "VBD"}, {"to", "IN"}, {"Paris", "NNP"}, {".", "."}},
      {{"The", "DT"}, {"train", "NN"}, {"left", "VBD"}, {"on", "IN"}, {"Monday", "NNP"}, {".", "."}}};
  std::vector<std::vector<std::string>> found(texts.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      threads.emplace_back([&tagger, &texts, &found, i] {
        espalier::Tagger::Sentence sentence(tagger);  // one for each thread, for all of its sentences
        found[i] = names_in(texts[i], sentence);
      });
    }
  }
  for (const auto& names : found) fmt::print("{}\n", fmt::join(names, ", "));

  std::filesystem::remove_all(folder);
  const bool flew_to_a_place = found[0].size() == 2 && found[0][1].starts_with("LOC Paris (");
  return flew_to_a_place && found[1].size() == 1 ? 0 : 1;
}
