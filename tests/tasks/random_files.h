#pragma once

#include <rapidcheck/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/text_chunks.h"
#include "espalier/base/input_files.h"
#include "espalier/features/dictionary.h"
#include "espalier/features/sparse_rows.h"
#include "support/temporary_folder.h"
#include "tasks/classify/reader.h"
#include "tasks/example_places.h"

namespace espalier::testing {

// Random files of small fragments, to see that they are read alike in many ways, and all there is to see of
// what was read, as text.

using Texts = std::vector<std::string>;

// Chunks of so many bytes, while it lives.
class ChunkBytes {
 public:
  explicit ChunkBytes(std::size_t bytes) : before_(ChunkOptions::usual_bytes) {
    ChunkOptions::usual_bytes = bytes;
  }
  ~ChunkBytes() { ChunkOptions::usual_bytes = before_; }
  ChunkBytes(const ChunkBytes&) = delete;
  ChunkBytes& operator=(const ChunkBytes&) = delete;

 private:
  std::size_t before_;
};

inline void add(const Dictionary& names, std::string& to) {
  for (std::uint32_t id = 0; id < names.size(); ++id) to.append(names.name(id)).append("|");
  // Where names are in the table is part of a model.
  for (const std::uint64_t slot : names.table()) to += std::to_string(slot) + ' ';
  to += '\n';
}
inline void add(const SparseRows& rows, std::string& to) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const SparseRows::Row row = rows.row(i);
    for (std::size_t j = 0; j < row.ids.size(); ++j)
      to += std::to_string(row.ids[j]) + ':' + std::to_string(row.value(j)) + ' ';
    to += row.values.empty() ? "ones\n" : "\n";
  }
}
template <class T>
void add(const std::vector<T>& values, std::string& to) {
  for (const T value : values) to += std::to_string(value) + ' ';
  to += '\n';
}
inline void add(const ExamplePlaces& places, std::string& to) {
  for (std::size_t i = 0; i < places.size(); ++i)
    to += places.file(i) + ':' + std::to_string(places.line(i)) + ' ';
  to += '\n';
}

// Fragments in any order, some of which may be wrong.
inline std::string random_text(const Texts& right, const Texts& wrong) {
  Texts fragments = *rc::gen::container<Texts>(rc::gen::elementOf(right));
  Texts faults;
  if (!wrong.empty()) faults = *rc::gen::resize(3, rc::gen::container<Texts>(rc::gen::elementOf(wrong)));
  for (const std::string& fault : faults) {
    const auto at = *rc::gen::inRange<std::size_t>(0, 2 * fragments.size() + 1);
    if (at <= fragments.size()) fragments.insert(fragments.begin() + static_cast<std::ptrdiff_t>(at), fault);
  }
  std::string text;
  for (const std::string& fragment : fragments) text += fragment;
  if (!text.empty() && *rc::gen::arbitrary<bool>()) text.pop_back();  // a last line without its end
  return text;
}

// One of them, or several.
inline InputFiles random_files(const TemporaryFolder& folder, const Texts& right, const Texts& wrong) {
  Texts paths;
  for (int left = *rc::gen::element(1, 1, 2, 3); left > 0; --left)
    paths.push_back(folder.file("data" + std::to_string(left), random_text(right, wrong)));
  return paths;
}

inline const Texts kColumns{
    "the DT O\n", "Anna NNP B\n", "saw VB O\n",   "x1 CD B\n",          "\n",           "\n",
    "\r\n",       " \t\n",        "dog NN O\r\n", "-DOCSTART- -X- O\n", "# weight: 2\n"};
inline const Texts kWrongColumns{"only\n", "one two three four\n", std::string("a\0b c\n", 6),
                                 "# weight: -1\n"};

inline const Texts kCrfsuite{"A\ta\tb:2\n", "B\tb\tc\n", "A\tc\tc\td:0.5\n", "\n",
                             "\n",          "A\n",       "B\te\t\tf:0\r\n"};
inline const Texts kWrongCrfsuite{"\ta\n", "A\ta:x\n", "A b\n"};
inline const Texts kWapiti{"ua bx A\n", "ub *y B\n", "u1 bx bx b2 B\n", "\n", "\n", "*y *z A\r\n"};
inline const Texts kWrongWapiti{"q A\n"};

// Lines of a format for examples to classify, and wrong ones.
inline std::pair<Texts, Texts> classify_lines(ClassifyFormat format) {
  Texts right, wrong;
  switch (format) {
    case ClassifyFormat::libsvm:
      right = {"1 3:1 4:0.5\n", "2 1:1 3:2 # comment\n", "+1 9:1\r\n", "\n", "3 1 2 0\n", "1 4 0 6\n"};
      wrong = {"1 3:x\n", "1 3 4\n", "3 1 2 3 4\n", "1:2 3:4\n"};
      break;
    case ClassifyFormat::named:
      right = {"1 a:1 b:0.5\n", "x a:1 a:2\n", "1 z:1\r\n", "\n"};
      wrong = {"1 a\n", "a:1 b:2\n"};
      break;
    case ClassifyFormat::crfsuite:
      right = {"A\ta\tb:2\n", "B\tb\tc\tb\n", "A\tz:-1\r\n", "\n"};
      wrong = {"\ta\n", "A\ta:x\n"};
      break;
    default:
      right = {"A\tone two two\n", "B\ttwo three \xff one\n", "A\tzwei\r\n", "\n", "B\t\n"};
      wrong = {"none\n", "\tnone\n"};
  }
  return {right, wrong};
}

}  // namespace espalier::testing
