#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/tasks/tag.h"
#include "tasks/fields.h"
#include "tasks/sequence_reader.h"
#include "tasks/tag/model.h"
#include "tasks/tag/parser.h"
#include "tasks/tag/sequence_taker.h"

namespace espalier {
namespace {

// The field of a line that people take for the token: the first one that is neither label nor weight.
std::size_t word_field(const TagInput& input) {
  if (input.format == TagFormat::crfsuite) return 1;
  if (input.format == TagFormat::wapiti) return 0;
  std::size_t column = 0;
  while ((column == input.label_column && !input.more_columns) || column == input.weight_column) ++column;
  return column;
}

std::string_view field_of_line(std::string_view line, Separator separator, std::size_t wanted) {
  std::string_view found;
  std::size_t at = 0;
  for_each_field(line, separator, [&](std::string_view field) {
    if (at++ == wanted) found = field;
  });
  return found;
}

}  // namespace

void Tagger::for_each_labelled(const std::string& path,
                               const std::function<bool(Sentence&, const Labelled&)>& visit) const {
  const TagInput& input = model_.input;
  const auto parser = make_tag_parser(
      input, {NameIds(model_.dictionaries.attributes), NameIds(model_.dictionaries.transitions)}, {true, {}});
  const Separator separator = input.format == TagFormat::crfsuite ? Separator::tab : separator_of(input);
  const std::size_t field = word_field(input);
  SequenceReader reader(path, input);
  LabelReader labels(input);
  StringBuffer names;
  Sequences sequence;
  Sentence sentence(*this);
  std::vector<std::string_view> words;
  bool any = false;
  while (reader.next()) {
    const SequenceLines lines = reader.lines();
    any = true;
    sequence.clear();
    names.clear();
    parser->append(lines, sequence, names);
    parser->finish(sequence);
    const std::span<const std::string_view> gold = labels.read(lines, names);
    words.clear();
    for (std::size_t t = 0; t < lines.size(); ++t)
      words.push_back(field_of_line(lines.line(t), separator, field));
    sentence.set(sequence);
    if (!visit(sentence, {words, gold})) return;
  }
  if (!any) fail_without_sequences(reader.name());
}

}  // namespace espalier
