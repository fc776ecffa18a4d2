#include "tasks/graph/uai_reader.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>

#include "base/input.h"
#include "base/parse_number.h"
#include "base/text.h"
#include "espalier/base/error.h"

namespace espalier {
namespace {

// What a file has between spaces and line ends, one after another.
class Words {
 public:
  explicit Words(const std::string& path) : lines_(path) {}

  // None at the end of the file.
  std::optional<std::string_view> next() {
    for (;;) {
      const std::size_t begin = line_.find_first_not_of(" \t\r\f\v");
      if (begin != std::string_view::npos) {
        line_.remove_prefix(begin);
        const std::string_view word = line_.substr(0, line_.find_first_of(" \t\r\f\v"));
        line_.remove_prefix(word.size());
        return word;
      }
      if (!lines_.next(line_)) return std::nullopt;
    }
  }
  std::string_view expect(std::string_view what) {
    const auto word = next();
    if (!word) fail("the file ends", what);
    return *word;
  }
  // A whole number of at most `most`.
  std::size_t number(std::string_view what, std::size_t least, std::size_t most) {
    const std::string_view word = expect(what);
    std::size_t value = 0;
    const auto result = std::from_chars(word.data(), word.data() + word.size(), value);
    if (result.ec != std::errc() || result.ptr != word.data() + word.size() || value < least ||
        value > most) {
      fail(in_quotes(word), what);
    }
    return value;
  }
  [[noreturn]] void fail(std::string_view found, std::string_view expected) const {
    throw Error::at(lines_.name(), std::max<std::size_t>(1, lines_.line_number()), found,
                    fmt::format("expected {}", expected));
  }

 private:
  LineReader lines_;
  std::string_view line_;
};

constexpr std::size_t kMost = std::numeric_limits<std::uint32_t>::max() / 2;
// Of all variables together: their marginals take 512 MiB, and may be all that a short file asks for.
constexpr std::size_t kMostLabels = std::size_t{1} << 26;

}  // namespace

UaiModel read_uai(const std::string& path) {
  Words words(path);
  const std::string_view kind = words.expect("MARKOV or BAYES");
  if (kind != "MARKOV" && kind != "BAYES") words.fail(in_quotes(kind), "MARKOV or BAYES");
  // Memory grows with what is there, not with what is announced.
  std::vector<std::uint32_t> cardinalities;
  std::size_t labels = 0;
  for (std::size_t left = words.number("the number of variables, from 1 to 2147483647", 1, kMost); left > 0;
       --left) {
    cardinalities.push_back(static_cast<std::uint32_t>(
        words.number("the number of a variable's labels, from 1 to 2147483647", 1, kMost)));
    labels += cardinalities.back();
    if (labels > kMostLabels) {
      words.fail(fmt::format("{} labels of {}", grouped(labels), counted(cardinalities.size(), "variable")),
                 fmt::format("at most {} of all variables", grouped(kMostLabels)));
    }
  }
  const auto graph = std::make_shared<FactorGraph>(cardinalities);
  // Tables of no variables are constants; they have no clique.
  constexpr std::size_t kConstant = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> cliques;
  std::vector<std::uint32_t> scope;
  std::vector<std::uint32_t> last_table(cardinalities.size(), 0);  // that a variable was met in, from 1
  const std::string variables = fmt::format("a variable from 0 to {}", cardinalities.size() - 1);
  const std::size_t tables = words.number("the number of tables", 0, kMost);
  const std::string sizes =
      fmt::format("the number of a table's variables, at most {}", cardinalities.size());
  for (std::uint32_t table = 1; table <= tables; ++table) {
    scope.resize(words.number(sizes, 0, cardinalities.size()));
    for (std::uint32_t& variable : scope) {
      variable = static_cast<std::uint32_t>(words.number(variables, 0, cardinalities.size() - 1));
      if (last_table[variable] == table)
        words.fail(fmt::format("variable {} twice", variable), "each variable of a table once");
      last_table[variable] = table;
    }
    if (!scope.empty() && !graph->has_room(scope)) {
      words.fail(fmt::format("a table of {} variables, whose entries nobody can count", scope.size()),
                 "fewer variables, or fewer labels");
    }
    cliques.push_back(scope.empty() ? kConstant : graph->add_clique(scope));
  }
  UaiModel model;
  double constant = 0;
  for (std::size_t c = 0; c < cliques.size(); ++c) {
    const std::size_t entries = cliques[c] == kConstant ? 1 : graph->size(cliques[c]);
    words.number(fmt::format("{}, the entries of table {} of {}", entries, c + 1, cliques.size()), entries,
                 entries);
    for (std::size_t e = 0; e < entries; ++e) {
      const std::string_view word = words.expect(fmt::format("entry {} of {} of a table", e + 1, entries));
      const auto value = parse_double(word);
      if (!value || *value < 0) words.fail(in_quotes(word), "a number from 0");
      if (cliques[c] == kConstant) {
        constant += std::log(*value);
      } else {
        model.scores.push_back(std::log(*value));
      }
    }
  }
  if (const auto word = words.next())
    words.fail(in_quotes(*word), "the end of the file after the last table");
  if (constant != 0) {
    const std::uint32_t first[] = {0};
    const std::size_t clique = graph->add_clique(first);
    model.scores.insert(model.scores.end(), graph->size(clique), constant);
  }
  model.graph = graph;
  return model;
}

std::vector<UaiObservation> read_uai_evidence(const std::string& path, const FactorGraph& graph) {
  Words words(path);
  std::vector<UaiObservation> evidence;
  const auto count = words.next();
  if (!count) return evidence;
  const auto number = parse_double(*count);
  const std::string how_many = fmt::format("the number of observations, at most {}", graph.num_variables());
  if (!number || *number != std::floor(*number) || *number < 0 ||
      *number > static_cast<double>(graph.num_variables())) {
    words.fail(in_quotes(*count), how_many);
  }
  std::vector<std::uint8_t> seen(graph.num_variables(), 0);
  const std::string variables = fmt::format("a variable from 0 to {}", graph.num_variables() - 1);
  for (auto left = static_cast<std::size_t>(*number); left > 0; --left) {
    const std::size_t variable = words.number(variables, 0, graph.num_variables() - 1);
    if (seen[variable])
      words.fail(fmt::format("variable {} again", variable), "one observation per variable");
    seen[variable] = 1;
    const std::uint32_t most = graph.cardinality(variable) - 1;
    const std::size_t label =
        words.number(fmt::format("a label of variable {}, from 0 to {}", variable, most), 0, most);
    evidence.push_back({static_cast<std::uint32_t>(variable), static_cast<std::uint32_t>(label)});
  }
  if (const auto word = words.next())
    words.fail(in_quotes(*word), "the end of the file after the last observation");
  return evidence;
}

UaiConditional condition(const UaiModel& model, std::span<const UaiObservation> evidence) {
  const FactorGraph& from = *model.graph;
  UaiConditional result;
  result.variable.assign(from.num_variables(), 0);
  result.observed.assign(from.num_variables(), 0);
  for (const auto& observation : evidence) {
    result.variable[observation.variable] = UaiConditional::kObserved;
    result.observed[observation.variable] = observation.label;
  }
  std::vector<std::uint32_t> cardinalities;
  for (std::size_t v = 0; v < from.num_variables(); ++v) {
    if (result.variable[v] == UaiConditional::kObserved) continue;
    result.variable[v] = static_cast<std::uint32_t>(cardinalities.size());
    cardinalities.push_back(from.cardinality(v));
  }
  const auto graph = std::make_shared<FactorGraph>(std::move(cardinalities));
  std::vector<std::uint32_t> left, labels(from.num_variables(), 0);
  for (std::size_t c = 0; c < from.num_cliques(); ++c) {
    left.clear();
    for (const std::uint32_t v : from.scope(c)) {
      labels[v] = result.observed[v];
      if (result.variable[v] != UaiConditional::kObserved) left.push_back(result.variable[v]);
    }
    if (left.empty()) {
      result.constant += model.scores[from.begin(c) + from.entry(c, labels)];
      continue;
    }
    // The entries that go with what was observed, the last variable that is left changing fastest.
    const std::size_t entries = graph->size(graph->add_clique(left));
    for (std::size_t v : from.scope(c)) {
      if (result.variable[v] != UaiConditional::kObserved) labels[v] = 0;
    }
    for (std::size_t e = 0; e < entries; ++e) {
      result.scores.push_back(model.scores[from.begin(c) + from.entry(c, labels)]);
      const auto scope = from.scope(c);
      for (std::size_t i = scope.size(); i-- > 0;) {
        if (result.variable[scope[i]] == UaiConditional::kObserved) continue;
        if (++labels[scope[i]] < from.cardinality(scope[i])) break;
        labels[scope[i]] = 0;
      }
    }
  }
  for (std::uint32_t v = 0; v < graph->num_variables(); ++v) {
    const std::uint32_t scope[] = {v};
    graph->add_clique(scope);
    result.scores.insert(result.scores.end(), graph->cardinality(v), 0.0);
  }
  result.graph = graph;
  return result;
}

}  // namespace espalier
