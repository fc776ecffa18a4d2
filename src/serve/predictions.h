#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "espalier/model/model.h"
#include "serve/question.h"

namespace espalier::serve {

// How much was labelled.
struct Labelled {
  std::size_t examples = 0, tokens = 0;
};

// Answers questions on one model. One object per thread; the model and the taggers have to outlive it.
class Predictions {
 public:
  virtual ~Predictions() = default;
  // Appends the members of the answer: "sentences":[...]. Throws BadQuestion, and Error for what the model
  // refuses.
  virtual Labelled answer(const Json& question, const Budget& budget, std::string& to) = 0;
};

// Sentences, as text or tokens, by Tagger; and files of the task's format.
std::unique_ptr<Predictions> make_tag_predictions(const Model& model, std::span<const ColumnTagger> taggers);
// Texts, or attributes, by Classifier; and files.
std::unique_ptr<Predictions> make_classify_predictions(const Model& model);
// Whatever `predict --json` writes of a file, which of parsers may be plain text or tokens.
std::unique_ptr<Predictions> make_file_predictions(const Model& model, std::span<const ColumnTagger> taggers);
// Those of parsers and of graphs, with reasons and with heads or labels that are given.
std::unique_ptr<Predictions> make_parse_predictions(const Model& model,
                                                    std::span<const ColumnTagger> taggers);
std::unique_ptr<Predictions> make_treebank_predictions(const Model& model,
                                                       std::span<const ColumnTagger> taggers);
std::unique_ptr<Predictions> make_graph_predictions(const Model& model);
// Those of the model's task.
std::unique_ptr<Predictions> make_predictions(const Model& model, std::span<const ColumnTagger> taggers);

}  // namespace espalier::serve
