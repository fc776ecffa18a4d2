#pragma once

#include <string>
#include <utility>
#include <vector>

#include "espalier/model/model.h"

namespace espalier::cli {

// NAME and MODEL of --columns NAME=MODEL. Throws Error for what is none.
std::pair<std::string, std::string> split_column(const std::string& given);

// The models that --columns NAME=MODEL names, which fill columns of plain text.
class ColumnModels {
 public:
  // Throws Error for what is not NAME=MODEL, for models that do not tag, and where the model that is to see
  // the columns is of a task that has none.
  ColumnModels(const std::vector<std::string>& given, const std::string& task);

  // Valid as long as this lives.
  std::vector<ColumnTagger> taggers() const;

 private:
  struct Column {
    std::string name;
    Model model;
  };
  std::vector<Column> columns_;
};

}  // namespace espalier::cli
