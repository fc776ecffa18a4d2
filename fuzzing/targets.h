#pragma once

#include "fuzzing/harness.h"

namespace espalier::fuzz {

// One function a target; main.cc has the table with their names, docs/fuzzing.md what they are for.
void json(std::string_view bytes);
void messages(std::string_view bytes);
void numbers(std::string_view bytes);
void containers(std::string_view bytes);
void columns(std::string_view bytes);
void crfsuite(std::string_view bytes);
void wapiti(std::string_view bytes);
void templates(std::string_view bytes);
void regex(std::string_view bytes);
void libsvm(std::string_view bytes);
void named(std::string_view bytes);
void rows(std::string_view bytes);
void text(std::string_view bytes);
void idx(std::string_view bytes);
void taken(std::string_view bytes);
void ranks(std::string_view bytes);
void dependencies(std::string_view bytes);
void brackets(std::string_view bytes);
void graphs(std::string_view bytes);
void pairs(std::string_view bytes);
void uai(std::string_view bytes);
void dumps(std::string_view bytes);
void costs(std::string_view bytes);
void constraints(std::string_view bytes);
void gazetteer(std::string_view bytes);
void model(std::string_view bytes);
void remodel(std::string_view bytes);
void checkpoint(std::string_view bytes);
void predict(std::string_view bytes);
void chains(std::string_view bytes);

}  // namespace espalier::fuzz
