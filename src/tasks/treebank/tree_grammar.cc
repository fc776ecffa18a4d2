#include "tasks/treebank/tree_grammar.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "espalier/base/error.h"
#include "tasks/treebank/head_rules.h"

namespace espalier {
namespace {

constexpr std::string_view kStart;  // the start symbol's name

void add_tags(const BracketTree& tree, Dictionary& tags) {
  if (tree.is_word()) tags.add(tree.label);
  for (const BracketTree& child : tree.children) add_tags(child, tags);
}

// Of a phrase over one phrase over one thing, the one in the middle goes.
void shorten_chains(BracketTree& tree) {
  while (tree.children.size() == 1 && tree.children[0].children.size() == 1) {
    auto grandchildren = std::move(tree.children[0].children);
    tree.children = std::move(grandchildren);
  }
  for (BracketTree& child : tree.children) shorten_chains(child);
}

}  // namespace

// Turns trees into derivations and notes what they are made of.
class TreeGrammar::Builder {
 public:
  Builder(TreeGrammar& target, const BinariseOptions& options) : target_(target), options_(options) {}

  Derivation derive(const BracketTree& root) {
    derivation_ = {};
    position_ = 0;
    ancestors_.clear();
    add_node(root, true);
    return std::move(derivation_);
  }

 private:
  // A phrase whose children are divided among nodes.
  struct Part {
    const BracketTree& phrase;
    std::string context;                        // the name of its symbol
    std::vector<std::string_view> labels = {};  // of the children
    std::size_t head = 0;
  };

  std::uint32_t symbol(const std::string& name) {
    return target_.grammar_.num_tags + target_.symbols_.add(name);
  }

  // "NP ^VP": the phrase that stands below the last of the ancestors.
  std::string phrase_name(const std::string& label) const {
    std::string name = label;
    for (std::size_t k = 1; k < options_.vertical && k <= ancestors_.size(); ++k)
      name.append(" ^").append(ancestors_[ancestors_.size() - k]);
    return name;
  }

  // A tree with the chain of unary rules down to a word or to several children, as one node and those below.
  // The start symbol stands above the root. Returns the symbol on top.
  std::uint32_t add_node(const BracketTree& tree, bool is_root = false) {
    const std::size_t depth = ancestors_.size();
    std::vector<std::uint32_t> chain;
    if (is_root) chain.push_back(target_.grammar_.start);
    const BracketTree* bottom = &tree;
    for (; bottom->children.size() == 1; bottom = &bottom->children[0]) {
      chain.push_back(symbol(phrase_name(bottom->label)));
      ancestors_.push_back(bottom->label);
    }
    const std::size_t node = derivation_.nodes.size();
    derivation_.nodes.emplace_back();
    std::uint32_t top;
    if (bottom->is_word()) {
      top = *target_.tags_.find(bottom->label);
      derivation_.nodes[node] = {position_, position_, position_ + 1, top, kNoRule};
      ++position_;
    } else {
      Part part{*bottom, phrase_name(bottom->label)};
      for (const BracketTree& child : bottom->children) part.labels.push_back(child.label);
      part.head = options_.side == BinariseOptions::Side::head ? find_head(bottom->label, part.labels) : 0;
      ancestors_.push_back(bottom->label);
      top = symbol(part.context);
      if (options_.side == BinariseOptions::Side::right) {
        add_from(part, 0, top, node);
      } else {
        add_around(part, 0, part.labels.size(), top, node);
      }
    }
    ancestors_.resize(depth);
    if (!chain.empty()) {
      derivation_.nodes[node].unary = add_unary(chain, top);
      top = chain.front();
    }
    return top;
  }

  // Children from `first` on, as one node.
  void add_from(const Part& part, std::size_t first, std::uint32_t parent, std::size_t node) {
    const std::uint32_t begin = position_;
    const std::uint32_t left = add_node(part.phrase.children[first]);
    const std::uint32_t split = position_;
    std::uint32_t right;
    if (first + 2 == part.labels.size()) {
      right = add_node(part.phrase.children[first + 1]);
    } else {
      right = symbol(part.context + " |" + siblings(part, first + 1, first + 1, false));
      add_from(part, first + 1, right, new_node());
    }
    finish(node, begin, split, {parent, left, right});
  }

  // Children [first, last), the head among them, as one node: left neighbours are outermost, then right ones.
  void add_around(const Part& part, std::size_t first, std::size_t last, std::uint32_t parent,
                  std::size_t node) {
    const std::uint32_t begin = position_;
    if (first < part.head) {
      const std::uint32_t left = add_node(part.phrase.children[first]);
      const std::uint32_t split = position_;
      const std::uint32_t right = add_inner(part, first + 1, last);
      finish(node, begin, split, {parent, left, right});
    } else {
      const std::uint32_t left = add_inner(part, first, last - 1);
      const std::uint32_t split = position_;
      const std::uint32_t right = add_node(part.phrase.children[last - 1]);
      finish(node, begin, split, {parent, left, right});
    }
  }
  std::uint32_t add_inner(const Part& part, std::size_t first, std::size_t last) {
    if (first + 1 == last) return add_node(part.phrase.children[first]);
    std::string name = part.context;
    name.append(" >").append(part.labels[part.head]);
    name += first < part.head ? " |< " + siblings(part, first, part.head, true)
                              : " |> " + siblings(part, last, last - part.head - 1, false);
    const std::uint32_t inner = symbol(name);
    add_around(part, first, last, inner, new_node());
    return inner;
  }

  // The last children that were added, of `most` that were: those from `at` on, or those up to it.
  std::string siblings(const Part& part, std::size_t at, std::size_t most, bool from) const {
    const std::size_t count = std::min(options_.horizontal, from ? most - at : most);
    const std::size_t begin = from ? at : at - count;
    return fmt::format("{}",
                       fmt::join(part.labels.begin() + static_cast<std::ptrdiff_t>(begin),
                                 part.labels.begin() + static_cast<std::ptrdiff_t>(begin + count), " "));
  }

  std::size_t new_node() {
    derivation_.nodes.emplace_back();
    return derivation_.nodes.size() - 1;
  }
  void finish(std::size_t node, std::uint32_t begin, std::uint32_t split, const Grammar::Binary& rule) {
    const auto [place, is_new] =
        binaries_.try_emplace(std::array{rule.parent, rule.left, rule.right},
                              static_cast<std::uint32_t>(target_.grammar_.binaries.size()));
    if (is_new) target_.grammar_.binaries.push_back(rule);
    derivation_.nodes[node] = {begin, split, position_, place->second, kNoRule};
  }
  // The first of the chain over the others over the child.
  std::uint32_t add_unary(std::vector<std::uint32_t> chain, std::uint32_t child) {
    chain.push_back(child);
    const auto [place, is_new] =
        unaries_.try_emplace(chain, static_cast<std::uint32_t>(target_.grammar_.unaries.size()));
    if (is_new)
      target_.grammar_.unaries.push_back({chain.front(), child, {chain.begin() + 1, chain.end() - 1}});
    return place->second;
  }

  TreeGrammar& target_;
  BinariseOptions options_;
  std::map<std::array<std::uint32_t, 3>, std::uint32_t> binaries_;
  std::map<std::vector<std::uint32_t>, std::uint32_t> unaries_;
  Derivation derivation_;
  std::uint32_t position_ = 0;
  std::vector<std::string> ancestors_;
};

TreeGrammar::TreeGrammar(std::span<const BracketTree> trees, const BinariseOptions& options,
                         std::vector<Derivation>& derivations) {
  for (const BracketTree& tree : trees) add_tags(tree, tags_);
  grammar_.num_tags = static_cast<std::uint32_t>(tags_.size());
  grammar_.start = grammar_.num_tags + symbols_.add(kStart);
  Builder builder(*this, options);
  for (const BracketTree& tree : trees) {
    if (!options.shorten) {
      derivations.push_back(builder.derive(tree));
      continue;
    }
    BracketTree shorter = tree;  // the outermost bracket stays
    for (BracketTree& child : shorter.children) shorten_chains(child);
    derivations.push_back(builder.derive(shorter));
  }
  add_labels();
}

TreeGrammar::TreeGrammar(Dictionary tags, Dictionary symbols, std::span<const std::uint32_t> binaries,
                         std::span<const std::uint32_t> unaries, std::span<const std::uint32_t> between,
                         const std::string& file)
    : tags_(std::move(tags)), symbols_(std::move(symbols)) {
  const auto corrupt = [&](std::string_view found) { return Error::in(file, found, "retrain the model"); };
  const auto start = symbols_.find(kStart);
  if (!start || tags_.size() == 0) throw corrupt("a grammar without tags or a start symbol");
  if (binaries.size() % 3 != 0 || unaries.size() % 3 != 0) throw corrupt("truncated rules");
  grammar_.num_tags = static_cast<std::uint32_t>(tags_.size());
  grammar_.start = grammar_.num_tags + *start;
  const std::size_t symbols_in_all = tags_.size() + symbols_.size();
  const auto check = [&](std::uint32_t symbol, bool may_be_tag) {
    if (symbol >= symbols_in_all || (!may_be_tag && symbol < grammar_.num_tags))
      throw corrupt(fmt::format("a rule of symbol {} of {}", symbol, symbols_in_all));
    return symbol;
  };
  for (std::size_t k = 0; k < binaries.size(); k += 3)
    grammar_.binaries.push_back(
        {check(binaries[k], false), check(binaries[k + 1], true), check(binaries[k + 2], true)});
  std::size_t begin = 0;
  for (std::size_t k = 0; k < unaries.size(); k += 3) {
    const std::size_t end = unaries[k + 2];
    if (end < begin || end > between.size()) throw corrupt("truncated rules");
    Grammar::Unary rule{check(unaries[k], false), check(unaries[k + 1], true), {}};
    for (; begin < end; ++begin) rule.between.push_back(check(between[begin], false));
    grammar_.unaries.push_back(std::move(rule));
  }
  add_labels();
}

// TOP: what every tree begins with, and what is nowhere else, tells no tree from another.
std::uint32_t TreeGrammar::always_outermost() const {
  std::uint32_t outermost = grammar_.start;  // so far none
  for (const Grammar::Unary& rule : grammar_.unaries) {
    if (rule.parent != grammar_.start) continue;
    const std::uint32_t first = rule.between.empty() ? rule.child : rule.between.front();
    if (first < grammar_.num_tags || (outermost != grammar_.start && first != outermost)) return kNoLabel;
    outermost = first;
  }
  const auto is_it = [&](std::uint32_t symbol) { return symbol == outermost; };
  for (const Grammar::Binary& rule : grammar_.binaries) {
    if (is_it(rule.parent) || is_it(rule.left) || is_it(rule.right)) return kNoLabel;
  }
  for (const Grammar::Unary& rule : grammar_.unaries) {
    const auto first =
        rule.between.begin() + (rule.parent == grammar_.start && !rule.between.empty() ? 1 : 0);
    if (is_it(rule.parent) || is_it(rule.child) || std::any_of(first, rule.between.end(), is_it))
      return kNoLabel;
  }
  return outermost;
}

// Constituents by their categories, then parts of them.
void TreeGrammar::add_labels() {
  grammar_.num_symbols = static_cast<std::uint32_t>(tags_.size() + symbols_.size());
  grammar_.labels.assign(grammar_.num_symbols, kNoLabel);
  const std::uint32_t outermost = always_outermost();
  for (const bool parts : {false, true}) {
    for (std::uint32_t symbol = grammar_.num_tags; symbol < grammar_.num_symbols; ++symbol) {
      if (symbol == grammar_.start || symbol == outermost || is_part(symbol) != parts) continue;
      grammar_.labels[symbol] =
          labels_.add(parts ? std::string("@").append(category(symbol)) : std::string(category(symbol)));
    }
    if (!parts) grammar_.num_constituents = static_cast<std::uint32_t>(labels_.size());
  }
  grammar_.num_labels = static_cast<std::uint32_t>(labels_.size());
}

std::string TreeGrammar::symbol_name(std::uint32_t symbol) const {
  if (symbol == grammar_.start) return "START";
  return std::string(symbol < grammar_.num_tags ? tags_.name(symbol)
                                                : symbols_.name(symbol - grammar_.num_tags));
}

std::string_view TreeGrammar::category(std::uint32_t symbol) const {
  const std::string_view name = symbols_.name(symbol - grammar_.num_tags);
  return name.substr(0, name.find(' '));
}

bool TreeGrammar::is_part(std::uint32_t symbol) const {
  return symbol >= grammar_.num_tags &&
         symbols_.name(symbol - grammar_.num_tags).find(" |") != std::string_view::npos;
}

std::string TreeGrammar::rule_name(std::size_t rule) const {
  const auto bracketed = [&](std::uint32_t symbol) {
    const std::string name = symbol_name(symbol);
    return name.find(' ') == std::string::npos ? name : "[" + name + "]";
  };
  if (rule < grammar_.binaries.size()) {
    const Grammar::Binary& binary = grammar_.binaries[rule];
    return fmt::format("{} -> {} {}", bracketed(binary.parent), bracketed(binary.left),
                       bracketed(binary.right));
  }
  const Grammar::Unary& unary = grammar_.unaries[rule - grammar_.binaries.size()];
  std::string name = bracketed(unary.parent) + " -> ";
  for (const std::uint32_t symbol : unary.between) name += bracketed(symbol) + " -> ";
  return name + bracketed(unary.child);
}

BracketTree TreeGrammar::tree(const Derivation& derivation, std::span<const TaggedWord> words) const {
  std::vector<BracketTree> trees;
  std::size_t at = 0;
  append_trees(derivation, at, words, trees);
  ESPALIER_EXPECT(trees.size() == 1 && at == derivation.nodes.size());
  return std::move(trees.front());
}

// The tree of the node at `at`; of a part of a phrase, the trees that it is made of.
void TreeGrammar::append_trees(const Derivation& derivation, std::size_t& at,
                               std::span<const TaggedWord> words, std::vector<BracketTree>& trees) const {
  const Derivation::Node& node = derivation.nodes[at++];
  if (node.end == node.begin + 1) {
    const TaggedWord& word = words[node.begin];
    trees.push_back({word.tag.empty() ? std::string(tags_.name(node.rule)) : word.tag, word.word, {}});
  } else {
    const std::uint32_t symbol = grammar_.binaries[node.rule].parent;
    const bool part = is_part(symbol);
    std::vector<BracketTree> own;
    std::vector<BracketTree>& children = part ? trees : own;
    append_trees(derivation, at, words, children);
    append_trees(derivation, at, words, children);
    if (!part) trees.push_back({std::string(category(symbol)), "", std::move(own)});
  }
  if (node.unary == kNoRule) return;
  const Grammar::Unary& unary = grammar_.unaries[node.unary];
  const auto wrap = [&](std::uint32_t above) {
    if (above == grammar_.start) return;
    BracketTree phrase{std::string(category(above)), "", {}};
    phrase.children.push_back(std::move(trees.back()));
    trees.back() = std::move(phrase);
  };
  for (auto above = unary.between.rbegin(); above != unary.between.rend(); ++above) wrap(*above);
  wrap(unary.parent);
}

const Grammar::Unary* TreeGrammar::root_rule() const {
  const auto is_root = [&](const Grammar::Unary& rule) {
    return rule.parent == grammar_.start && rule.child >= grammar_.num_tags;
  };
  const auto root = std::find_if(grammar_.unaries.begin(), grammar_.unaries.end(), is_root);
  return root == grammar_.unaries.end() ? nullptr : &*root;
}

BracketTree TreeGrammar::in_root(std::vector<BracketTree> trees) const {
  const Grammar::Unary* root = root_rule();
  if (root == nullptr) return {"TOP", "", std::move(trees)};
  BracketTree tree{std::string(category(root->child)), "", std::move(trees)};
  for (auto above = root->between.rbegin(); above != root->between.rend(); ++above) {
    BracketTree phrase{std::string(category(*above)), "", {}};
    phrase.children.push_back(std::move(tree));
    tree = std::move(phrase);
  }
  return tree;
}

BracketTree TreeGrammar::flat_tree(std::span<const TaggedWord> words) const {
  std::vector<BracketTree> trees;
  for (const TaggedWord& word : words) trees.push_back({word.tag, word.word, {}});
  return in_root(std::move(trees));
}

BracketTree TreeGrammar::joined(std::vector<BracketTree> trees) const {
  if (const Grammar::Unary* root = root_rule()) {
    for (BracketTree& tree : trees) {
      for (const std::uint32_t above : root->between) {
        if (tree.children.size() != 1 || tree.label != category(above)) break;
        tree = BracketTree(std::move(tree.children.front()));
      }
    }
  }
  return in_root(std::move(trees));
}

std::vector<std::uint32_t> TreeGrammar::flat_binaries() const {
  std::vector<std::uint32_t> numbers;
  for (const Grammar::Binary& rule : grammar_.binaries)
    numbers.insert(numbers.end(), {rule.parent, rule.left, rule.right});
  return numbers;
}

std::vector<std::uint32_t> TreeGrammar::flat_unaries() const {
  std::vector<std::uint32_t> numbers;
  std::uint32_t end = 0;
  for (const Grammar::Unary& rule : grammar_.unaries) {
    end += static_cast<std::uint32_t>(rule.between.size());
    numbers.insert(numbers.end(), {rule.parent, rule.child, end});
  }
  return numbers;
}

std::vector<std::uint32_t> TreeGrammar::flat_between() const {
  std::vector<std::uint32_t> numbers;
  for (const Grammar::Unary& rule : grammar_.unaries)
    numbers.insert(numbers.end(), rule.between.begin(), rule.between.end());
  return numbers;
}

}  // namespace espalier
