#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/fingerprint.h"
#include "base/finite.h"
#include "espalier/base/error.h"
#include "espalier/features/dictionary.h"
#include "espalier/features/sparse_rows.h"
#include "espalier/tasks/registry.h"
#include "espalier/tasks/task.h"
#include "fleet/communicator.h"

namespace espalier {

// What tasks do alike: their part of a model file, options of `predict`, weights for people.

template <class T>
std::string_view as_bytes(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

template <class T>
std::span<const T> as_array(std::string_view bytes, std::string_view name, const std::string& file) {
  if (bytes.size() % sizeof(T) != 0) {
    throw Error::in(file, fmt::format("section {} has {} bytes", in_quotes(name), bytes.size()),
                    fmt::format("expected a multiple of {}", sizeof(T)));
  }
  return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
}

// The same of numbers that have to be finite.
template <class T>
std::span<const T> as_numbers(std::string_view bytes, std::string_view name, const std::string& file) {
  const auto numbers = as_array<T>(bytes, name, file);
  if (!all_finite(numbers)) {
    throw Error::in(file, fmt::format("numbers that are not finite in the section {}", in_quotes(name)),
                    "retrain the model");
  }
  return numbers;
}

// How training data were read, for TrainingSet::set_reading(): the options of a task that are not at their
// defaults, but for the format, which the task's settings have whether it was an option or not, and the
// memory of kernels, which no result depends on.
Json reading_of(const OptionValues& options);
template <class Options>
Json reading_of(std::string_view task, const Options& options) {
  return reading_of(OptionValues(find_task(task)->options(), options));
}

// The ids and values of a row.
void add_row(const SparseRows::Row& row, Fingerprint& fingerprint);
void add_rows(const SparseRows& rows, Fingerprint& fingerprint);

void add_dictionary(const std::string& name, const Dictionary& dictionary, TaskSections& sections);
Dictionary load_dictionary(const std::string& name, const StoredTask& stored);

// The format that a model names, by the parser of the task's formats.
template <class Format>
Format stored_format(const StoredTask& stored, Format (*parse)(std::string_view)) {
  const auto name = stored.settings.at("format").get<std::string>();
  try {
    return parse(name);
  } catch (const Error&) {
    throw Error::in(stored.file, fmt::format("a model of the format {}", in_quotes(name)),
                    "retrain the model");
  }
}

// Lines "WEIGHT  NAME" of the `top` heaviest among `count` weights, of equals the first. weight(k) and
// name(k) say what the k-th is.
template <class Weight, class Name>
void append_heaviest(std::size_t count, std::size_t top, const Weight& weight, const Name& name,
                     std::string& text) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0u);
  top = std::min(top, count);
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(top), order.end(),
                    [&](std::uint32_t a, std::uint32_t b) {
                      const float x = weight(a), z = weight(b);
                      return x != z ? x > z : a < b;
                    });
  for (std::size_t r = 0; r < top; ++r) {
    text += fmt::format("  {:>+9.4f}  {}\n", weight(order[r]), name(order[r]));
  }
}

// Throws Error if probabilities are asked of a model that has none: in memory, and by an option.
void check_has_probabilities(const Loss& loss);
void check_probabilities(bool asked, std::string_view option, const Loss& loss);

// What a model knows of a file.
struct KnownAttributes {
  std::size_t known;      // attributes, of all tokens or examples together
  std::size_t tokens;     // or examples
  bool left_out = false;  // an attribute that the model does not know may be one whose weights are zero
};

// Whether a model does not have all attributes of its training.
bool leaves_out_attributes(const StoredTask& stored, const Dictionary& attributes);

// A file of which a model does not know a single attribute is not what it was trained for: it would answer
// the same for everything, or look like a very bad model. Throws Error; where the attributes may be some that
// training saw, this is worth a warning.
void refuse_unknown(const KnownAttributes& attributes, const std::string& file, std::string_view format,
                    const std::function<void(const std::string&)>& warning);
// The same of gold labels, all of which would count as errors.
[[noreturn]] void refuse_unknown_labels(const std::string& file, const Dictionary& labels);
// The same for predictions: of a few tokens or examples all attributes may just be new, which is worth a
// warning, too.
void check_known(const KnownAttributes& attributes, const std::string& file, std::string_view format,
                 const std::function<void(const std::string&)>& warning);

// How many of these names, which are the first of the attributes, are left after rare ones were dropped.
// Throws Error for one that no row has, of those of all ranks: l1_except would have no effect.
std::size_t count_first(std::span<const std::string> names, const Dictionary& attributes,
                        const SparseRows& rows, Communicator* fleet = nullptr);

}  // namespace espalier
