#include <fmt/format.h>

#include "base/text.h"
#include "espalier/base/error.h"
#include "espalier/base/threads.h"
#include "espalier/tasks/treebank.h"
#include "tasks/blocks.h"
#include "tasks/common.h"
#include "tasks/drawing.h"
#include "tasks/json_lines.h"
#include "tasks/text_sentences.h"
#include "tasks/treebank/model.h"
#include "tasks/treebank/parseval.h"
#include "tasks/treebank/reader.h"
#include "tasks/treebank/weights.h"

namespace espalier {
namespace {

// The sentences that one worker looks at together, and what comes of them.
struct TreebankBlock {
  static constexpr std::size_t kFull = 16;

  std::vector<TreebankSentence> sentences;  // used again
  std::size_t size = 0;
  std::size_t first = 0;  // sentences of the file before them
  std::string text;
  std::vector<ParsevalCounts> counts;  // evaluation
  std::size_t unparsed = 0, in_pieces = 0;

  auto results() { return std::tie(text, counts, unparsed, in_pieces); }
  bool read(const std::function<bool(TreebankSentence&)>& next) {
    size = 0;
    if (sentences.empty()) sentences.resize(kFull);
    while (size < kFull && next(sentences[size])) ++size;
    return size > 0;
  }
};

class TreebankPredictor final : public Predictor {
 public:
  explicit TreebankPredictor(const StoredTask& stored)
      : model_(stored), theta_(stored.theta), loss_(stored.loss), parser_(model_, theta_, loss_) {}

  void predict(const std::string& input, const PredictOptions& of_task,
               const std::function<void(std::string_view)>& write) const override {
    const auto options = of_task.of<TreebankPredictOptions>("treebank");
    check_drawing(options, loss_);
    const std::size_t workers = workers_for(Threads::of(options.threads), list_length(options));
    const EarlyWriter write_early(workers, write);
    const bool is_text = options.format == kTextFormat;
    constexpr std::string_view kPos = "pos";
    check_columns(
        of_task.columns, is_text, [&](std::string_view name) { return name == kPos; }, std::string(kPos));
    std::optional<TreebankReader> trees;
    std::optional<TextSource> text;
    if (is_text) {
      check_tags(options.format, !of_task.columns.empty());
      text.emplace(input, of_task.columns);
    } else {
      trees.emplace(input, format_of(options.format), model_.norm());
    }
    run([&](TreebankSentence& sentence) { return trees ? trees->next(sentence) : take(*text, sentence); },
        workers,
        [&](TreebankParser::Sentence& parsed, TreebankBlock& block) {
          block.text.clear();
          for (std::size_t i = 0; i < block.size; ++i)
            predict(block.sentences[i], options, seed_of_item(options.seed, block.first + i), parsed,
                    block.text, write_early);
        },
        [&](TreebankBlock& block) { write(block.text); });
  }

  Evaluation evaluate(const std::string& gold, const EvaluateOptions& options) const override {
    if (format_of(options.format) != TreebankFormat::brackets)
      throw Error::in(setting("format"), in_quotes(*options.format),
                      "expected brackets: without trees there is no gold");
    ParsevalScores scores;
    std::size_t sentences = 0;
    TreebankReader reader(gold, TreebankFormat::brackets, model_.norm());
    run([&](TreebankSentence& sentence) { return reader.next(sentence); }, Threads::of(options.threads),
        [&](TreebankParser::Sentence& parsed, TreebankBlock& block) {
          block.counts.clear();
          block.unparsed = block.in_pieces = 0;
          for (std::size_t i = 0; i < block.size; ++i) {
            const TreebankSentence& sentence = block.sentences[i];
            parsed.set(sentence.words);
            block.counts.push_back(count_brackets(sentence.tree, parsed.tree()));
            block.unparsed += parsed.parsed() ? 0 : 1;
            block.in_pieces += parsed.pieces() > 1 ? 1 : 0;
          }
        },
        [&](TreebankBlock& block) {
          for (const ParsevalCounts& counts : block.counts) scores.add(counts);
          scores.add_unparsed(block.unparsed);
          scores.add_in_pieces(block.in_pieces);
          sentences += block.size;
        });
    if (sentences == 0) throw Error::in(gold == "-" ? "standard input" : gold, "no trees", "expected some");
    return scores.evaluation();
  }

  const TreebankParser* treebank_parser() const override { return &parser_; }

  std::string describe() const override {
    const Grammar& grammar = model_.grammar().grammar();
    return fmt::format("{} over {} and {}, {}", counted(model_.index().num_rules(), "rule"),
                       counted(grammar.num_symbols - grammar.num_tags, "symbol"),
                       counted(grammar.num_tags, "tag"), counted(grammar.num_constituents, "label"));
  }

  // Of all features, those of rules have names.
  std::string strongest(std::size_t top) const override {
    std::string text = "rules\n";
    append_heaviest(
        model_.index().num_rules(), top,
        [&](std::size_t rule) { return theta_.at(model_.features().rule_place(rule)); },
        [&](std::size_t rule) { return model_.rule_names().name(static_cast<std::uint32_t>(rule)); }, text);
    return text;
  }
  void for_each_weight(
      const std::function<void(const WeightName& name, float weight)>& visit) const override {
    for_each_treebank_weight(model_, theta_, visit);
  }
  std::optional<float> find_weight(const WeightName& name) const override {
    const auto place = find_treebank_weight(model_, name);
    if (!place) return std::nullopt;
    return theta_.at(*place);
  }
  const Dictionary& labels() const override { return model_.grammar().labels(); }
  const Dictionary& attributes() const override { return attributes_; }

 private:
  TreebankFormat format_of(const std::optional<std::string>& name) const {
    const TreebankFormat format = name ? parse_treebank_format(*name) : TreebankFormat::brackets;
    if (format == TreebankFormat::words) check_tags(*name, false);
    return format;
  }
  void check_tags(const std::string& format, bool tagged) const {
    if (tagged || model_.predicts_tags()) return;
    throw Error::in(
        setting("format"), fmt::format("'{}' for a model that takes the tags of its input", format),
        fmt::format(
            "expected brackets or tagged, a model trained with {} predicted, or {} text with {} pos=MODEL",
            setting("tags"), setting("format"), setting("columns")));
  }
  // With tags, if there is a column of them.
  static bool take(TextSource& text, TreebankSentence& sentence) {
    if (!text.next()) return false;
    sentence.words.clear();
    sentence.places.assign(text.places().begin(), text.places().end());
    for (std::size_t t = 0; t < text.size(); ++t) {
      sentence.words.push_back({without_brackets(text.column(t, 0)), {}});
      if (text.num_columns() > 1) sentence.words.back().tag = without_brackets(text.column(t, 1));
    }
    return true;
  }

  template <class Work, class Write>
  void run(const std::function<bool(TreebankSentence&)>& next, std::size_t threads, const Work& work,
           const Write& write) const {
    std::vector<TreebankParser::Sentence> workers;
    for (std::size_t k = 0; k < threads; ++k) workers.emplace_back(parser_);
    std::size_t sentences = 0;
    const auto read = [&](TreebankBlock& block) {
      block.first = sentences;
      const bool more = block.read(next);
      sentences += block.size;
      return more;
    };
    run_blocks<TreebankBlock>(workers, read, work, write);
  }

  // The k best trees, or those that are drawn.
  static std::vector<TreebankParser::Sentence::Scored> listed(const TreebankPredictOptions& options,
                                                              std::uint64_t seed,
                                                              TreebankParser::Sentence& parsed) {
    return options.samples > 0 ? parsed.samples(options.samples, seed) : parsed.kbest(options.kbest);
  }

  void predict(const TreebankSentence& sentence, const TreebankPredictOptions& options, std::uint64_t seed,
               TreebankParser::Sentence& parsed, std::string& out, const EarlyWriter& write_early) const {
    parsed.set(sentence.words);
    if (options.json) return append_object(sentence, options, seed, parsed, out, write_early);
    if (options.entropy) append_entropy_comment(parsed.entropy(), out);
    if (list_length(options) == 0) {
      append_brackets(parsed.tree(), out);
      out += '\n';
      return;
    }
    std::size_t rank = 0;
    for (const auto& [tree, score] : listed(options, seed, parsed)) {
      append_format(out, "# {} {:.6f}\n", rank++, loss_.smooth() ? parsed.probability(score) : score);
      append_brackets(tree, out);
      out += '\n';
      write_early(out);
    }
  }

  // {"words": [...], "offsets": [...], "tree": "(S ...)", "entropy": ..., "kbest": [...]}, the first two of
  // plain text
  void append_object(const TreebankSentence& sentence, const TreebankPredictOptions& options,
                     std::uint64_t seed, TreebankParser::Sentence& parsed, std::string& out,
                     const EarlyWriter& write_early) const {
    std::string brackets;
    const auto append = [&](const BracketTree& tree) {
      brackets.clear();
      append_brackets(tree, brackets);
      out += "\"tree\":";
      append_json(brackets, out);
    };
    out += '{';
    if (options.format == kTextFormat) {
      out += "\"words\":";
      append_json_list(sentence.words.size(), out,
                       [&](std::size_t i) { append_json(sentence.words[i].word, out); });
      out += ',';
      append_offsets(sentence.places, out);
      out += ',';
    }
    append(parsed.tree());
    if (options.entropy) append_entropy_json(parsed.entropy(), out);
    if (list_length(options) > 0) {
      const auto best = listed(options, seed, parsed);
      append_format(out, ",\"{}\":", list_name(options));
      append_json_list(best.size(), out, [&](std::size_t r) {
        out += '{';
        append(best[r].tree);
        append_json_value(loss_.smooth(), loss_.smooth() ? parsed.probability(best[r].score) : best[r].score,
                          out);
        out += '}';
        write_early(out);
      });
    }
    out += "}\n";
  }

  TreebankModel model_;
  Dictionary attributes_;
  WeightsView theta_;
  Loss loss_;
  TreebankParser parser_;
};

}  // namespace

std::unique_ptr<Predictor> load_treebank_predictor(const StoredTask& stored) {
  return std::make_unique<TreebankPredictor>(stored);
}

}  // namespace espalier
