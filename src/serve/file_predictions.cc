#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

#include "base/text.h"
#include "espalier/base/error.h"
#include "espalier/tasks/registry.h"
#include "features/sentence_breaks.h"
#include "serve/predictions.h"
#include "tasks/sequence_reader.h"

namespace espalier::serve {
namespace {

// A file in memory, which has a path as long as it is open.
class FileInMemory {
 public:
  explicit FileInMemory(std::string_view text) : file_(::memfd_create("input", MFD_CLOEXEC)) {
    if (file_ < 0) throw BadQuestion("no memory for another file", 503);
    while (!text.empty()) {
      const ssize_t written = ::write(file_, text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) {
        ::close(file_);
        throw BadQuestion("no memory for another file", 503);
      }
      text.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  ~FileInMemory() { ::close(file_); }
  FileInMemory(const FileInMemory&) = delete;
  FileInMemory& operator=(const FileInMemory&) = delete;

  std::string path() const { return fmt::format("/proc/self/fd/{}", file_); }

 private:
  int file_;
};

// An option of `predict` as its command line has it.
std::string typed(const Json& value) {
  if (value == Json(true)) return "true";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// A field of a line of columns.
void append_field(const Json& value, std::string& to) {
  if (!value.is_string()) throw BadQuestion("tokens: expected words, or lists of a word and its columns");
  const auto text = value.get<std::string>();
  if (text.empty()) throw BadQuestion("tokens: an empty word or column; expected some text");
  if (text.find_first_of(std::string_view("\t\n\v\f\r \0", 7)) != std::string::npos)
    throw BadQuestion(fmt::format("tokens: white space in {}; expected none", in_quotes(text)));
  to += text;
}

class FilePredictions final : public Predictions {
 public:
  FilePredictions(const Model& model, std::span<const ColumnTagger> taggers)
      : model_(model), task_(*find_task(model.info().task)), taggers_(taggers) {}

  Labelled answer(const Json& question, const Budget& budget, std::string& to) override {
    const bool parses = task_.name == "parse" || task_.name == "treebank";
    if (task_.name == "parse") {
      check_members(question,
                    {"text", "tokens", "input", "format", "marginals", "kbest", "forced", "explain"});
    } else if (parses) {
      check_members(question, {"text", "tokens", "input", "format", "marginals", "kbest", "explain"});
    } else if (task_.name == "tag") {
      check_members(question,
                    {"input", "format", "marginals", "kbest", "min_confidence", "encoding", "forced"});
    } else {
      check_members(question, {"input", "format", "marginals", "kbest"});
    }
    const Json *text = member(question, "text"), *tokens = member(question, "tokens"),
               *input = member(question, "input");
    if ((text != nullptr) + (tokens != nullptr) + (input != nullptr) != 1)
      throw BadQuestion(parses ? "expected one of text, tokens and input" : "expected input");
    const Json* given = text != nullptr ? text : tokens != nullptr ? tokens : input;
    if (tokens == nullptr && !given->is_string())
      throw BadQuestion(fmt::format("{}: expected a string", text != nullptr ? "text" : "input"));

    OptionValues options(task_.predict_options());
    const Json* heads = task_.name == "parse" ? member(question, "forced") : nullptr;
    for (const char* name : {"format", "min_confidence", "encoding", "forced"}) {
      const Json* value = member(question, name);
      if (value != nullptr && value != heads) options.set(name, typed(*value));
    }
    if (heads != nullptr) {
      if (tokens == nullptr) throw BadQuestion("forced: expected tokens, whose heads these are");
      if (list_of(*heads, "forced").size() != list_of(*tokens, "tokens").size())
        throw BadQuestion(
            fmt::format("forced: heads of {} sentences; expected {}", heads->size(), tokens->size()));
      options.set("keep_heads", "true");
    }
    if (const std::size_t kbest = kbest_of(question, budget)) options.set("kbest", std::to_string(kbest));
    if (const std::string marginals = marginals_of(question); !marginals.empty()) {
      if (options.table().find("marginals") == nullptr)
        throw BadQuestion(fmt::format("marginals: a model of {}, which has none", task_.name));
      options.set("marginals", marginals);
    }
    if (options.table().find("json") != nullptr) options.set("json", "true");
    if (options.table().find("threads") != nullptr) options.set("threads", "1");
    if (text != nullptr) options.set("format", "text");
    if (tokens != nullptr && task_.name == "treebank")
      options.set("format",
                  model_.treebank_parser().predicts_tags() && !tagged(*tokens) ? "words" : "tagged");
    options.check_effective();
    if (tokens != nullptr) {
      std::size_t all = 0;
      for (const Json& sentence : *tokens) budget.check_parsed(sentence.size(), all);
    } else if (parses) {
      const Json format = options.get("format");
      check_parsed(given->get<std::string>(), format == Json("text"), budget);
    }
    PredictOptions prediction(options);
    if (text != nullptr) prediction.columns.assign(taggers_.begin(), taggers_.end());
    return predict(tokens != nullptr ? lines_of(*tokens, heads) : given->get<std::string>(), prediction,
                   budget, to);
  }

 private:
  // Of plain text, of brackets, and of sentences that are lines (treebank) or have a line for each word
  // (parse).
  void check_parsed(std::string_view text, bool plain, const Budget& budget) const {
    std::size_t all = 0, words = 0;
    if (plain) {
      std::vector<TextToken> tokens;
      std::vector<std::size_t> ends;
      SentenceBreaks().split(text, tokens, ends);
      for (std::size_t i = 0; i < ends.size(); ++i)
        budget.check_parsed(i == 0 ? ends[i] : ends[i] - ends[i - 1], all);
      return;
    }
    const bool brackets = task_.name == "treebank" && text.find('(') != std::string_view::npos;
    std::size_t depth = 0;
    bool inside = false, in_line = false;  // a word, a line with some text
    for (const char c : text) {
      const bool blank = is_white_space(c);
      if (brackets) {
        if (c == '(') ++depth;
        if (c == ')' && inside) ++words;  // (NN dog)
        if (c == ')' && depth > 0 && --depth == 0) budget.check_parsed(std::exchange(words, 0), all);
        inside = c != '(' && c != ')' && (inside || !blank);
      } else if (task_.name == "treebank") {
        if (!blank && !inside) ++words;
        inside = !blank;
        if (c == '\n') budget.check_parsed(std::exchange(words, 0), all);
      } else if (c == '\n') {
        if (in_line) ++words;
        if (!in_line) budget.check_parsed(std::exchange(words, 0), all);
        in_line = false;
      } else {
        in_line = in_line || !blank;
      }
    }
    budget.check_parsed(words + (in_line ? 1 : 0), all);
  }

  Labelled predict(const std::string& input, const PredictOptions& options, const Budget& budget,
                   std::string& to) const {
    const FileInMemory file(input);
    std::string lines;
    try {
      model_.predictor().predict(file.path(), options, [&](std::string_view piece) {
        lines += piece;
        budget.check(lines);
      });
    } catch (const Error& error) {
      // The path is of no use to who asked.
      std::string message = error.what();
      for (std::size_t at; (at = message.find(file.path())) != std::string::npos;)
        message.replace(at, file.path().size(), "input");
      throw BadQuestion(message);
    }
    Labelled labelled;
    to += "\"results\":[";
    for (std::string_view rest = lines; !rest.empty();) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      if (labelled.examples++ > 0) to += ',';
      to += rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    to += ']';
    return labelled;
  }

  static bool tagged(const Json& tokens) {
    return list_of(tokens, "tokens").size() > 0 && list_of(tokens[0], "tokens").size() > 0 &&
           tokens[0][0].is_array();
  }

  // Sentences as a file has them: for parse words with their parts of speech (UPOS, and XPOS or the same),
  // for treebank words with their tags.
  // With `heads`, for parse, the head of each word or null.
  std::string lines_of(const Json& tokens, const Json* heads) const {
    std::string lines;
    for (std::size_t i = 0; i < list_of(tokens, "tokens").size(); ++i) {
      const Json& sentence = tokens[i];
      std::size_t number = 0;
      if (heads != nullptr && list_of((*heads)[i], "forced").size() != list_of(sentence, "tokens").size())
        throw BadQuestion(fmt::format("forced: {} heads for {} words", (*heads)[i].size(), sentence.size()));
      for (const Json& token : list_of(sentence, "tokens")) {
        const bool columns = token.is_array();
        if (columns && (token.size() == 0 || token.size() > 3))
          throw BadQuestion("tokens: expected 1 to 3 columns");
        const Json& word = columns ? token[0] : token;
        const Json* tag = columns && token.size() > 1 ? &token[1] : nullptr;
        if (task_.name == "parse") {
          append_format(lines, "{}\t", ++number);
          append_field(word, lines);
          lines += "\t_\t";
          if (tag != nullptr) append_field(*tag, lines);
          if (tag == nullptr) lines += '_';
          lines += '\t';
          if (tag != nullptr) append_field(token.size() > 2 ? token[2] : *tag, lines);
          if (tag == nullptr) lines += '_';
          const Json* head = heads != nullptr ? &(*heads)[i][number - 1] : nullptr;
          if (head != nullptr && !head->is_null() && !head->is_unsigned())
            throw BadQuestion("forced: expected the number of a word, 0 for the root, or null");
          if (head != nullptr && !head->is_null() && head->get<std::uint64_t>() > sentence.size())
            throw BadQuestion(
                fmt::format("forced: the head {} in a sentence of {} words", head->dump(), sentence.size()));
          append_format(lines, "\t_\t{}\t_\n", head != nullptr && !head->is_null() ? head->dump() : "_");
        } else {
          if (number++ > 0) lines += ' ';
          append_field(word, lines);
          if (tag != nullptr) {
            lines += '_';
            append_field(*tag, lines);
          }
        }
      }
      lines += '\n';
    }
    return lines;
  }

  const Model& model_;
  const TaskEntry& task_;
  std::span<const ColumnTagger> taggers_;
};

}  // namespace

std::unique_ptr<Predictions> make_file_predictions(const Model& model,
                                                   std::span<const ColumnTagger> taggers) {
  return std::make_unique<FilePredictions>(model, taggers);
}

std::unique_ptr<Predictions> make_predictions(const Model& model, std::span<const ColumnTagger> taggers) {
  if (model.info().task == "tag") return make_tag_predictions(model, taggers);
  if (model.info().task == "classify") return make_classify_predictions(model);
  if (model.info().task == "parse") return make_parse_predictions(model, taggers);
  if (model.info().task == "treebank") return make_treebank_predictions(model, taggers);
  if (model.info().task == "graph") return make_graph_predictions(model);
  return make_file_predictions(model, taggers);
}

}  // namespace espalier::serve
