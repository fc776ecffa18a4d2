#include "generate/morphology.h"

#include <algorithm>

namespace espalier {
namespace {

bool is_vowel(char c) { return std::string_view("aeiou").find(c) != std::string_view::npos; }

bool ends_in_consonant_y(std::string_view stem) {
  return stem.size() > 1 && stem.back() == 'y' && !is_vowel(stem[stem.size() - 2]);
}

// A single vowel before a single last consonant, in a word of one syllable (plan, stir) or before an l
// (travel); but not mix, visit, rain.
bool doubles_last_letter(std::string_view stem) {
  if (stem.size() < 3 || is_vowel(stem.back())) return false;
  if (!is_vowel(stem[stem.size() - 2]) || is_vowel(stem[stem.size() - 3])) return false;
  if (stem.back() == 'l') return true;
  const bool one_syllable = std::ranges::count_if(stem, is_vowel) == 1;
  return one_syllable && std::string_view("wxy").find(stem.back()) == std::string_view::npos;
}

std::string before_vowel(std::string_view stem) {
  std::string result(stem);
  if (stem.ends_with('e') && !stem.ends_with("ee")) {
    result.pop_back();
  } else if (doubles_last_letter(stem)) {
    result += stem.back();
  }
  return result;
}

}  // namespace

std::string with_s(std::string_view stem) {
  const std::string result(stem);
  if (ends_in_consonant_y(stem)) return result.substr(0, stem.size() - 1) + "ies";
  for (const std::string_view hiss : {"s", "x", "z", "ch", "sh"}) {
    if (stem.ends_with(hiss)) return result + "es";
  }
  return result + "s";
}

std::string with_ed(std::string_view stem) {
  if (ends_in_consonant_y(stem)) return std::string(stem.substr(0, stem.size() - 1)) + "ied";
  return before_vowel(stem) + (stem.ends_with("ee") ? "d" : "ed");
}

std::string with_ing(std::string_view stem) { return before_vowel(stem) + "ing"; }

std::string with_suffix(std::string_view stem, std::string_view suffix) {
  std::string result(stem);
  if (suffix == "ly" && stem.ends_with("ly")) return result;
  if (ends_in_consonant_y(stem)) result.back() = 'i';
  if (suffix == "ly" && stem.ends_with("le")) return result.substr(0, stem.size() - 1) + "y";
  if (suffix == "ly" && stem.ends_with("ic")) return result + "ally";
  if (suffix == "ly" && stem.ends_with("ll")) return result + "y";
  return result.append(suffix);
}

std::string with_capital(std::string_view word) {
  std::string result(word);
  if (!result.empty() && result.front() >= 'a' && result.front() <= 'z') result.front() -= 'a' - 'A';
  return result;
}

}  // namespace espalier
