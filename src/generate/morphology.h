#pragma once

#include <string>
#include <string_view>

namespace espalier {

// The regular spelling of English endings.
std::string with_s(std::string_view stem);                                // goals, dishes, cities
std::string with_ed(std::string_view stem);                               // scored, planned, tried
std::string with_ing(std::string_view stem);                              // scoring, planning, trying
std::string with_suffix(std::string_view stem, std::string_view suffix);  // badly, happiness
std::string with_capital(std::string_view word);

}  // namespace espalier
