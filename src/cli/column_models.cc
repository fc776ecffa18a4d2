#include "cli/column_models.h"

#include <fmt/format.h>

#include "espalier/base/error.h"

namespace espalier::cli {

std::pair<std::string, std::string> split_column(const std::string& given) {
  const std::size_t equals = given.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == given.size())
    throw Error::in("--columns", in_quotes(given), "expected NAME=MODEL, as pos=POS.esp");
  return {given.substr(0, equals), given.substr(equals + 1)};
}

ColumnModels::ColumnModels(const std::vector<std::string>& given, const std::string& task) {
  if (!given.empty() && task != "tag" && task != "parse" && task != "treebank") {
    throw Error::in("--columns", fmt::format("given for a model of {}", task),
                    "expected a model of tag, parse or treebank");
  }
  for (const std::string& text : given) {
    const auto [name, path] = split_column(text);
    Model model(path);
    if (model.info().task != "tag")
      throw Error::in(model.name(), fmt::format("a model of {}", model.info().task), "expected a tagger");
    columns_.push_back({name, std::move(model)});
  }
}

std::vector<ColumnTagger> ColumnModels::taggers() const {
  std::vector<ColumnTagger> taggers;
  for (const Column& column : columns_) taggers.push_back({column.name, &column.model.tagger()});
  return taggers;
}

}  // namespace espalier::cli
