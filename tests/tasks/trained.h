#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "espalier/base/error.h"
#include "espalier/tasks/task.h"

namespace espalier::testing {

// A predictor of what a training set keeps, without a file.
struct Trained {
  using Load = std::unique_ptr<Predictor> (*)(const StoredTask&);

  Trained(Load load, TaskSections of_task, Weights weights, Loss loss = Loss::crf())
      : sections(std::move(of_task)),
        theta(std::move(weights)),
        predictor(load({sections.settings,
                        [this](std::string_view name) -> std::string_view {
                          for (const auto& array : sections.arrays) {
                            if (array.first == name) return array.second;
                          }
                          throw Error("no array " + std::string(name));
                        },
                        theta, loss, "model.esp"})) {}

  std::string predict(const std::string& path, const PredictOptions& options = {}) const {
    std::string text;
    predictor->predict(path, options, [&](std::string_view piece) { text += piece; });
    return text;
  }

  TaskSections sections;
  Weights theta;
  std::unique_ptr<Predictor> predictor;
};

}  // namespace espalier::testing
