#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/base/threads.h"
#include "espalier/features/weights.h"
#include "espalier/learning/loss.h"
#include "espalier/tasks/task.h"

namespace espalier {

// A word of a dependency treebank. Words count from 1 and 0 is the root.
struct DependencyWord {
  std::string_view form{}, lemma{};
  std::string_view coarse{};    // CPOSTAG, or UPOS
  std::string_view fine{};      // POSTAG, or XPOS
  std::string_view feats{};     // as it is written: "gen=m|num=s"
  std::string_view relation{};  // "_" or "" if there is none
  std::uint32_t head = 0;
  bool has_head = false;
  std::size_t line = 0;  // in the file, from 1
};

// A sentence of a dependency treebank. Copies have views into their own text.
struct DependencySentence {
  // Where HEAD and DEPREL of a word are in the text, with the TAB before each.
  struct Blank {
    std::size_t begin, end;
  };

  DependencySentence() = default;
  DependencySentence(const DependencySentence& other);
  DependencySentence(DependencySentence&& other) noexcept;
  DependencySentence& operator=(const DependencySentence& other);
  DependencySentence& operator=(DependencySentence&& other) noexcept;
  ~DependencySentence() = default;

  // Whether every word has a head.
  bool has_heads() const;
  void clear();
  // Adds a line to the text, and keeps the views of the words right. What is returned is its place there.
  std::string_view append_line(std::string_view line);

  std::string text;  // its lines, comments and all; each ends with a newline
  std::vector<DependencyWord> words;
  std::vector<Blank> blanks;   // one for each word
  std::size_t first_line = 0;  // in the file; it may be a comment
  bool universal = false;      // of a CoNLL-U file

 private:
  void move_views(const char* from);
};

// The sentences of a file in CoNLL-X or CoNLL-U, or of its text. With `needs_heads` the heads of each have to
// make a tree; without, they may be missing. Throw Error for what they cannot read.
std::vector<DependencySentence> read_dependencies(const std::string& path, bool needs_heads);
std::vector<DependencySentence> parse_dependencies(std::string_view text, bool needs_heads);

// Appends the lines of the sentence as they were read, with HEAD and DEPREL replaced, and a blank line.
// Without relations DEPREL becomes "_". Requires one head for each word, and as many relations or none.
void append_tree(const DependencySentence& sentence, std::span<const std::uint32_t> heads,
                 std::span<const std::string_view> relations, std::string& out);

// Dependency parsing: a head for each word, and the relation to it.
struct ParseOptions {
  std::string structure = "projective";  // or nonprojective
  std::size_t order = 1;  // 2: pairs of arcs, siblings and grandparents, have features of their own
  // Of order 2 and not projective: trw (upper bounds) or bp (estimates; its siblings need not be adjacent).
  std::string inference = "trw";
  bool maxima = false;               // trained with an infinite beta
  bool unlabelled = false;           // heads without relations
  bool single_root = false;          // only one word of a sentence may hang on the root
  std::optional<std::size_t> first;  // only the first N training sentences
  // Longer sentences are left out of training, and parsed in pieces in prediction. Unset: kLongestParsed.
  std::optional<std::size_t> longest;
  std::string
      group_by;  // which sentences belong together: boundary ('# newdoc' is between them); empty: nobody asks
  // Projective training on trees that are not: drop, lift (arcs are moved up until none cross) or refuse.
  std::string crossing = "lift";
  std::size_t hash_bits = 22;  // 2^N weights of arcs
  // Labelled, or of order 2: only heads that a first-order model without labels finds possible: with at least
  // this part of the probability of the best head, and at most so many of a word.
  double prune_below = 1e-3;
  std::size_t most_heads = 10;
  // Learning which heads those are takes a while: who is told, how many threads do it, and what ends it
  // early.
  std::function<void(std::string_view)> notice;
  Threads threads;
  const std::atomic<bool>* stop = nullptr;
};

struct ParsePredictOptions {
  std::string format =
      "conll";              // tree: what is written is drawn for people; text: what is read is plain text
  bool keep_heads = false;  // words that come with a head keep it, and the rest follows
  bool marginals = false;   // the probability of every likely head
  std::size_t kbest = 0;    // the k best trees with their scores; 0: just the best
  // Outputs drawn from the distribution of the model, with the seed, in place of the best one; 0: none.
  std::size_t samples = 0;
  std::uint64_t seed = 1;
  bool entropy = false;     // of that distribution, in nats
  bool json = false;        // JSON Lines, an object for each sentence
  std::size_t threads = 0;  // 0: one for each processor; the output does not depend on it
};

inline constexpr int kParseVersion = 1;

// The default of ParseOptions::longest, by the order.
inline constexpr std::size_t kLongestParsed[] = {500, 150};

// Throws Error for what it cannot read.
std::unique_ptr<Predictor> load_parse_predictor(const StoredTask& stored);

// Dependency trees in memory, to train a parser on (make_parse_training(), train/read.h): what a file in
// CoNLL's format has, added word by word.
// Text is copied. Numbers of lines in messages are those of words, over all sentences.
class ParseData {
 public:
  // Whether words and relations are those of CoNLL-U: then evaluation counts as its shared task does, too.
  // Sentences that were read know that themselves.
  explicit ParseData(bool universal = false) : universal_(universal) {}

  // Adds a word to the sentence at the end; head 0 is the root, and words count from 1 in each sentence.
  // Fields that are empty are "_", as in files. Throws Error if it has no form, and for a TAB or an end of
  // line within a field.
  void add(const DependencyWord& word);
  // Ends the sentence. Throws Error if it has no words or their heads do not form a tree; the sentence is
  // then discarded.
  void end_sentence();
  // A sentence that was read already.
  void add(const DependencySentence& sentence);
  // The next sentence begins a document: for ParseOptions::group_by.
  void begin_document();

  // Sentences that were ended.
  std::size_t size() const { return sentences_.size(); }
  const DependencySentence& sentence(std::size_t i) const { return sentences_[i]; }

 private:
  bool universal_;
  std::vector<DependencySentence> sentences_;
  DependencySentence open_;    // the one at the end
  std::size_t num_words_ = 0;  // of sentences that were ended
};

struct ParseModel;

// Finds the dependency trees of sentences: what `espalier predict` does, for programs that have sentences in
// memory. A model has one (Model::parser()), const and thread-safe; each thread that parses has a Sentence of
// its own.
class Parser {
 public:
  class Sentence;

  // Keeps references to the model and to the weights.
  Parser(const ParseModel& model, WeightsView theta, const Loss& loss);

  // Whether arcs have relations.
  bool labelled() const;
  std::size_t num_relations() const;
  std::string_view relation(std::uint32_t id) const;
  std::optional<std::uint32_t> find_relation(std::string_view name) const;
  // False for models of beta = infinity, which have scores alone.
  bool has_probabilities() const { return loss_.smooth(); }
  // False for models of order 2.
  bool has_kbest() const;
  // Whether there is an entropy: where inference is exact.
  bool has_entropy() const;
  // Whether it says of its trees whether they are proven to be the best (Sentence::proven_best()): of order
  // 2, not projective, and trained with the inference trw. Other parsers always find the best tree, but for
  // those of the inference bp, which never say.
  bool proves_best() const;
  // How good its trees are: what `espalier eval` says of a file. Throws Error without sentences.
  Evaluation evaluate(const ParseData& gold) const;

 private:
  const ParseModel& model_;
  WeightsView theta_;
  Loss loss_;
};

// One sentence after another, in memory that is reused. Words count from 1, and 0 is the root. Results are
// valid until the next call of clear(), add() or set(). Functions that look for trees throw Error if there
// are no words, those that return probabilities throw Error if the model has none.
class Parser::Sentence {
 public:
  struct Scored {
    std::vector<std::uint32_t> heads,
        relations;  // as of heads(), and by number; none where the model has none
    double score;
  };
  // What a feature adds to the score of every tree that has this arc; with a relation, if the arc has it.
  struct Contribution {
    std::string_view feature;  // such as "arc: head.form word.xpos"
    std::size_t word;
    std::uint32_t head;
    std::optional<std::uint32_t> relation;
    double weight;
  };

  // The parser has to outlive it.
  explicit Sentence(const Parser& parser);
  ~Sentence();
  Sentence(Sentence&&) noexcept;

  // Begins a new sentence.
  void clear();
  // Adds a word: what it looks like; nobody looks at its head and relation. Fields that are empty are "_", as
  // in files.
  void add(const DependencyWord& word);
  // A sentence that was read already.
  void set(const DependencySentence& sentence);

  std::size_t size() const;
  // Gives words their heads: one for each word, or nothing where it is for the parser to find. All that
  // follows is given that, until the next sentence. Throws Error if no tree has these heads, and for a
  // sentence in pieces.
  void force_heads(std::span<const std::optional<std::uint32_t>> heads);
  // The best tree: the head of each word, and the relation to it; no relations where the model has none.
  std::span<const std::uint32_t> heads();
  std::span<const std::string_view> relations();
  // Whether it is proven that no tree is better.
  bool proven_best();
  // How many pieces it is parsed in: more than one where it is longer than ParseOptions::longest. Each is
  // parsed as a sentence by itself.
  std::size_t pieces();
  // The probability of every head of a word: size() + 1 numbers, that of the root first. Of a sentence in
  // pieces they are those of its piece, and valid until the next call.
  std::span<const double> head_probabilities(std::size_t word);
  // The k best trees with their scores, best first; and how probable one with such a score is. Of a sentence
  // in pieces it is the best one alone. Throws Error without Parser::has_kbest().
  std::vector<Scored> kbest(std::size_t k);
  double probability(double score);
  // What features of arcs add to the scores of the words first, ..., last, for all heads (and relations) that
  // pruning leaves; without those of pairs of arcs, in parsers of order 2. Throws Error for a sentence in
  // pieces.
  void for_each_contribution(std::size_t first, std::size_t last,
                             const std::function<void(const Contribution&)>& visit);
  // Trees drawn from the distribution of the model, independently of each other, with their scores; the first
  // of many are those of few. Throws Error for a parser of order 2.
  std::vector<Scored> samples(std::size_t n, std::uint64_t seed);
  // The entropy of the distribution, in nats. Throws Error where it is approximate: a parser of order 2 that
  // is not projective.
  double entropy();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace espalier
