#include "serve/metrics.h"

#include <algorithm>

#include "base/text.h"

namespace espalier::serve {

void Metrics::count_request(const std::string& path, int status, double seconds) {
  std::lock_guard lock(mutex_);
  ++requests_[{path, status}];
  if (path != "/v1/predict") return;
  const auto bucket = std::ranges::lower_bound(kBuckets, seconds);
  ++by_seconds_[static_cast<std::size_t>(bucket - kBuckets.begin())];
  seconds_ += seconds;
}

void Metrics::count_labelled(std::size_t examples, std::size_t tokens) {
  std::lock_guard lock(mutex_);
  examples_ += examples;
  tokens_ += tokens;
}

void Metrics::count_overload() {
  std::lock_guard lock(mutex_);
  ++overloads_;
}

void Metrics::count_reload(bool success) {
  std::lock_guard lock(mutex_);
  ++(success ? reloads_ : failed_reloads_);
}

std::string Metrics::text(std::initializer_list<Gauge> gauges) const {
  std::lock_guard lock(mutex_);
  std::string text;
  const auto head = [&](const char* name, const char* help, const char* type) {
    append_format(text, "# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
  };
  head("espalier_requests_total", "Requests that were answered.", "counter");
  for (const auto& [of, count] : requests_)
    append_format(text, "espalier_requests_total{{path=\"{}\",code=\"{}\"}} {}\n", of.first, of.second,
                  count);
  head("espalier_predict_seconds", "Time from the first byte of a prediction's request to its answer.",
       "histogram");
  std::uint64_t sum = 0;
  for (std::size_t k = 0; k < kBuckets.size(); ++k) {
    sum += by_seconds_[k];
    append_format(text, "espalier_predict_seconds_bucket{{le=\"{}\"}} {}\n", kBuckets[k], sum);
  }
  sum += by_seconds_.back();
  append_format(text, "espalier_predict_seconds_bucket{{le=\"+Inf\"}} {}\n", sum);
  append_format(text, "espalier_predict_seconds_sum {}\nespalier_predict_seconds_count {}\n", seconds_, sum);
  const auto counter = [&](const char* name, const char* help, std::uint64_t value) {
    head(name, help, "counter");
    append_format(text, "{} {}\n", name, value);
  };
  counter("espalier_examples_total", "Sentences or examples that were labelled.", examples_);
  counter("espalier_tokens_total", "Tokens that were labelled.", tokens_);
  counter("espalier_overloads_total", "Predictions that were refused since too many were waiting.",
          overloads_);
  counter("espalier_reloads_total", "Times that a replaced model file was loaded.", reloads_);
  counter("espalier_failed_reloads_total", "Times that a replaced model file could not be used.",
          failed_reloads_);
  for (const Gauge& gauge : gauges) {
    head(gauge.name, gauge.help, gauge.type);
    append_format(text, "{} {}\n", gauge.name, gauge.value);
  }
  return text;
}

}  // namespace espalier::serve
