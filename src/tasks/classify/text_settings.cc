#include "tasks/classify/text_settings.h"

#include <fmt/format.h>

#include <optional>

#include "espalier/base/error.h"

namespace espalier {
namespace {

struct WeightingName {
  std::string_view name;
  TextWeighting weighting;
};
constexpr WeightingName kWeightings[] = {
    {"count", TextWeighting::count}, {"binary", TextWeighting::binary}, {"tf-idf", TextWeighting::tf_idf}};

std::optional<TextWeighting> find_weighting(std::string_view name) {
  for (const auto& row : kWeightings) {
    if (row.name == name) return row.weighting;
  }
  return std::nullopt;
}

bool makes_attributes(const TextSettings& settings) {
  return settings.ngrams > 0 || settings.char_ngrams > 1;
}

}  // namespace

TextSettings text_settings_of(const ClassifyOptions& options, ClassifyFormat format) {
  const auto weighting = find_weighting(options.weighting);
  if (!weighting) {
    throw Error::in(setting("weighting"), fmt::format("unknown weighting {}", in_quotes(options.weighting)),
                    "expected count, binary or tf-idf");
  }
  if (options.char_ngrams == 1)
    throw Error::in(setting("char_ngrams"), "1", "expected at least 2 characters, or 0 for none");
  const TextSettings settings{options.ngrams, options.char_ngrams, options.keep_case, *weighting};
  if (format == ClassifyFormat::text) {
    if (!makes_attributes(settings)) {
      throw Error::in(setting("ngrams"), "0, so a text has no attributes",
                      fmt::format("expected at least 1, or some {}", setting("char_ngrams")));
    }
    return settings;
  }

  const TextSettings usual;
  const char* given = settings.ngrams != usual.ngrams             ? "ngrams"
                      : settings.char_ngrams != usual.char_ngrams ? "char_ngrams"
                      : settings.keep_case != usual.keep_case     ? "keep_case"
                      : settings.weighting != usual.weighting     ? "weighting"
                                                                  : nullptr;
  if (given != nullptr) {
    throw Error::in(setting(given), fmt::format("only for text, but the format is {}", to_string(format)),
                    fmt::format("expected {} text", setting("format")));
  }
  return settings;
}

Json to_json(const TextSettings& settings) {
  Json json;
  json["ngrams"] = settings.ngrams;
  json["char_ngrams"] = settings.char_ngrams;
  json["keep_case"] = settings.keep_case;
  for (const auto& [name, weighting] : kWeightings) {
    if (weighting == settings.weighting) json["weighting"] = name;
  }
  return json;
}

TextSettings stored_text_settings(const StoredTask& stored) {
  const Json& json = stored.settings.at("text");
  const auto weighting = find_weighting(json.at("weighting").get<std::string>());
  TextSettings settings;
  settings.ngrams = json.at("ngrams").get<std::size_t>();
  settings.char_ngrams = json.at("char_ngrams").get<std::size_t>();
  settings.keep_case = json.at("keep_case").get<bool>();
  if (!weighting || !makes_attributes(settings))
    throw Error::in(stored.file, "unknown settings for reading text", "retrain the model");
  settings.weighting = *weighting;
  return settings;
}

}  // namespace espalier
