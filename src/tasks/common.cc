#include "tasks/common.h"

namespace espalier {

Json reading_of(const OptionValues& options) {
  Json reading = Json::object();
  for (const OptionRow& row : options.table().rows()) {
    if (row.name == "format" || row.name == "kernel_memory") continue;
    if (Json value = options.get(row.name); !(value == row.default_value))
      reading[row.name] = std::move(value);
  }
  return reading;
}

void add_row(const SparseRows::Row& row, Fingerprint& fingerprint) {
  fingerprint.add_list(row.ids);
  // Whether values that are all 1 are stored depends on the other rows.
  const bool plain =
      std::all_of(row.values.begin(), row.values.end(), [](float value) { return value == 1; });
  fingerprint.add_list(plain ? std::span<const float>() : row.values);
}

void add_rows(const SparseRows& rows, Fingerprint& fingerprint) {
  for (std::size_t i = 0; i < rows.size(); ++i) add_row(rows.row(i), fingerprint);
}

void add_dictionary(const std::string& name, const Dictionary& dictionary, TaskSections& sections) {
  sections.arrays.emplace_back(name + ".bytes", as_bytes(dictionary.bytes()));
  sections.arrays.emplace_back(name + ".offsets", as_bytes(dictionary.offsets()));
  sections.arrays.emplace_back(name + ".table", as_bytes(dictionary.table()));
}

Dictionary load_dictionary(const std::string& name, const StoredTask& stored) {
  const auto array = [&](const std::string& part) { return stored.array(name + part); };
  return Dictionary(as_array<char>(array(".bytes"), name, stored.file),
                    as_array<std::uint64_t>(array(".offsets"), name, stored.file),
                    as_array<std::uint64_t>(array(".table"), name, stored.file), stored.file);
}

void check_has_probabilities(const Loss& loss) {
  if (loss.smooth()) return;
  throw Error(
      fmt::format("a model of loss {} has no probabilities; expected one with a finite beta", loss.name()));
}

void check_probabilities(bool asked, std::string_view option, const Loss& loss) {
  if (!asked || loss.smooth()) return;
  throw Error::in(option, fmt::format("a model of loss {} has no probabilities", loss.name()),
                  fmt::format("expected one trained with a finite beta, such as {} crf", setting("loss")));
}

bool leaves_out_attributes(const StoredTask& stored, const Dictionary& attributes) {
  return stored.trained && stored.trained->attributes > attributes.size();
}

void refuse_unknown(const KnownAttributes& attributes, const std::string& file, std::string_view format,
                    const std::function<void(const std::string&)>& warning) {
  if (attributes.known > 0) return;
  const Error error =
      Error::in(file,
                attributes.left_out ? "no attribute that has a weight in the model"
                                    : "no attribute that the model knows",
                fmt::format("expected data like that of its training, in the format {}", format));
  if (!attributes.left_out) throw error;
  if (warning) warning(error.what());
}

void refuse_unknown_labels(const std::string& file, const Dictionary& labels) {
  throw Error::in(file, "no label that the model knows",
                  fmt::format("expected data like that of its training, with labels such as {}",
                              in_quotes(labels.name(0))));
}

void check_known(const KnownAttributes& attributes, const std::string& file, std::string_view format,
                 const std::function<void(const std::string&)>& warning) {
  constexpr std::size_t kFew = 10;
  if (attributes.tokens == 0) return;
  try {
    refuse_unknown(attributes, file, format, warning);
  } catch (const Error& error) {
    if (attributes.tokens >= kFew) throw;
    if (warning) warning(error.what());
  }
}

std::size_t count_first(std::span<const std::string> names, const Dictionary& attributes,
                        const SparseRows& rows, Communicator* fleet) {
  std::size_t count = 0;
  std::vector<bool> seen(attributes.size(), false);
  if (!names.empty()) {
    for (std::size_t r = 0; r < rows.size(); ++r) {
      for (const std::uint32_t id : rows.row(r).ids) seen[id] = true;
    }
  }
  for (const std::string& name : names) {
    const auto id = attributes.find(name);
    if (!id || sum_over(fleet, std::size_t{seen[*id] ? 1u : 0u}) == 0)
      throw Error::in(setting("l1_except"), "no attribute " + in_quotes(name),
                      "expected one of the training data");
    count = std::max(count, static_cast<std::size_t>(*id) + 1);
  }
  return count;
}

}  // namespace espalier
