#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/features/dictionary.h"
#include "espalier/features/sparse_rows.h"

namespace espalier {

// The files that classification reads. docs/formats.md describes them for users.
//   libsvm    "label index:value index:value ..." or, dense, "label value value ..."; '#' starts a comment
//   crfsuite  "label TAB attribute TAB attribute:value ..." with CRFsuite's escapes, one example a line
//   idx       "IMAGES,LABELS" (or "IMAGES" alone, to predict): the format of MNIST; bytes are scaled to [0,
//   1]
enum class ClassifyFormat { libsvm, crfsuite, idx };

// Throws Error listing the formats for a name that is none.
ClassifyFormat parse_classify_format(std::string_view name);
const char* to_string(ClassifyFormat format);
// What a path looks like: idx for "A,B" and for files that begin with IDX's magic bytes, libsvm otherwise.
ClassifyFormat guess_classify_format(const std::string& path);

inline constexpr std::uint32_t kUnknownLabel = ~std::uint32_t{0};

struct ClassifyExamples {
  SparseRows rows;
  std::vector<std::uint32_t> labels;  // kUnknownLabel: none in the file, or one that training never saw
};

struct ClassifyReadOptions {
  ClassifyFormat format = ClassifyFormat::libsvm;
  std::optional<std::size_t> first;  // only the first N examples
  bool bias = false;                 // adds the attribute kBiasAttribute with value 1 to every example
  bool labels_required = true;       // a row without a label is an error (training, evaluation)
};

inline constexpr std::string_view kBiasAttribute = "(bias)";

// Reads examples. `growing` dictionaries take in what they see (training); frozen ones skip unknown
// attributes and give kUnknownLabel to unknown labels (prediction). Zero values are dropped: they change
// nothing. A row that names an attribute twice, an index below 1, a value that is not finite, a file without
// examples: Error::at file and line. When growing: labels of a libsvm file are sorted (numerically if all are
// numbers, else as text) once it is read, so that ids do not depend on the order of the rows, and an error is
// thrown where there are fewer than two labels.
ClassifyExamples read_classify(const std::string& path, const ClassifyReadOptions& options,
                               Dictionary& attributes, Dictionary& labels, bool growing);

}  // namespace espalier
