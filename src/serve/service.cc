#include "serve/service.h"

#include <fmt/format.h>

#include <new>

#include "base/text.h"
#include "espalier/base/error.h"
#include "espalier/version.h"
#include "report/page.h"
#include "tasks/json_lines.h"

namespace espalier::web {
extern const std::string_view playground, openapi;
}

namespace espalier::serve {
namespace {

constexpr const char *kPredict = "/v1/predict", *kModel = "/v1/model", *kHealth = "/healthz",
                     *kMetrics = "/metrics", *kOpenApi = "/openapi.json", *kPage = "/";

// What another page may do with ours: nothing.
Response html(std::string body) {
  Response response{200, std::move(body), "text/html; charset=utf-8"};
  response.headers = {{"X-Frame-Options", "DENY"}, {"Referrer-Policy", "no-referrer"}};
  return response;
}

}  // namespace

std::vector<HttpServer::Route> Service::routes() {
  return {{"GET", kPage},   {"POST", kPredict}, {"GET", kModel},
          {"GET", kHealth}, {"GET", kMetrics},  {"GET", kOpenApi}};
}

std::vector<std::string> Service::open_paths() { return {kPage, kHealth, kOpenApi}; }

Response Service::answer(const Request& request) {
  try {
    if (request.path == kPredict) return predict(request.body);
    if (request.path == kModel) return {200, model_.current()->info().dump() + '\n'};
    if (request.path == kHealth) return {200, "{\"status\":\"ok\"}\n"};
    if (request.path == kMetrics) return metrics_text();
    if (request.path == kOpenApi) return {200, fill_page(web::openapi, {{"version", ESPALIER_VERSION}})};
    return html(fill_page(web::playground, {{"version", ESPALIER_VERSION}}));
  } catch (const BadQuestion& bad) {
    return failure(bad.status, bad.what());
  } catch (const Error& error) {
    return failure(400, error.what());
  } catch (const std::bad_alloc&) {
    return failure(503, "out of memory; expected a smaller question");
  } catch (const std::exception& error) {
    return failure(500, fmt::format("unexpected error: {}", error.what()));
  }
}

Response Service::predict(const std::string& body) {
  Json question;
  try {
    question = Json::parse(body);
  } catch (const JsonSyntaxError& error) {
    return failure(400, fmt::format("byte {} of the body: not JSON", error.column));
  } catch (const JsonError& error) {
    return failure(400, error.what());
  }
  if (!question.is_object()) return failure(400, "expected a JSON object");

  // A place among those that work.
  const auto end = std::chrono::steady_clock::now() + settings_.limits.seconds;
  {
    std::unique_lock lock(mutex_);
    bool turn = busy_ < settings_.busy;
    if (!turn && waiting_ < settings_.waiting) {
      ++waiting_;
      turn = left_.wait_until(lock, end, [&] { return busy_ < settings_.busy; });
      --waiting_;
    }
    if (!turn) {
      lock.unlock();
      metrics_.count_overload();
      Response busy = failure(503, "too many predictions are waiting");
      busy.headers.emplace_back("Retry-After", "1");
      return busy;
    }
    ++busy_;
  }
  struct Leave {
    Service& service;
    ~Leave() {
      {
        std::lock_guard lock(service.mutex_);
        --service.busy_;
      }
      service.left_.notify_one();
    }
  } leave{*this};

  const std::shared_ptr<LoadedModel> model = model_.current();
  std::unique_ptr<Predictions> predictions = model->take();
  const Budget budget(settings_.limits);
  std::string answer = "{\"task\":";
  append_json(model->model().info().task, answer);
  answer += ',';
  // Where this throws, what is half done is not used again.
  const Labelled labelled = predictions->answer(question, budget, answer);
  model->give_back(std::move(predictions));
  answer += "}\n";
  metrics_.count_labelled(labelled.examples, labelled.tokens);
  return {200, std::move(answer)};
}

Response Service::metrics_text() {
  const HttpCounts counts = connections ? connections() : HttpCounts{};
  std::unique_lock lock(mutex_);
  const double busy = static_cast<double>(busy_), waiting = static_cast<double>(waiting_);
  lock.unlock();
  return {
      200,
      metrics_.text(
          {{"espalier_connections_total", "Connections so far.", "counter",
            static_cast<double>(counts.connections)},
           {"espalier_refused_connections_total", "Connections beyond the limit.", "counter",
            static_cast<double>(counts.refused)},
           {"espalier_open_connections", "Connections now.", "gauge", static_cast<double>(counts.open)},
           {"espalier_busy_predictions", "Predictions that are worked on now.", "gauge", busy},
           {"espalier_waiting_predictions", "Predictions that wait for their turn now.", "gauge", waiting}}),
      "text/plain; version=0.0.4; charset=utf-8"};
}

}  // namespace espalier::serve
