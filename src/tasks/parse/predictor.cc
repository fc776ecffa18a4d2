#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/string_buffer.h"
#include "base/text.h"
#include "espalier/base/error.h"
#include "espalier/base/threads.h"
#include "espalier/tasks/parse.h"
#include "tasks/blocks.h"
#include "tasks/common.h"
#include "tasks/drawing.h"
#include "tasks/json_lines.h"
#include "tasks/parse/attachment.h"
#include "tasks/parse/model.h"
#include "tasks/parse/tree_drawing.h"
#include "tasks/parse/weights.h"
#include "tasks/sequence_reader.h"
#include "tasks/text_sentences.h"

namespace espalier {
namespace {

// Plain text as the lines of CoNLL-U, which have the places of words as UDPipe writes them.
class TextTreebank {
 public:
  TextTreebank(const std::string& path, std::span<const ColumnTagger> taggers)
      : text_(path, taggers),
        universal_(find_column(taggers, {"upos", "pos"})),
        own_(find_column(taggers, {"xpos", "pos"})) {}

  bool next(DependencySentence& sentence, std::vector<TextSentences::Place>& places) {
    if (!text_.next()) return false;
    places.assign(text_.places().begin(), text_.places().end());
    lines_ = "# text = ";
    bool blank = false;
    for (const char c : text_.text()) {
      if (!(blank && is_white_space(c))) lines_ += is_white_space(c) ? ' ' : c;
      blank = is_white_space(c);
    }
    lines_ += '\n';
    const auto column = [&](std::size_t t, std::optional<std::size_t> k) {
      return k ? text_.column(t, *k) : std::string_view("_");
    };
    for (std::size_t t = 0; t < text_.size(); ++t) {
      const TextSentences::Place& place = places[t];
      append_format(lines_, "{}\t{}\t_\t{}\t{}\t_\t_\t_\t_\tTokenRange={}:{}\n", t + 1, text_.column(t, 0),
                    column(t, universal_), column(t, own_), place.begin, place.end);
    }
    lines_ += '\n';
    sentence = std::move(parse_dependencies(lines_, false).front());
    return true;
  }

 private:
  TextSource text_;
  std::optional<std::size_t> universal_, own_;
  std::string lines_;
};

// The sentences that one worker looks at together, and what comes of them.
struct ParseBlock {
  static constexpr std::size_t kFull = 64;

  std::vector<DependencySentence> sentences;              // used again
  std::vector<std::vector<TextSentences::Place>> places;  // of their words, of plain text
  std::size_t size = 0;
  std::size_t first = 0;  // sentences of the file before them
  std::string text;
  // Evaluation.
  std::vector<std::uint32_t> heads;
  StringBuffer relations;
  std::size_t in_pieces = 0, proven = 0;

  auto results() { return std::tie(text, heads, relations, in_pieces, proven); }

  using Next = std::function<bool(DependencySentence&, std::vector<TextSentences::Place>&)>;
  bool read(const Next& next) {
    size = 0;
    if (sentences.empty()) sentences.resize(kFull);
    if (places.empty()) places.resize(kFull);
    while (size < kFull && next(sentences[size], places[size])) ++size;
    return size > 0;
  }
};

class ParsePredictor final : public Predictor {
 public:
  explicit ParsePredictor(const StoredTask& stored)
      : model_(ParseModel::load(stored)),
        theta_(stored.theta),
        loss_(stored.loss),
        parser_(model_, theta_, loss_) {}

  void predict(const std::string& input, const PredictOptions& of_task,
               const std::function<void(std::string_view)>& write) const override {
    const auto options = of_task.of<ParsePredictOptions>("parse");
    check_options(options);
    const bool draw = options.format == "tree";
    const bool is_text = options.format == kTextFormat;
    const auto is_known = [](std::string_view name) {
      return name == "pos" || name == "upos" || name == "xpos";
    };
    check_columns(of_task.columns, is_text, is_known, "pos, upos or xpos");
    std::optional<DependencyReader> lines;
    std::optional<TextTreebank> text;
    if (is_text) {
      text.emplace(input, of_task.columns);
    } else {
      lines.emplace(input, false);
    }
    const std::size_t workers = workers_for(Threads::of(options.threads), list_length(options));
    const EarlyWriter write_early(workers, write);
    run(
        [&](DependencySentence& sentence, std::vector<TextSentences::Place>& places) {
          return text ? text->next(sentence, places) : lines->next(sentence);
        },
        workers,
        [&](Parser::Sentence& parsed, ParseBlock& block) {
          block.text.clear();
          for (std::size_t i = 0; i < block.size; ++i)
            predict(input, block.sentences[i], block.places[i], options,
                    seed_of_item(options.seed, block.first + i), draw, parsed, block.text, write_early);
        },
        [&](ParseBlock& block) { write(block.text); });
  }

  Evaluation evaluate(const std::string& gold, const EvaluateOptions& options) const override {
    check_format(options.format);
    AttachmentScores scores;
    std::size_t sentences = 0;
    DependencyReader reader(gold, true);
    run([&](DependencySentence& sentence, auto&) { return reader.next(sentence); },
        Threads::of(options.threads),
        [&](Parser::Sentence& parsed, ParseBlock& block) {
          block.heads.clear();
          block.relations.clear();
          block.in_pieces = block.proven = 0;
          for (std::size_t i = 0; i < block.size; ++i) {
            parsed.set(block.sentences[i]);
            block.heads.insert(block.heads.end(), parsed.heads().begin(), parsed.heads().end());
            for (const std::string_view relation : parsed.relations()) block.relations.add(relation);
            block.in_pieces += parsed.pieces() > 1 ? 1 : 0;
            block.proven += parsed.proven_best() ? 1 : 0;
          }
        },
        [&](ParseBlock& block) {
          std::size_t at = 0;
          std::vector<std::string_view> relations;
          for (std::size_t i = 0; i < block.size; ++i) {
            const std::size_t words = block.sentences[i].words.size();
            relations.clear();
            for (std::size_t k = at; k < at + words && model_.labelled(); ++k)
              relations.push_back(block.relations[k]);
            scores.add(block.sentences[i], std::span(block.heads).subspan(at, words), relations);
            at += words;
          }
          scores.add_in_pieces(block.in_pieces);
          if (parser_.proves_best()) scores.add_proofs(block.proven, block.size);
          sentences += block.size;
        });
    if (sentences == 0)
      throw Error::in(gold == "-" ? "standard input" : gold, "no sentences", "expected some");
    return scores.evaluation();
  }

  const Parser* parser() const override { return &parser_; }

  std::string describe() const override {
    std::string text = fmt::format("{} trees of order {}, 2^{} weights of arcs",
                                   model_.shape.projective ? "projective" : "non-projective",
                                   model_.second_order ? 2 : 1, model_.bits);
    if (model_.labelled()) text += ", " + counted(model_.relations.size(), "relation");
    if (model_.second_order && !model_.shape.projective)
      text += model_.shape.inference == TreeInference::trw ? ", inference by trw" : ", inference by bp";
    return text;
  }

  // Features have no names, so what can be said of them is how many there are.
  std::string strongest(std::size_t) const override {
    std::size_t used = 0;
    const float* w = theta_.row(0);
    for (std::size_t j = 0; j < theta_.shape.rows; ++j) used += w[j] != 0 ? 1 : 0;
    return fmt::format("{} of {} weights are not zero; features are found by hashing and have no names\n",
                       grouped(used), grouped(theta_.shape.rows));
  }
  void for_each_weight(
      const std::function<void(const WeightName& name, float weight)>& visit) const override {
    for_each_parse_weight(model_, theta_.row(0), visit);
  }
  std::optional<float> find_weight(const WeightName& name) const override {
    const auto place = find_parse_weight(model_, name);
    if (!place) return std::nullopt;
    return theta_.row(0)[*place];
  }
  const Dictionary& labels() const override { return model_.relations; }
  const Dictionary& attributes() const override { return attributes_; }

 private:
  static void check_format(const std::optional<std::string>& format) {
    if (format && *format != "conll")
      throw Error::in(setting("format"), in_quotes(*format), "expected conll");
  }
  void check_options(const ParsePredictOptions& options) const {
    check_probabilities(options.marginals, setting("marginals"), loss_);
    check_drawing(options, loss_);
    if (list_length(options) > 0 && model_.second_order) {
      throw Error::in(setting(std::string(list_name(options))), "given for a parser of order 2",
                      "expected one of order 1");
    }
    if (options.entropy && !parser_.has_entropy()) {
      throw Error::in(setting("entropy"), "given for a non-projective parser of order 2",
                      "expected one of exact inference");
    }
    if (options.format != "conll" && options.format != "tree" && options.format != kTextFormat)
      throw Error::in(setting("format"), in_quotes(options.format), "expected conll, tree or text");
    if (options.json && options.format == "tree")
      throw Error::in(setting("json"), fmt::format("given with {} {}", setting("format"), options.format),
                      "expected one of the two");
  }

  template <class Work, class Write>
  void run(const ParseBlock::Next& next, std::size_t threads, const Work& work, const Write& write) const {
    std::vector<Parser::Sentence> workers;
    for (std::size_t k = 0; k < threads; ++k) workers.emplace_back(parser_);
    std::size_t sentences = 0;
    const auto read = [&](ParseBlock& block) {
      block.first = sentences;
      const bool more = block.read(next);
      sentences += block.size;
      return more;
    };
    run_blocks<ParseBlock>(workers, read, work, write);
  }

  // The k best trees, or those that are drawn.
  static std::vector<Parser::Sentence::Scored> listed(const ParsePredictOptions& options, std::uint64_t seed,
                                                      Parser::Sentence& parsed) {
    return options.samples > 0 ? parsed.samples(options.samples, seed) : parsed.kbest(options.kbest);
  }

  static void keep_heads(const std::string& input, const DependencySentence& sentence,
                         Parser::Sentence& parsed) {
    std::vector<std::optional<std::uint32_t>> heads;
    for (const DependencyWord& word : sentence.words)
      heads.push_back(word.has_head ? std::optional(word.head) : std::nullopt);
    try {
      parsed.force_heads(heads);
    } catch (const Error& e) {
      throw Error(
          fmt::format("{}:{}: {}", input == "-" ? "standard input" : input, sentence.first_line, e.what()));
    }
  }

  void predict(const std::string& input, const DependencySentence& sentence,
               std::span<const TextSentences::Place> places, const ParsePredictOptions& options,
               std::uint64_t seed, bool draw, Parser::Sentence& parsed, std::string& out,
               const EarlyWriter& write_early) const {
    parsed.set(sentence);
    if (options.keep_heads) keep_heads(input, sentence, parsed);
    if (options.json) return append_object(sentence, places, options, seed, parsed, out, write_early);
    const auto append = [&](std::span<const std::uint32_t> heads,
                            std::span<const std::string_view> relations) {
      if (draw) {
        out += draw_tree(sentence, heads, relations) + '\n';
      } else {
        append_tree(sentence, heads, relations, out);
      }
    };
    if (options.marginals) append_probabilities(parsed, out);
    if (options.entropy) append_entropy_comment(parsed.entropy(), out);
    if (list_length(options) == 0) return append(parsed.heads(), parsed.relations());
    std::size_t rank = 0;
    std::vector<std::string_view> relations;
    for (const auto& [heads, numbers, score] : listed(options, seed, parsed)) {
      append_format(out, "# {} {:.6f}\n", rank++, loss_.smooth() ? parsed.probability(score) : score);
      relations.clear();
      for (const std::uint32_t number : numbers) relations.push_back(parser_.relation(number));
      append(heads, relations);
      write_early(out);
    }
  }

  // The heads of a word that have at least a thousandth of the probability, the most probable one first.
  struct LikelyHead {
    double probability;
    std::size_t head;
  };
  static std::vector<LikelyHead> likely_heads(Parser::Sentence& parsed, std::size_t d) {
    const auto probabilities = parsed.head_probabilities(d);
    std::vector<LikelyHead> heads;
    for (std::size_t h = 0; h <= parsed.size(); ++h) {
      if (h != d && probabilities[h] >= 1e-3) heads.push_back({probabilities[h], h});
    }
    std::sort(heads.begin(), heads.end(), [](const LikelyHead& a, const LikelyHead& b) {
      return a.probability != b.probability ? a.probability > b.probability : a.head < b.head;
    });
    return heads;
  }

  // Comments in front of the tree, one for each word.
  static void append_probabilities(Parser::Sentence& parsed, std::string& out) {
    for (std::size_t d = 1; d <= parsed.size(); ++d) {
      append_format(out, "# heads {} =", d);
      for (const auto& [p, h] : likely_heads(parsed, d)) append_format(out, " {}:{:.4f}", h, p);
      out += '\n';
    }
  }

  // {"words": [...], "offsets": [...], "heads": [...], "relations": [...], "marginals": [...], "entropy":
  // ..., "kbest": [...]}
  void append_object(const DependencySentence& sentence, std::span<const TextSentences::Place> places,
                     const ParsePredictOptions& options, std::uint64_t seed, Parser::Sentence& parsed,
                     std::string& out, const EarlyWriter& write_early) const {
    const auto append = [&](std::span<const std::uint32_t> heads, const auto& relation) {
      out += "\"heads\":";
      append_json_list(heads.size(), out, [&](std::size_t i) { append_format(out, "{}", heads[i]); });
      if (!model_.labelled()) return;
      out += ",\"relations\":";
      append_json_list(heads.size(), out, [&](std::size_t i) { append_json(relation(i), out); });
    };
    out += "{\"words\":";
    append_json_list(sentence.words.size(), out,
                     [&](std::size_t i) { append_json(sentence.words[i].form, out); });
    out += ',';
    if (!places.empty()) {
      // With their parts of speech, where other models found some.
      const auto known = [](const DependencyWord& word) { return word.coarse != "_" || word.fine != "_"; };
      if (std::ranges::any_of(sentence.words, known)) {
        out += "\"columns\":";
        append_json_list(sentence.words.size(), out, [&](std::size_t i) {
          append_json_list(std::array{sentence.words[i].coarse, sentence.words[i].fine}, out);
        });
        out += ',';
      }
      append_offsets(places, out);
      out += ',';
    }
    append(parsed.heads(), [&](std::size_t i) { return parsed.relations()[i]; });
    if (options.marginals) {
      out += ",\"marginals\":";
      append_json_list(parsed.size(), out, [&](std::size_t i) {
        Json heads = Json::object();
        for (const auto& [p, h] : likely_heads(parsed, i + 1)) heads[std::to_string(h)] = p;
        out += heads.dump();
      });
    }
    if (options.entropy) append_entropy_json(parsed.entropy(), out);
    if (list_length(options) > 0) {
      const auto best = listed(options, seed, parsed);
      append_format(out, ",\"{}\":", list_name(options));
      append_json_list(best.size(), out, [&](std::size_t r) {
        out += '{';
        append(best[r].heads, [&](std::size_t i) { return parser_.relation(best[r].relations[i]); });
        append_json_value(loss_.smooth(), loss_.smooth() ? parsed.probability(best[r].score) : best[r].score,
                          out);
        out += '}';
        write_early(out);
      });
    }
    out += "}\n";
  }

  ParseModel model_;
  Dictionary attributes_;
  WeightsView theta_;
  Loss loss_;
  Parser parser_;
};

}  // namespace

std::unique_ptr<Predictor> load_parse_predictor(const StoredTask& stored) {
  return std::make_unique<ParsePredictor>(stored);
}

}  // namespace espalier
