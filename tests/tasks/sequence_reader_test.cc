// Lines that are no tokens, of which there may be gigabytes in a small packed file.

#include "tasks/sequence_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "espalier/model/model.h"
#include "support/golden.h"
#include "support/temporary_folder.h"

namespace espalier::testing::sequence_reader_test {
namespace {

constexpr std::size_t kMany = 3 * SequenceReader::kMostBetween;

TEST(SequenceReader, LinesBetweenAreForgottenUnlessSomebodyWritesThem) {
  const TemporaryFolder folder;
  const std::string path = folder.file("blank", std::string(kMany, '\n') + "a A\n\n-DOCSTART-\n\nb B\n");
  SequenceReader reader(path, {});
  std::size_t sequences = 0;
  for (; reader.next(); ++sequences) EXPECT_EQ(reader.before(), "");
  EXPECT_EQ(sequences, 2u);
  EXPECT_EQ(reader.num_documents(), 1u);
}

TEST(SequenceReader, LinesBetweenAreKeptPieceByPiece) {
  const TemporaryFolder folder;
  const std::string path =
      folder.file("blank", std::string(kMany, '\n') + "a A\n\n" + std::string(kMany, '\n') + "b B\n\n\n");
  SequenceReader reader(path, {}, SequenceReader::Between::keep);
  SequenceBlock block;
  std::size_t between = 0, sequences = 0;
  for (bool more = true; more; block.clear()) {
    const bool any = reader.append_next(block);
    const std::string_view lines = any ? block.before(0) : block.after();
    EXPECT_LE(lines.size(), SequenceReader::kMostBetween);
    between += lines.size();
    sequences += block.size();
    more = any || !lines.empty();
  }
  EXPECT_EQ(sequences, 2u);
  EXPECT_EQ(between, 2 * kMany + 1);
}

TEST(SequenceReader, PredictionsHaveThemAll) {
  const TemporaryFolder folder;
  const std::string blank(kMany, '\n');
  const std::string path = folder.file("blank", blank + "in O\n\n" + blank + "York O\n");
  const Model model(golden("tag-words.esp"));
  for (const std::size_t threads : {1, 3}) {
    std::string written;
    model.predictor().predict(path, TagPredictOptions{.threads = threads},
                              [&](std::string_view text) { written += text; });
    EXPECT_EQ(static_cast<std::size_t>(std::count(written.begin(), written.end(), '\n')), 2 * kMany + 4);
    EXPECT_EQ(written.substr(0, kMany), blank);
  }
}

}  // namespace
}  // namespace espalier::testing::sequence_reader_test
