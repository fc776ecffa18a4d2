#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "espalier/model/model.h"
#include "serve/predictions.h"

namespace espalier::serve {

struct ColumnFile {
  std::string name, path;
};

// A model as it was when its files were read, with the taggers that fill columns of its text, and whoever
// answers questions on it. It is in memory: files may be overwritten in place, too. Thread-safe.
class LoadedModel {
 public:
  LoadedModel(const std::string& path, const std::vector<ColumnFile>& columns);

  const Model& model() const { return model_; }
  // What /v1/model says: nothing of where files are, or of what training read.
  const Json& info() const { return info_; }

  // Somebody to ask, for as long as one likes.
  std::unique_ptr<Predictions> take();
  void give_back(std::unique_ptr<Predictions> predictions);

 private:
  Model model_;
  std::vector<Model> column_models_;
  std::vector<ColumnTagger> taggers_;
  Json info_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Predictions>> spare_;
};

// The model of a file, replaced when the file is. Requests that began with the model before end with it.
class ServedModel {
 public:
  // Throws Error for files that cannot be used.
  ServedModel(std::string path, std::vector<ColumnFile> columns);

  std::shared_ptr<LoadedModel> current() const;
  // Looks at the files; where one was replaced, loads them anew. What went wrong, if anything did, and then
  // the model stays what it was. Of one thread at a time.
  enum class Change { none, loaded, failed };
  Change look(std::string& problem);

 private:
  // What tells a file that was replaced or written to from what it was.
  struct Mark {
    std::uint64_t device = 0, inode = 0, size = 0;
    std::int64_t seconds = 0, nanoseconds = 0;
    bool operator==(const Mark&) const = default;
  };
  std::vector<Mark> marks() const;

  std::string path_;
  std::vector<ColumnFile> columns_;
  std::vector<Mark> seen_;
  mutable std::mutex mutex_;
  std::shared_ptr<LoadedModel> current_;
};

}  // namespace espalier::serve
