#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/text_chunks.h"
#include "espalier/base/input_files.h"
#include "espalier/features/dictionary.h"
#include "espalier/features/sparse_rows.h"
#include "features/text_attributes.h"

namespace espalier {

class ClassifyData;
class Communicator;
struct ClassifyMatrix;

// The files that classification reads. docs/formats.md describes them for users.
//   libsvm    "label index:value index:value ..." or, dense, "label value value ..."; fields are separated by
//             spaces and tabs; a field that begins with '#' starts a comment. Indices count from 1, in any
//             order.
//             Numeric labels are one label however they are written: 1, +1 and 1.0. A row may lack the label,
//             where labels are not required, if it begins with index:value; a dense row cannot.
//   crfsuite  "label TAB attribute TAB attribute:value ..." with CRFsuite's escapes, one example per line
//   idx       "IMAGES,LABELS" (or "IMAGES" alone, to predict): the format of MNIST. Bytes are scaled to
//             [0, 1]; the attribute of a pixel is "row,column", both from 0
//   named     "label name:value name:value ...": libsvm with names in place of indices, sparse alone, without
//             comments. The last colon of a field ends the name. Values of a name that comes twice in a row
//             add up.
//   text      "label TAB text", or, where labels are not required, "text" alone: the attributes are those of
//             TextAttributes
enum class ClassifyFormat { libsvm, crfsuite, idx, named, text };

// Throws Error listing the formats for an unknown name.
ClassifyFormat parse_classify_format(std::string_view name);
const char* to_string(ClassifyFormat format);
// What a path looks like: idx for "A,B" where no file of that name exists, and for files that begin with
// IDX's magic bytes; libsvm otherwise.
ClassifyFormat guess_classify_format(const std::string& path);

inline constexpr std::uint32_t kUnknownLabel = ~std::uint32_t{0};

struct ClassifyExamples {
  SparseRows rows;
  std::vector<std::uint32_t> labels;  // kUnknownLabel: none in the file, or one that training never saw
  std::vector<double> weights{};      // of data in memory, where one of them is not 1

  // Of training data alone.
  std::size_t num_rare = 0;  // attributes that were dropped
  std::vector<float> idf{};  // by attribute, where the weighting is tf-idf
  // Of text: bytes that are not UTF-8.
  std::size_t num_bad_bytes = 0;
  // The ranks that have the others, where these are the share of one.
  Communicator* fleet = nullptr;
};

struct ClassifyReadOptions {
  ClassifyFormat format = ClassifyFormat::libsvm;
  std::optional<std::size_t> first;  // only the first N examples, N > 0; what follows them is not read
  bool bias = false;                 // adds the attribute kBiasAttribute with value 1 to every example
  bool labels_required = true;       // a row without a label is an error (training, evaluation)
  std::size_t min_count = 1;         // training: attributes that fewer examples have are dropped
  TextSettings text{};               // where the format is text
  std::span<const float> idf{};      // of the training data, where that is read and the weighting is tf-idf
  ChunkOptions chunks{};             // how lines are read; what comes out does not depend on it
  // Training: ranks that read at the same time, each its share if the files can be shared out (find_share),
  // and have the dictionaries of all. nullptr: one.
  Communicator* fleet = nullptr;
};

inline constexpr std::string_view kBiasAttribute = "(bias)";

// Reads training examples: the dictionaries, empty at first, take in what they see. Zero values are dropped:
// they change nothing. Throws Error for input that is malformed, names an attribute twice in a row
// (CRFsuite's format adds them up, as CRFsuite does), has a value that is not finite, no examples or fewer
// than two labels. Labels are numbered in their order (numerically if all are numbers, else as text), so that
// ids do not depend on that of the rows.
ClassifyExamples read_classify_growing(const InputFiles& files, const ClassifyReadOptions& options,
                                       Dictionary& attributes, Dictionary& labels);

// The same of examples in memory. Requires options of the format text where they are texts, else of
// CRFsuite's.
ClassifyExamples take_classify_growing(const ClassifyData& data, const ClassifyReadOptions& options,
                                       Dictionary& attributes, Dictionary& labels);

// The same of a matrix. Requires options of the format libsvm, or of the format named where its columns have
// names.
ClassifyExamples take_classify_growing(const ClassifyMatrix& data, const ClassifyReadOptions& options,
                                       Dictionary& attributes, Dictionary& labels);

// The same of a file, with dictionaries that stay as they are: unknown attributes are skipped, unknown labels
// are kUnknownLabel.
ClassifyExamples read_classify(const std::string& path, const ClassifyReadOptions& options,
                               const Dictionary& attributes, const Dictionary& labels);

// The same of examples in memory. Requires options as take_classify_growing() does.
ClassifyExamples take_classify(const ClassifyData& data, const ClassifyReadOptions& options,
                               const Dictionary& attributes, const Dictionary& labels);

// The same of a matrix, as above.
ClassifyExamples take_classify(const ClassifyMatrix& data, const ClassifyReadOptions& options,
                               const Dictionary& attributes, const Dictionary& labels);

}  // namespace espalier
