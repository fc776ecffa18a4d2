#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text.h"
#include "espalier/base/error.h"
#include "model/make_model.h"
#include "serve/explanation.h"
#include "serve/predictions.h"
#include "tasks/json_lines.h"
#include "tasks/tag/text_columns.h"
#include "tasks/text_sentences.h"

namespace espalier::serve {
namespace {

// What the model says of the columns that it was trained on.
TagInput input_of(const Model& model) {
  const Json settings = model.describe().at("settings");
  TagInput input;
  if (settings.at("format") != Json("columns")) {
    input.format = TagFormat::crfsuite;
    return input;
  }
  input.num_columns = settings.at("columns").get<std::size_t>();
  input.label_column = settings.at("label_column").get<std::size_t>() - 1;
  input.templates = section_of(model, "templates");
  input.template_name = model.name();
  input.tabs = true;  // nothing here separates columns, so they may have spaces
  if (settings.contains("example_weights") && settings.at("example_weights").is_unsigned())
    input.weight_column = settings.at("example_weights").get<std::size_t>() - 1;
  return input;
}

struct TagQuestion {
  std::string marginals;
  std::size_t kbest = 0;
  const Json* forced = nullptr;   // of each sentence, the label of each token or null
  const Json* explain = nullptr;  // {"sentence": 0, "token": 3, "label": "B-PER"}
};

class TagPredictions final : public Predictions {
 public:
  TagPredictions(const Model& model, std::span<const ColumnTagger> taggers)
      : tagger_(model.tagger()),
        sentence_(tagger_),
        words_(taggers),
        files_(make_file_predictions(model, {})) {
    try {
      columns_ = text_columns(input_of(model), taggers);
    } catch (const Error& error) {
      no_text_ = error.what();
    }
  }

  Labelled answer(const Json& question, const Budget& budget, std::string& to) override {
    if (member(question, "input") != nullptr) return files_->answer(question, budget, to);
    check_members(question, {"text", "tokens", "input", "marginals", "kbest", "forced", "explain"});
    TagQuestion asked{marginals_of(question), kbest_of(question, budget), member(question, "forced"),
                      member(question, "explain")};
    if (!asked.marginals.empty() && !tagger_.has_probabilities())
      throw BadQuestion("marginals: the loss of this model has no probabilities");
    if (asked.forced != nullptr) list_of(*asked.forced, "forced");
    if (asked.explain != nullptr) check_members(*asked.explain, {"sentence", "token", "label"});
    const Json *text = member(question, "text"), *tokens = member(question, "tokens");
    if ((text == nullptr) == (tokens == nullptr)) throw BadQuestion("expected one of text, tokens and input");
    to += "\"sentences\":[";
    const Labelled labelled =
        text != nullptr ? answer_text(*text, asked, budget, to) : answer_tokens(*tokens, asked, budget, to);
    to += ']';
    if (asked.forced != nullptr && asked.forced->size() != labelled.examples)
      throw BadQuestion(fmt::format("forced: labels of {} sentences; expected {}", asked.forced->size(),
                                    labelled.examples));
    return labelled;
  }

 private:
  Labelled answer_text(const Json& text, const TagQuestion& asked, const Budget& budget, std::string& to) {
    if (!text.is_string()) throw BadQuestion("text: expected a string");
    if (!no_text_.empty()) throw BadQuestion(no_text_);
    stretch_.text = text.get<std::string>();
    words_.split(stretch_);
    const std::size_t tokens = words_.places().size();
    budget.check_tokens(tokens);
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if (i > 0) to += ',';
      take_words(words_.begin(i), words_.begin(i + 1));
      append_sentence(i, asked,
                      words_.places().subspan(words_.begin(i), words_.begin(i + 1) - words_.begin(i)), to);
      budget.check(to);
    }
    return {words_.size(), tokens};
  }

  // A list of sentences, each a list of words, of lists of columns, or of objects of attributes.
  Labelled answer_tokens(const Json& sentences, const TagQuestion& asked, const Budget& budget,
                         std::string& to) {
    Labelled labelled;
    for (const Json& tokens : list_of(sentences, "tokens")) {
      if (labelled.examples > 0) to += ',';
      labelled.tokens += list_of(tokens, "tokens").size();
      budget.check_tokens(labelled.tokens);
      take_tokens(tokens);
      append_sentence(labelled.examples++, asked, {}, to);
      budget.check(to);
    }
    return labelled;
  }

  // The tokens of words_ into the sentence.
  void take_words(std::size_t begin, std::size_t end) {
    sentence_.clear();
    shown_.clear();
    for (std::size_t t = begin; t < end; ++t) {
      fields_.clear();
      for (const TextColumn& column : columns_) fields_.push_back(column.at(words_, t));
      sentence_.add_columns(fields_);
      shown_.insert(shown_.end(), fields_.begin(), fields_.end());
    }
  }

  void take_tokens(const Json& tokens) {
    texts_.clear();
    if (tokens.size() > 0 && tokens[0].is_string()) {
      if (!no_text_.empty()) throw BadQuestion(no_text_);
      for (const Json& token : tokens) texts_.push_back(field_of(token));
      fields_.assign(texts_.begin(), texts_.end());
      words_.set(fields_);
      take_words(0, texts_.size());
      return;
    }
    sentence_.clear();
    shown_.clear();
    for (const Json& token : tokens) {
      if (token.is_object()) {
        std::vector<Tagger::Attribute> attributes;
        for (const Json::Member& one : token.items()) {
          if (!one.value.is_number())
            throw BadQuestion(fmt::format("tokens: the attribute {} is not a number", in_quotes(one.key)));
          attributes.push_back({one.key, one.value.get<float>()});
        }
        sentence_.add_attributes(attributes);
        continue;
      }
      for (const Json& column : list_of(token, "tokens")) texts_.push_back(field_of(column));
    }
    // Texts do not move any more.
    for (std::size_t t = 0, at = 0; t < tokens.size(); ++t) {
      if (tokens[t].is_object()) continue;
      fields_.assign(texts_.begin() + static_cast<std::ptrdiff_t>(at),
                     texts_.begin() + static_cast<std::ptrdiff_t>(at + tokens[t].size()));
      at += tokens[t].size();
      sentence_.add_columns(fields_);
      shown_.insert(shown_.end(), fields_.begin(), fields_.end());
    }
  }
  static std::string field_of(const Json& value) {
    if (!value.is_string())
      throw BadQuestion("tokens: expected words, lists of columns, or objects of attributes");
    auto text = value.get<std::string>();
    if (text.empty()) throw BadQuestion("tokens: an empty word or column; expected some text");
    return text;
  }

  // {"tokens": [...], "columns": [...], "offsets": [...], "labels": [...], ...}
  void append_sentence(std::size_t i, const TagQuestion& asked, std::span<const TextSentences::Place> places,
                       std::string& to) {
    const std::size_t size = sentence_.size();
    if (asked.forced != nullptr && i < asked.forced->size()) force((*asked.forced)[i]);
    to += '{';
    if (tagger_.format() == TagFormat::columns) {
      const std::size_t width = tagger_.num_columns();
      to += "\"tokens\":";
      append_json_list(size, to, [&](std::size_t t) { append_json(shown_[t * width], to); });
      if (width > 1) {
        to += ",\"columns\":";
        append_json_list(size, to, [&](std::size_t t) {
          append_json_list(std::span<const std::string_view>(shown_).subspan(t * width + 1, width - 1), to);
        });
      }
      to += ',';
    }
    if (!places.empty()) {
      append_offsets(places, to);
      to += ',';
    }
    append_labels(sentence_.labels(), asked, to);
    if (asked.marginals == "label") append_marginals(to);
    if (asked.kbest > 0) append_kbest(asked, to);
    if (asked.explain != nullptr && explained_number(*asked.explain, "sentence").value_or(0) == i)
      append_reasons(*asked.explain, to);
    to += '}';
  }

  void append_labels(std::span<const std::uint32_t> y, const TagQuestion& asked, std::string& to) {
    to += "\"labels\":";
    append_json_list(y.size(), to, [&](std::size_t t) { append_json(tagger_.label(y[t]), to); });
    if (asked.marginals != "entity") return;
    const auto chunks = sentence_.chunks(y);
    to += ",\"chunks\":";
    append_json_list(chunks.size(), to, [&](std::size_t k) {
      to += "{\"type\":";
      append_json(chunks[k].type, to);
      append_format(to, ",\"begin\":{},\"end\":{}", chunks[k].begin, chunks[k].end);
      append_json_value(true, chunks[k].probability, to);
      to += '}';
    });
  }

  void append_marginals(std::string& to) {
    const auto mu = sentence_.marginals();
    const std::size_t width = tagger_.num_labels();
    to += ",\"marginals\":";
    append_json_list(sentence_.size(), to, [&](std::size_t t) {
      for (std::uint32_t y = 0; y < width; ++y) {
        to += y == 0 ? '{' : ',';
        append_json(tagger_.label(y), to);
        to += ':';
        append_json(mu[t * width + y], to);
      }
      to += '}';
    });
  }

  void append_kbest(const TagQuestion& asked, std::string& to) {
    // Chunks look for their probabilities, which for_each_best() does not mind, and kbest() is of at most a
    // few.
    const auto best = sentence_.kbest(asked.kbest);
    const bool probability = tagger_.has_probabilities();
    to += ",\"kbest\":";
    append_json_list(best.size(), to, [&](std::size_t rank) {
      to += '{';
      append_labels(best[rank].labels, asked, to);
      append_json_value(probability, probability ? sentence_.probability(best[rank].score) : best[rank].score,
                        to);
      to += '}';
    });
  }

  // Why a token has its label, or would have another one: what adds up to its part of the score.
  void append_reasons(const Json& explain, std::string& to) {
    const auto token = explained_number(explain, "token");
    if (!token) throw BadQuestion("explain: expected the number of a token");
    if (*token >= sentence_.size())
      throw BadQuestion(fmt::format("explain: token {}; expected one of the {} of the sentence, from 0",
                                    *token, sentence_.size()));
    std::vector<std::uint32_t> labels(sentence_.labels().begin(), sentence_.labels().end());
    if (const Json* other = member(explain, "label")) labels[*token] = label_of(*other, "explain");
    std::vector<Reason> reasons;
    sentence_.for_each_contribution(*token, labels, [&](const Tagger::Sentence::Contribution& one) {
      Reason reason{std::string(one.attribute), {}, one.value, one.weight};
      for (const std::uint32_t y : one.before) reason.before.push_back(tagger_.label(y));
      reasons.push_back(std::move(reason));
    });
    to += ",\"explanation\":";
    append_explanation(token, tagger_.label(labels[*token]), std::move(reasons), to);
  }

  std::uint32_t label_of(const Json& name, const char* of) const {
    if (!name.is_string()) throw BadQuestion(fmt::format("{}: expected a label of the model", of));
    const auto text = name.get<std::string>();
    const auto label = tagger_.find_label(text);
    if (!label) throw BadQuestion(fmt::format("{}: {}; expected a label of the model", of, in_quotes(text)));
    return *label;
  }

  // A list with a label, a list of labels of which it is to be one, or null for each token.
  void force(const Json& labels) {
    if (list_of(labels, "forced").size() != sentence_.size())
      throw BadQuestion(fmt::format("forced: {} labels for {} tokens", labels.size(), sentence_.size()));
    bool any = false;
    for (std::size_t t = 0; t < labels.size(); ++t) {
      if (labels[t].is_null()) continue;
      allowed_.clear();
      if (labels[t].is_array()) {
        for (const Json& one : labels[t]) allowed_.push_back(label_of(one, "forced"));
      } else {
        allowed_.push_back(label_of(labels[t], "forced"));
      }
      if (allowed_.empty()) throw BadQuestion("forced: an empty list; expected labels, or null for any");
      sentence_.allow(t, allowed_);
      any = true;
    }
    if (any && !sentence_.possible())
      throw BadQuestion("forced: labels that the model's constraints do not allow together");
  }

  const Tagger& tagger_;
  Tagger::Sentence sentence_;
  TextSentences words_;
  std::unique_ptr<Predictions> files_;
  std::vector<TextColumn> columns_;
  std::string no_text_;  // why there are none
  TextStretch stretch_;
  std::vector<std::string> texts_;
  std::vector<std::string_view> fields_, shown_;
  std::vector<std::uint32_t> allowed_;
};

}  // namespace

std::unique_ptr<Predictions> make_tag_predictions(const Model& model, std::span<const ColumnTagger> taggers) {
  return std::make_unique<TagPredictions>(model, taggers);
}

}  // namespace espalier::serve
