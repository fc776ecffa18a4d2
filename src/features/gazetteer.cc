#include "features/gazetteer.h"

#include <algorithm>

#include "base/input.h"
#include "espalier/base/error.h"

namespace espalier {
namespace {

constexpr std::string_view kBetweenWords = " \t\r\v\f";

void split_words(std::string_view text, std::vector<std::string_view>& words) {
  words.clear();
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(kBetweenWords), text.size()));
    if (text.empty()) return;
    const std::size_t end = std::min(text.find_first_of(kBetweenWords), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

// What a file is called, without its folder and from its first dot on.
std::string_view stem(std::string_view path) {
  path.remove_prefix(path.rfind('/') + 1);  // npos + 1 is 0
  return path.substr(0, path.find('.'));
}

std::uint64_t edge(std::uint32_t node, std::uint32_t word) { return std::uint64_t{node} << 32 | word; }

}  // namespace

void Gazetteer::read(const std::string& path) {
  LineReader reader(path);
  std::vector<std::string_view> words;
  for (std::string_view line; reader.next(line);) {
    const std::size_t tab = line.find('\t');
    const bool typed = tab != std::string_view::npos;
    split_words(typed ? line.substr(tab + 1) : line, words);
    if (!typed && words.empty()) continue;
    const std::string_view type = typed ? line.substr(0, tab) : stem(path);
    if (type.empty() || words.empty()) {
      reader.fail(in_quotes(line), "expected a phrase, or TYPE TAB phrase");
    }
    add(type, words);
  }
}

Gazetteer Gazetteer::from_text(std::string_view text, const std::string& file) {
  Gazetteer result;
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::size_t tab = line.find('\t');
    if (tab == std::string_view::npos) {
      throw Error::in(file, "damaged gazetteer: a phrase without a type", "retrain the model");
    }
    split_words(line.substr(tab + 1), words);
    result.add(line.substr(0, tab), words);
  }
  return result;
}

void Gazetteer::add(std::string_view type, std::span<const std::string_view> words) {
  std::uint32_t node = 0;
  for (const std::string_view word : words) {
    const auto [at, added] =
        edges_.try_emplace(edge(node, words_.add(word)), static_cast<std::uint32_t>(nodes_.size()));
    node = at->second;
    if (added) nodes_.emplace_back();
  }
  std::vector<std::uint32_t>& types = nodes_[node].types;
  const std::uint32_t id = types_.add(type);
  if (std::find(types.begin(), types.end(), id) != types.end()) return;
  types.push_back(id);
  text_ += type;
  for (std::size_t i = 0; i < words.size(); ++i) {
    text_ += i == 0 ? '\t' : ' ';
    text_ += words[i];
  }
  text_ += '\n';
}

void Gazetteer::find(std::span<const std::string_view> words, std::vector<Match>& matches) const {
  matches.clear();
  for (std::size_t begin = 0; begin < words.size();) {
    std::uint32_t node = 0, longest = 0;
    std::size_t length = 0;
    for (std::size_t t = begin; t < words.size(); ++t) {
      const auto word = words_.find(words[t]);
      if (!word) break;
      const auto next = edges_.find(edge(node, *word));
      if (next == edges_.end()) break;
      node = next->second;
      if (nodes_[node].types.empty()) continue;
      longest = node;
      length = t + 1 - begin;
    }
    for (const std::uint32_t type : nodes_[longest].types) matches.push_back({begin, length, type});
    begin += std::max<std::size_t>(length, 1);
  }
}

}  // namespace espalier
