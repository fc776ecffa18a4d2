#include "tasks/text_sentences.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "espalier/base/error.h"
#include "tasks/json_lines.h"

namespace espalier {
namespace {

std::size_t count_lines(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

// The end of the last blank line of a text, which ends a sentence; 0: there is none.
std::size_t after_blank_line(std::string_view text) {
  for (std::size_t end = text.rfind('\n'); end != std::string_view::npos && end > 0;
       end = text.rfind('\n', end - 1)) {
    std::size_t before = end;
    while (before > 0 && (text[before - 1] == ' ' || text[before - 1] == '\t' || text[before - 1] == '\r'))
      --before;
    if (before > 0 && text[before - 1] == '\n') return end + 1;
  }
  return 0;
}

}  // namespace

bool TextReader::next(TextStretch& stretch) {
  std::size_t cut = 0;
  for (std::size_t enough = kEnough; cut == 0;) {
    while (!at_end_ && text_.size() < enough) {
      const std::size_t before = text_.size();
      text_.resize(std::max(enough, before + kEnough));
      const std::size_t got = bytes_.read(text_.data() + before, text_.size() - before);
      text_.resize(before + got);
      at_end_ = got == 0;
      if (const std::size_t nul = text_.find('\0', before); nul != std::string::npos) {
        throw Error::at(name(), line_ + count_lines(std::string_view(text_).substr(0, nul)), "a NUL byte",
                        "expected a text file, plain or compressed by gzip, zstd or xz");
      }
    }
    if (at_end_ && text_.empty()) return false;
    cut = at_end_ ? text_.size() : find_cut();
    enough = 2 * text_.size();
  }
  stretch.text.assign(text_, 0, cut);
  stretch.first_character = character_;
  stretch.first_line = line_;
  text_.erase(0, cut);
  character_ += count_characters(stretch.text);
  line_ += count_lines(stretch.text);
  return true;
}

// Where the text can be cut; 0: nowhere yet. What is behind the last blank line, or the last sentence, may go
// on.
std::size_t TextReader::find_cut() {
  if (const std::size_t cut = after_blank_line(text_); cut > 0) return cut;
  breaks_.split(text_, tokens_, ends_);
  // The one before the last: what follows the last token may be a part of it.
  return ends_.size() < 3 ? 0 : tokens_[ends_[ends_.size() - 3]].begin;
}

TextSentences::TextSentences(std::span<const ColumnTagger> taggers) {
  for (const ColumnTagger& of : taggers) {
    const std::string argument = fmt::format("{} {}", setting("columns"), of.name);
    if (of.tagger->format() != TagFormat::columns) {
      throw Error::in(argument, fmt::format("a model of {} attributes", to_string(of.tagger->format())),
                      "expected a tagger that was trained on columns");
    }
    if (of.tagger->num_columns() > num_columns()) {
      throw Error::in(argument, fmt::format("a tagger of {} columns", of.tagger->num_columns()),
                      fmt::format("expected one of at most {}: the word{}", num_columns(),
                                  taggers_.empty() ? "" : " and the columns that are filled before"));
    }
    taggers_.push_back(of.tagger);
    sentences_.emplace_back(*of.tagger);
  }
}

void TextSentences::split(const TextStretch& stretch) {
  text_ = stretch.text;
  breaks_.split(text_, tokens_, ends_);
  const std::size_t width = num_columns();
  columns_.assign(tokens_.size() * width, {});
  places_.clear();
  std::size_t byte = 0, character = stretch.first_character;
  for (std::size_t t = 0; t < tokens_.size(); ++t) {
    const TextToken& token = tokens_[t];
    const std::string_view word = text_.substr(token.begin, token.end - token.begin);
    columns_[t * width] = word;
    character += count_characters(text_.substr(byte, token.begin - byte));
    const std::size_t begin = character;
    character += count_characters(word);
    byte = token.end;
    places_.push_back({begin, character});
  }
  fill_columns();
}

void TextSentences::set(std::span<const std::string_view> words) {
  places_.clear();
  ends_.assign(words.empty() ? 0 : 1, words.size());
  columns_.assign(words.size() * num_columns(), {});
  for (std::size_t t = 0; t < words.size(); ++t) columns_[t * num_columns()] = words[t];
  fill_columns();
}

void TextSentences::fill_columns() {
  const std::size_t width = num_columns();
  for (std::size_t k = 0; k < taggers_.size(); ++k) {
    Tagger::Sentence& sentence = sentences_[k];
    const std::size_t needed = taggers_[k]->num_columns();
    for (std::size_t i = 0; i < size(); ++i) {
      const std::size_t first = begin(i), last = begin(i + 1);
      sentence.clear();
      for (std::size_t t = first; t < last; ++t)
        sentence.add_columns(std::span<const std::string_view>(columns_).subspan(t * width, needed));
      const auto labels = sentence.labels();
      for (std::size_t t = first; t < last; ++t)
        columns_[t * width + k + 1] = taggers_[k]->label(labels[t - first]);
    }
  }
}

std::string_view TextSentences::text(std::size_t i) const {
  const TextToken &first = tokens_[begin(i)], &last = tokens_[begin(i + 1) - 1];
  return text_.substr(first.begin, last.end - first.begin);
}

bool TextSource::next() {
  while (at_ == sentences_.size()) {
    if (!reader_.next(stretch_)) return false;
    sentences_.split(stretch_);
    at_ = 0;
  }
  ++at_;
  return true;
}

void append_offsets(std::span<const TextSentences::Place> places, std::string& to) {
  to += "\"offsets\":";
  append_json_list(places.size(), to,
                   [&](std::size_t t) { append_format(to, "[{},{}]", places[t].begin, places[t].end); });
}

std::optional<std::size_t> find_column(std::span<const ColumnTagger> taggers,
                                       std::initializer_list<std::string_view> names) {
  for (std::size_t k = 0; k < taggers.size(); ++k) {
    if (std::ranges::find(names, taggers[k].name) != names.end()) return k + 1;
  }
  return std::nullopt;
}

void check_columns(std::span<const ColumnTagger> taggers, bool is_text,
                   const std::function<bool(std::string_view name)>& is_known, const std::string& known) {
  if (!taggers.empty() && !is_text) {
    throw Error::in(setting("columns"), "given for input that has its columns",
                    fmt::format("expected {} {}", setting("format"), kTextFormat));
  }
  for (std::size_t k = 0; k < taggers.size(); ++k) {
    if (!is_known(taggers[k].name)) {
      throw Error::in(setting("columns"), fmt::format("the column {}", in_quotes(taggers[k].name)),
                      "expected " + known);
    }
    if (find_column(taggers.first(k), {taggers[k].name}))
      throw Error::in(setting("columns"), fmt::format("the column {} twice", in_quotes(taggers[k].name)),
                      "expected one model for each column");
  }
}

}  // namespace espalier
