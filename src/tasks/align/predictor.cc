#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "espalier/base/error.h"
#include "espalier/base/threads.h"
#include "espalier/tasks/align.h"
#include "tasks/align/model.h"
#include "tasks/align/pair_aligner.h"
#include "tasks/align/pair_reader.h"
#include "tasks/blocks.h"
#include "tasks/common.h"
#include "tasks/json_lines.h"

namespace espalier {
namespace {

// The sentence pairs that one worker looks at together, and what comes of them.
struct AlignBlock {
  static constexpr std::size_t kFull = 32;

  std::vector<SentencePair> pairs;
  std::string text;
  AlignmentScores scores;

  auto results() { return std::tie(text, scores); }
  bool read(PairReader& reader) {
    pairs.clear();
    for (SentencePair pair; pairs.size() < kFull && reader.next(pair);) pairs.push_back(std::move(pair));
    return !pairs.empty();
  }
};

class AlignPredictor final : public Predictor {
 public:
  explicit AlignPredictor(const StoredTask& stored)
      : model_(AlignModel::load(stored)), theta_(stored.theta), loss_(stored.loss) {
    labels_.add(kLinkLabel);
  }

  void predict(const std::string& input, const PredictOptions& of_task,
               const std::function<void(std::string_view)>& write) const override {
    const auto options = of_task.of<AlignPredictOptions>("align");
    check_probabilities(options.marginals, setting("marginals"), loss_);
    check_format(options.format);
    if (options.json && options.format != "pairs")
      throw Error::in(setting("json"), fmt::format("given with {} {}", setting("format"), options.format),
                      "expected one of the two");
    const std::size_t workers = workers_for(Threads::of(options.threads), options.kbest);
    const EarlyWriter write_early(workers, write);
    run(
        input, workers, false,
        [&](PairAligner& aligner, AlignBlock& block) {
          block.text.clear();
          for (const SentencePair& pair : block.pairs) {
            aligner.set(pair);
            if (options.json) {
              append_object(pair, options, aligner, block.text);
            } else {
              append_lines(pair, options, aligner, block.text);
            }
            write_early(block.text);
          }
        },
        [&](AlignBlock& block) { write(block.text); });
  }

  Evaluation evaluate(const std::string& gold, const EvaluateOptions& options) const override {
    if (options.format && *options.format != "pairs")
      throw Error::in(setting("format"), in_quotes(*options.format), "expected pairs");
    AlignmentScores scores;
    run(
        gold, Threads::of(options.threads), true,
        [&](PairAligner& aligner, AlignBlock& block) {
          block.scores = {};
          for (const SentencePair& pair : block.pairs) {
            aligner.set(pair);
            block.scores.add(pair, aligner.best());
          }
        },
        [&](AlignBlock& block) { scores.add(block.scores); });
    if (scores.size() == 0)
      throw Error::in(gold == "-" ? "standard input" : gold, "no sentence pairs", "expected some");
    return scores.evaluation();
  }

  WordAligner aligner() const { return {model_, theta_, loss_}; }

  std::string describe() const override { return model_.describe(); }
  std::string strongest(std::size_t top) const override {
    std::string text = fmt::format("{}\n", kLinkLabel);
    append_heaviest(
        model_.attributes.size(), top, [&](std::uint32_t a) { return theta_.row(a)[0]; },
        [&](std::uint32_t a) { return model_.attributes.name(a); }, text);
    return text;
  }
  void for_each_weight(
      const std::function<void(const WeightName& name, float weight)>& visit) const override {
    for (std::uint32_t a = 0; a < model_.attributes.size(); ++a)
      visit({model_.attributes.name(a), {}, kLinkLabel}, theta_.row(a)[0]);
  }
  std::optional<float> find_weight(const WeightName& name) const override {
    const auto place = find_align_weight(model_, name);
    if (!place) return std::nullopt;
    return theta_.row(*place)[0];
  }
  const Dictionary& labels() const override { return labels_; }
  const Dictionary& attributes() const override { return model_.attributes; }

 private:
  static constexpr double kLikely = 1e-3;

  static void check_format(const std::string& format) {
    if (format != "pairs" && format != "links")
      throw Error::in(setting("format"), in_quotes(format), "expected pairs or links");
  }

  template <class Work, class Write>
  void run(const std::string& path, std::size_t threads, bool needs_links, const Work& work,
           const Write& write) const {
    PairReader reader(path, needs_links);
    std::vector<PairAligner> workers;
    for (std::size_t k = 0; k < threads; ++k) workers.emplace_back(model_, theta_, loss_);
    run_blocks<AlignBlock>(
        workers, [&](AlignBlock& block) { return block.read(reader); }, work, write);
  }

  void append_lines(const SentencePair& pair, const AlignPredictOptions& options, PairAligner& aligner,
                    std::string& out) const {
    const std::size_t n = pair.target.size();
    if (options.marginals) {
      out += "# links";
      for (std::size_t e = 0; e < pair.num_pairs(); ++e) {
        if (aligner.marginal(e) >= kLikely)
          append_format(out, " {}-{}:{:.4f}", e / n, e % n, aligner.marginal(e));
      }
      out += '\n';
    }
    const auto append = [&](const Matching::Output& places) {
      if (options.format == "pairs") {
        append_words(pair.source, out);
        out += " ||| ";
        append_words(pair.target, out);
        out += places.empty() ? " |||" : " ||| ";
      }
      append_links(places, n, out);
      out += '\n';
    };
    if (options.kbest == 0) return append(aligner.best());
    std::size_t rank = 0;
    for (const auto& [places, score] : aligner.kbest(options.kbest)) {
      append_format(out, "# {} {:.6f}\n", rank++, loss_.smooth() ? aligner.probability(score) : score);
      append(places);
    }
  }

  // {"source": [...], "target": [...], "links": [[0, 0], ...], "marginals": [[0, 0, 0.93], ...], "kbest":
  // [...]}
  void append_object(const SentencePair& pair, const AlignPredictOptions& options, PairAligner& aligner,
                     std::string& out) const {
    const std::size_t n = pair.target.size();
    const auto append_list = [&](const char* name, const Matching::Output& places) {
      out += name;
      append_json_list(places.size(), out,
                       [&](std::size_t k) { append_format(out, "[{},{}]", places[k] / n, places[k] % n); });
    };
    const auto append_texts = [&](const char* name, const std::vector<std::string>& words) {
      out += name;
      append_json_list(words.size(), out, [&](std::size_t k) { append_json(words[k], out); });
    };
    append_texts("{\"source\":", pair.source);
    append_texts(",\"target\":", pair.target);
    append_list(",\"links\":", aligner.best());
    if (options.marginals) {
      Matching::Output likely;
      for (std::uint32_t e = 0; e < pair.num_pairs(); ++e) {
        if (aligner.marginal(e) >= kLikely) likely.push_back(e);
      }
      out += ",\"marginals\":";
      append_json_list(likely.size(), out, [&](std::size_t k) {
        append_format(out, "[{},{},", likely[k] / n, likely[k] % n);
        append_json(aligner.marginal(likely[k]), out);
        out += ']';
      });
    }
    if (options.kbest > 0) {
      const auto best = aligner.kbest(options.kbest);
      out += ",\"kbest\":";
      append_json_list(best.size(), out, [&](std::size_t r) {
        append_list("{\"links\":", best[r].output);
        append_json_value(loss_.smooth(), loss_.smooth() ? aligner.probability(best[r].score) : best[r].score,
                          out);
        out += '}';
      });
    }
    out += "}\n";
  }

  AlignModel model_;
  Dictionary labels_;
  WeightsView theta_;
  Loss loss_;
};

const AlignPredictor& align_predictor(const Predictor& predictor) {
  const auto* own = dynamic_cast<const AlignPredictor*>(&predictor);
  if (own == nullptr) throw Error("a model of another task; expected one of align");
  return *own;
}

}  // namespace

WordAligner::WordAligner(const Predictor& predictor) : WordAligner(align_predictor(predictor).aligner()) {}

std::unique_ptr<Predictor> load_align_predictor(const StoredTask& stored) {
  return std::make_unique<AlignPredictor>(stored);
}

}  // namespace espalier
