#include "tasks/parse/training.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <string>
#include <utility>

#include "base/fingerprint.h"
#include "base/text.h"
#include "base/text_chunks.h"
#include "espalier/base/error.h"
#include "espalier/tasks/named_rows.h"
#include "learning/dependency_problem.h"
#include "structures/projectivity.h"
#include "tasks/common.h"
#include "tasks/parse/attachment.h"
#include "tasks/parse/model.h"
#include "tasks/parse/weights.h"
#include "tasks/pieces.h"

namespace espalier {
namespace {

enum class Crossing { refuse, drop, lift };

Crossing parse_crossing(std::string_view name) {
  if (name == "refuse") return Crossing::refuse;
  if (name == "drop") return Crossing::drop;
  if (name == "lift") return Crossing::lift;
  throw Error::in(setting("crossing"), in_quotes(name), "expected lift, drop or refuse");
}

bool parse_projective(std::string_view name) {
  if (name == "projective") return true;
  if (name == "nonprojective") return false;
  throw Error::in(setting("structure"), in_quotes(name), "expected projective or nonprojective");
}

TreeInference parse_inference(std::string_view name) {
  if (name == "trw") return TreeInference::trw;
  if (name == "bp") return TreeInference::bp;
  throw Error::in(setting("inference"), in_quotes(name), "expected trw or bp");
}

bool parse_order(std::size_t order) {
  if (order == 1 || order == 2) return order == 2;
  throw Error::in(setting("order"), std::to_string(order), "expected 1 or 2");
}

// Whether its comments have '# newdoc', or '# newdoc id = ...'.
bool begins_document(const DependencySentence& sentence) {
  for (std::string_view rest = sentence.text; rest.starts_with('#');) {
    std::string_view comment = rest.substr(1, rest.find('\n') - 1);
    rest.remove_prefix(comment.size() + 2);
    comment.remove_prefix(std::min(comment.find_first_not_of(" \t"), comment.size()));
    if (comment.substr(0, comment.find_first_of(" \t\r=")) == "newdoc") return true;
  }
  return false;
}

// What `prepare` makes of each sentence, with the name of its file for messages, and `take` is given in
// order. False: that is enough.
template <class Item>
struct SentenceStages {
  std::function<Item(DependencySentence, const std::string& file)> prepare;  // by several threads
  std::function<bool(Item)> take;
};

// Where sentences come from: files, or memory.
struct SentenceSource {
  std::string name;  // for messages
  // One after the other, with the file of each; nothing: by chunks.
  std::function<bool(DependencySentence&, std::string& file)> next;
  std::vector<std::string> paths{};
  ChunkOptions chunks{};

  template <class Item>
  void for_each(const SentenceStages<Item>& stages) const {
    if (next) {
      bool go_on = true;
      std::string file;
      for (DependencySentence sentence; go_on && next(sentence, file);)
        go_on = stages.take(stages.prepare(std::move(sentence), file));
      return;
    }
    struct Part {
      std::vector<Item> items;
      bool begins_file = false, universal = false;  // at its end
    };
    struct Worker {};
    ChunkReader reader(paths, dependency_cut, chunks);
    std::vector<Worker> workers(chunks.threads);
    bool universal = false;
    read_in_chunks<Part>(
        reader, {}, workers,
        [&](Worker&, const TextChunk& chunk, Part& part) {
          DependencyReader sentences(LineReader(chunk), true);
          for (DependencySentence sentence; sentences.next(sentence);)
            part.items.push_back(stages.prepare(std::move(sentence), chunk.name));
          part.begins_file = chunk.begins_file;
          part.universal = sentences.universal();
        },
        [&](std::size_t, Part part) {
          universal = universal && !part.begins_file;
          for (Item& item : part.items) {
            item.sentence.universal = item.sentence.universal || universal;
            stages.take(std::move(item));
          }
          universal = universal || part.universal;
        });
  }
};

// Files, by several threads unless only some of their sentences are wanted.
SentenceSource source_of(const InputFiles& files, bool all, const ChunkOptions& chunks) {
  if (all && chunks.threads > 1) return {files.name(), {}, files.paths(), chunks};
  struct Reading {
    std::vector<std::string> paths;
    std::size_t next = 0;
    std::unique_ptr<DependencyReader> reader{};
  };
  const auto reading = std::make_shared<Reading>(Reading{files.paths()});
  return {files.name(), [reading](DependencySentence& sentence, std::string& file) {
            while (!reading->reader || !reading->reader->next(sentence)) {
              if (reading->next == reading->paths.size()) return false;
              reading->reader = std::make_unique<DependencyReader>(reading->paths[reading->next++], true);
            }
            file = reading->reader->name();
            return true;
          }};
}

// Requires `data` to stay where it is. Throws Error at words without a relation, where those are looked at.
SentenceSource source_of(const ParseData& data, bool labelled) {
  return {kDataInMemory,
          [&data, labelled, i = std::size_t{0}](DependencySentence& sentence, std::string& file) mutable {
            if (i == data.size()) return false;
            file = kDataInMemory;
            sentence = data.sentence(i++);
            for (const DependencyWord& word : sentence.words) {
              if (labelled && word.relation.empty())
                throw Error::at(kDataInMemory, word.line, "a word without a relation",
                                "expected one, or a parser without them (unlabelled)");
            }
            return true;
          }};
}

class ParseTrainingSet final : public TrainingSet {
 public:
  ParseTrainingSet(const SentenceSource& source, const ParseOptions& options,
                   const RoughTrainer& train_roughly)
      : chunks_{std::max<std::size_t>(options.threads, 1)} {
    set_reading(reading_of("parse", options));
    model_.shape.projective = parse_projective(options.structure);
    model_.shape.single_root = options.single_root;
    model_.bits = static_cast<unsigned>(options.hash_bits);
    model_.second_order = parse_order(options.order);
    model_.shape.inference = parse_inference(options.inference);
    model_.longest = options.longest.value_or(kLongestParsed[options.order - 1]);
    read(source, options);
    if (!options.unlabelled) {
      model_.shape.num_labels = model_.relations.size();
      model_.relation_bits = model_.bits - std::min(4u, model_.bits - 1);
    }
    if (model_.second_order || model_.shape.num_labels > 1) prune(options, train_roughly);
    if (model_.second_order) {
      for (std::size_t i = 0; i < train_.size(); ++i)
        parts_.append(arcs_(i, train_.length(i)), model_.shape.adjacent_siblings());
    }
    features_ = std::make_unique<DependencyFeatures>(model_.features());
    problem_ = std::make_unique<DependencyProblem>(
        model_.second_order
            ? DependencyExamples(train_, arcs_, parts_, *features_, model_.shape, options.maxima)
            : DependencyExamples(train_, arcs_, *features_, model_.shape));
  }

  std::string_view task() const override { return "parse"; }
  int version() const override { return kParseVersion; }
  const Problem& problem() const override { return *problem_; }
  std::string describe() const override {
    std::string text =
        fmt::format("{}, {}", counted(train_.size(), "sentence"), counted(train_.words.size(), "word"));
    if (model_.labelled()) text += ", " + counted(model_.relations.size(), "relation");
    if (dropped_ > 0) text += fmt::format(", {} with crossing arcs dropped", grouped(dropped_));
    if (lifted_ > 0) text += fmt::format(", crossing arcs of {} lifted", grouped(lifted_));
    if (!arcs_.empty()) {
      const auto words = static_cast<double>(train_.words.size());
      text +=
          fmt::format("; pruning keeps {:.1f} of {:.1f} heads per word and {} % of the gold heads",
                      static_cast<double>(arcs_.num_arcs()) / words, static_cast<double>(all_arcs()) / words,
                      percentage(100 * (1 - static_cast<double>(missed_) / words)));
    }
    return text + describe_left_out(too_long_, model_.longest);
  }
  TaskSections sections() const override { return model_.sections(); }

  void replace_dev(const std::string& path) override { take_dev(source_of(path, true, chunks_)); }
  void take_dev(const ParseData& dev) {
    take_dev(source_of(dev, model_.labelled()));
    name_dev(kDataInMemory);
  }
  Evaluation evaluate_dev(const Weights& theta) const override {
    return evaluate(theta, dev_.size(), [&](std::size_t k) -> const DependencySentence& { return dev_[k]; });
  }
  Evaluation evaluate_examples(const Weights& theta, std::span<const std::uint32_t> examples) const override {
    return evaluate(theta, examples.size(),
                    [&](std::size_t k) -> const DependencySentence& { return sentences_[examples[k]]; });
  }

  std::span<const std::uint32_t> groups() const override { return groups_; }

  float* find_weight(const WeightName& name, Weights& theta) const override {
    const auto place = find_parse_weight(model_, name);
    return place ? theta.row(*place) : nullptr;
  }
  const Dictionary& labels() const override { return model_.relations; }
  const Dictionary& attributes() const override { return attributes_; }
  std::uint64_t fingerprint() const override {
    Fingerprint fingerprint;
    fingerprint.add_list(std::span<const WordAtoms>(train_.words));
    fingerprint.add_list(std::span<const std::uint32_t>(train_.heads));
    fingerprint.add_list(std::span<const std::uint32_t>(train_.labels));
    return fingerprint.value();
  }

 private:
  void take_dev(const SentenceSource& source) {
    struct Held {
      DependencySentence sentence;
    };
    dev_.clear();
    source.for_each<Held>(
        {[](DependencySentence sentence, const std::string&) { return Held{std::move(sentence)}; },
         [&](Held held) {
           dev_.push_back(std::move(held.sentence));
           return true;
         }});
    if (dev_.empty()) throw Error::in(source.name, "no sentences", "expected some");
  }

  template <class Gold>
  Evaluation evaluate(const Weights& theta, std::size_t count, const Gold& gold) const {
    const Parser parser(model_, theta, Loss::crf());  // which does not matter for the best tree
    Parser::Sentence parsed(parser);
    AttachmentScores scores;
    for (std::size_t k = 0; k < count; ++k) {
      parsed.set(gold(k));
      scores.add(gold(k), parsed.heads(), parsed.relations());
      if (parsed.pieces() > 1) scores.add_in_pieces();
      if (parser.proves_best()) scores.add_proofs(parsed.proven_best() ? 1 : 0, 1);
    }
    return scores.evaluation();
  }

  void read(const SentenceSource& source, const ParseOptions& options) {
    const Crossing crossing = parse_crossing(options.crossing);
    if (!options.group_by.empty() && options.group_by != "boundary") {
      throw Error::in(setting("group_by"), in_quotes(options.group_by), "expected boundary");
    }
    std::uint32_t document = 0;
    std::size_t sentences = 0;
    if (options.first == 0) return refuse_nothing(source);
    source.for_each<Prepared>({[&](DependencySentence sentence, const std::string& file) {
                                 return prepare(std::move(sentence), file, crossing);
                               },
                               [&](Prepared prepared) {
                                 if (prepared.begins_document) ++document;
                                 take(std::move(prepared), options, document);
                                 return ++sentences != options.first;
                               }});
    refuse_nothing(source);
  }

  struct Prepared {
    DependencySentence sentence;
    std::vector<std::uint32_t> heads;
    std::vector<WordAtoms> atoms;
    bool begins_document = false, too_long = false, dropped = false, lifted = false;
  };

  // All that does not depend on other sentences.
  Prepared prepare(DependencySentence sentence, const std::string& file, Crossing crossing) const {
    Prepared prepared;
    prepared.begins_document = begins_document(sentence);
    prepared.too_long = sentence.words.size() > model_.longest;
    if (prepared.too_long) return prepared;
    std::vector<std::uint32_t>& heads = prepared.heads;
    for (const DependencyWord& word : sentence.words) heads.push_back(word.head);
    if (model_.shape.single_root && std::count(heads.begin(), heads.end(), 0u) > 1) {
      throw Error::at(file, sentence.first_line, "a sentence with several words on the root",
                      "expected one, or training without " + setting("single_root"));
    }
    if (model_.shape.projective && !is_projective(heads)) {
      if (crossing == Crossing::refuse) {
        throw Error::at(file, sentence.first_line, "a tree with crossing arcs",
                        fmt::format("expected a projective one, {} lift or drop, or {} nonprojective",
                                    setting("crossing"), setting("structure")));
      }
      prepared.dropped = crossing == Crossing::drop;
      if (prepared.dropped) return prepared;
      make_projective(heads);
      prepared.lifted = true;
    }
    append_atoms(sentence, prepared.atoms);
    prepared.sentence = std::move(sentence);
    return prepared;
  }

  void take(Prepared prepared, const ParseOptions& options, std::uint32_t document) {
    too_long_ += prepared.too_long ? 1 : 0;
    dropped_ += prepared.dropped ? 1 : 0;
    lifted_ += prepared.lifted ? 1 : 0;
    if (prepared.too_long || prepared.dropped) return;
    train_.words.insert(train_.words.end(), prepared.atoms.begin(), prepared.atoms.end());
    for (std::size_t k = 0; k < prepared.heads.size(); ++k) {
      train_.heads.push_back(prepared.heads[k]);
      train_.labels.push_back(options.unlabelled ? 0
                                                 : model_.relations.add(prepared.sentence.words[k].relation));
    }
    train_.offsets.push_back(train_.words.size());
    sentences_.push_back(std::move(prepared.sentence));
    if (!options.group_by.empty()) groups_.push_back(document);
  }

  void refuse_nothing(const SentenceSource& source) const {
    if (train_.size() == 0) {
      throw Error::in(source.name,
                      too_long_ > 0
                          ? fmt::format("no sentences of at most {}", counted(model_.longest, "word"))
                      : dropped_ > 0 ? "no sentence without crossing arcs"
                                     : "no sentences",
                      "expected some");
    }
  }

  std::size_t all_arcs() const {
    std::size_t sum = 0;
    for (std::size_t i = 0; i < train_.size(); ++i) sum += train_.length(i) * train_.length(i);
    return sum;
  }

  // Learns which heads are possible, by a model without labels, and leaves the others out.
  void prune(const ParseOptions& options, const RoughTrainer& train_roughly) {
    if (!train_roughly)
      throw Error("nobody to train the model that prunes heads; expected read_training(), which brings one");
    const auto started = std::chrono::steady_clock::now();
    if (options.notice) options.notice("training a simpler model to prune heads");
    TreeShape unlabelled = model_.shape;
    unlabelled.num_labels = 1;
    DependencyCorpus bare = train_;
    std::fill(bare.labels.begin(), bare.labels.end(), 0u);
    const DependencyFeatures features(model_.bits, 0, 1);
    const ArcSets all;
    const DependencyProblem problem(DependencyExamples(bare, all, features, unlabelled));
    // Good enough to tell what is hopeless: no more is needed of it.
    constexpr double kL2 = 30, kGap = 0.05, kPasses = 10;
    const Weights theta = train_roughly(problem, {kL2, kGap, kPasses, options.threads, options.stop});
    const auto stop_if_asked = [&] {
      if (options.stop != nullptr && options.stop->load(std::memory_order_relaxed))
        throw Stopped("stopped while training the pruning model; no model was saved");
    };
    stop_if_asked();
    model_.own_pruner.assign(theta.values().begin(), theta.values().end());
    model_.pruner = model_.own_pruner;
    model_.prune_below = options.prune_below;
    model_.most_heads = options.most_heads;

    const auto pruner = model_.make_pruner();
    std::vector<std::uint32_t> offsets;
    std::vector<std::uint16_t> heads;
    Workspace ws;
    for (std::size_t i = 0; i < train_.size(); ++i) {
      missed_ += pruner->choose(train_.words_of(i), train_.heads_of(i), offsets, heads, ws);
      arcs_.append(offsets, heads);
      stop_if_asked();
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - started;
    if (options.notice) options.notice(fmt::format("trained it in {:.2f} s", seconds.count()));
  }

  ChunkOptions chunks_;
  ParseModel model_;
  Dictionary attributes_;  // features have no names
  DependencyCorpus train_;
  ArcSets arcs_;
  TreePartLists parts_;
  std::vector<DependencySentence> sentences_, dev_;
  std::vector<std::uint32_t> groups_;  // documents of these, where the options ask for them
  std::size_t dropped_ = 0, lifted_ = 0, too_long_ = 0;
  std::size_t missed_ = 0;  // gold arcs that pruning would have left out
  std::unique_ptr<DependencyFeatures> features_;
  std::unique_ptr<DependencyProblem> problem_;
};

}  // namespace

std::unique_ptr<TrainingSet> read_parse_training(const InputFiles& files, const ParseOptions& options,
                                                 const RoughTrainer& train_roughly) {
  const SentenceSource source = source_of(files, !options.first, {std::max<std::size_t>(options.threads, 1)});
  return std::make_unique<ParseTrainingSet>(source, options, train_roughly);
}

std::unique_ptr<TrainingSet> make_parse_training(const ParseData& data, const ParseOptions& options,
                                                 const ParseData* dev, const RoughTrainer& train_roughly) {
  auto set = std::make_unique<ParseTrainingSet>(source_of(data, !options.unlabelled), options, train_roughly);
  if (dev != nullptr) set->take_dev(*dev);
  return set;
}

}  // namespace espalier
