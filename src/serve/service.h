#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "serve/http_server.h"
#include "serve/metrics.h"
#include "serve/question.h"
#include "serve/served_model.h"

namespace espalier::serve {

struct ServiceSettings {
  std::size_t busy = 1;       // predictions at the same time
  std::size_t waiting = 512;  // that wait for their turn; more are refused
  QuestionLimits limits{};
};

// What is at each path. docs/serve.md describes it for users, web/serve/openapi.json for programs.
// Thread-safe.
class Service {
 public:
  // The model has to outlive it.
  Service(ServedModel& model, ServiceSettings settings) : model_(model), settings_(std::move(settings)) {}

  static std::vector<HttpServer::Route> routes();
  static std::vector<std::string> open_paths();  // that need no token

  Response answer(const Request& request);
  void observe(const std::string& path, int status, double seconds) {
    metrics_.count_request(path, status, seconds);
  }
  Metrics& metrics() { return metrics_; }
  // Who knows of the connections.
  std::function<HttpCounts()> connections{};

 private:
  Response predict(const std::string& body);
  Response metrics_text();

  ServedModel& model_;
  ServiceSettings settings_;
  Metrics metrics_;
  std::mutex mutex_;
  std::condition_variable left_;
  std::size_t busy_ = 0, waiting_ = 0;
};

}  // namespace espalier::serve
