#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/input.h"
#include "espalier/tasks/tag.h"
#include "espalier/tasks/task.h"
#include "features/sentence_breaks.h"

namespace espalier {

// What --format calls plain text.
inline constexpr std::string_view kTextFormat = "text";

// Some text, and where it is in its file.
struct TextStretch {
  std::string text;
  std::size_t first_character = 0;  // counted from 0
  std::size_t first_line = 1;
};

// Plain text in stretches that end where a sentence does, so that what is in them does not depend on where
// they end. Memory grows with the longest sentence, not with the file.
class TextReader {
 public:
  // Messages call the file by this name, "-" being standard input.
  explicit TextReader(const std::string& path) : bytes_(path) {}
  explicit TextReader(ByteReader bytes) : bytes_(std::move(bytes)) {}

  // False at the end. Throws Error for a NUL byte, and what reading throws.
  bool next(TextStretch& stretch);
  const std::string& name() const { return bytes_.name(); }

 private:
  static constexpr std::size_t kEnough = std::size_t{1} << 16;
  std::size_t find_cut();

  ByteReader bytes_;
  SentenceBreaks breaks_;
  std::vector<TextToken> tokens_;
  std::vector<std::size_t> ends_;
  std::string text_;  // that was read and not handed over
  std::size_t character_ = 0, line_ = 1;
  bool at_end_ = false;
};

// The sentences of a text, with columns: that of the words, and then those that taggers fill, each of which
// sees the ones before it, as many as it was trained on. One object per thread.
class TextSentences {
 public:
  struct Place {
    std::size_t begin, end;  // characters of the file, from 0
  };

  // Throws Error for a tagger that does not take columns, or more of them than there are before it. The
  // taggers have to outlive it.
  explicit TextSentences(std::span<const ColumnTagger> taggers);

  // Views of the stretch, which has to stay as it is, until the next call.
  void split(const TextStretch& stretch);
  // A sentence of these words alone, which have no places.
  void set(std::span<const std::string_view> words);
  std::size_t size() const { return ends_.size(); }
  // Sentence i has the tokens begin(i) to begin(i + 1) - 1.
  std::size_t begin(std::size_t i) const { return i == 0 ? 0 : ends_[i - 1]; }
  std::size_t num_columns() const { return taggers_.size() + 1; }
  std::string_view column(std::size_t token, std::size_t column) const {
    return columns_[token * num_columns() + column];
  }
  std::span<const Place> places() const { return places_; }  // of all tokens
  // From the first token of a sentence to its last one.
  std::string_view text(std::size_t i) const;

 private:
  void fill_columns();

  std::vector<const Tagger*> taggers_;
  std::vector<Tagger::Sentence> sentences_;
  SentenceBreaks breaks_;
  std::string_view text_;
  std::vector<TextToken> tokens_;
  std::vector<std::size_t> ends_;
  std::vector<std::string_view> columns_;
  std::vector<Place> places_;
};

// The sentences of a text one after the other, for who reads them as those of other files.
class TextSource {
 public:
  TextSource(const std::string& path, std::span<const ColumnTagger> taggers)
      : reader_(path), sentences_(taggers) {}

  // Goes on to the next sentence; false at the end.
  bool next();
  // Of that sentence, tokens from 0.
  std::size_t size() const { return sentences_.begin(at_) - first(); }
  std::string_view column(std::size_t token, std::size_t column) const {
    return sentences_.column(first() + token, column);
  }
  std::span<const TextSentences::Place> places() const {
    return sentences_.places().subspan(first(), size());
  }
  std::string_view text() const { return sentences_.text(at_ - 1); }
  std::size_t num_columns() const { return sentences_.num_columns(); }
  const std::string& name() const { return reader_.name(); }

 private:
  std::size_t first() const { return sentences_.begin(at_ - 1); }

  TextReader reader_;
  TextSentences sentences_;
  TextStretch stretch_;
  std::size_t at_ = 0;  // sentences of the stretch that next() went to
};

// "offsets":[[0,4],[5,9]], of what --json writes.
void append_offsets(std::span<const TextSentences::Place> places, std::string& to);

// The place in `taggers` of the one that fills a column by one of these names, as TextSentences counts
// columns; nullopt where none does.
std::optional<std::size_t> find_column(std::span<const ColumnTagger> taggers,
                                       std::initializer_list<std::string_view> names);
// Throws Error for a column of another name, or two of one, and where taggers are given without text.
void check_columns(std::span<const ColumnTagger> taggers, bool is_text,
                   const std::function<bool(std::string_view name)>& is_known, const std::string& known);

}  // namespace espalier
