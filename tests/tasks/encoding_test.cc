#include "tasks/tag/encoding.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "support/error_message.h"

namespace espalier::encoding_test {
namespace {

using testing::error_message;
using Tags = std::vector<std::string>;

Tags converted(const Tags& tags, Encoding to, ConvertedTags& buffer) {
  const std::vector<std::string_view> views(tags.begin(), tags.end());
  const auto result = convert_encoding(views, to, buffer);
  return {result.begin(), result.end()};
}
Tags converted(const Tags& tags, Encoding to) {
  ConvertedTags buffer;
  return converted(tags, to, buffer);
}

TEST(Encoding, HasNames) {
  for (const Encoding encoding : {Encoding::iob1, Encoding::bio, Encoding::bioes, Encoding::bilou}) {
    EXPECT_EQ(parse_encoding(to_string(encoding)), encoding);
  }
  EXPECT_EQ(parse_encoding("iob2"), Encoding::bio);
  EXPECT_EQ(parse_encoding("iobes"), Encoding::bioes);
  for (const std::string& name : encoding_names()) parse_encoding(name);
  EXPECT_EQ(error_message([] { parse_encoding("bilu"); }),
            "encoding: unknown encoding of chunks 'bilu'; did you mean bilou?");
  EXPECT_EQ(error_message([] { parse_encoding("brackets", "valid"); }),
            "valid: unknown encoding of chunks 'brackets'; expected iob1, bio, iob2, bioes, iobes or bilou");
}

TEST(Encoding, ChunkTags) {
  for (const char* tag : {"O", "B-NP", "I-NP", "E-NP", "S-X", "L-NP", "U-X", "I-A-B"})
    EXPECT_TRUE(is_chunk_tag(tag)) << tag;
  for (const char* tag : {"", "B", "B-", "NN", "X-NP", "o", "BNP", "-NP"})
    EXPECT_FALSE(is_chunk_tag(tag)) << tag;
}

TEST(Encoding, OneSequenceInAll) {
  const Tags iob1{"I-A", "I-A", "B-A", "I-B", "O", "I-B", "B-B"};
  const Tags bio{"B-A", "I-A", "B-A", "B-B", "O", "B-B", "B-B"};
  const Tags bioes{"B-A", "E-A", "S-A", "S-B", "O", "S-B", "S-B"};
  const Tags bilou{"B-A", "L-A", "U-A", "U-B", "O", "U-B", "U-B"};
  ConvertedTags buffer;
  for (const Tags& from : {iob1, bio, bioes, bilou}) {
    EXPECT_EQ(converted(from, Encoding::iob1, buffer), iob1);
    EXPECT_EQ(converted(from, Encoding::bio, buffer), bio);
    EXPECT_EQ(converted(from, Encoding::bioes, buffer), bioes);
    EXPECT_EQ(converted(from, Encoding::bilou, buffer), bilou);
  }
}

TEST(Encoding, TagsThatAreNotWellFormedStillMeanChunks) {
  EXPECT_EQ(converted({"E-A", "E-A", "I-A", "S-A", "I-A"}, Encoding::bio),
            (Tags{"B-A", "B-A", "B-A", "B-A", "B-A"}));
  EXPECT_EQ(converted({"I-A", "I-A", "O", "E-B", "I-C"}, Encoding::bioes),
            (Tags{"B-A", "E-A", "O", "S-B", "S-C"}));
  EXPECT_EQ(converted({"B-A", "NN", "I-A", "B", "I-A"}, Encoding::bio),
            (Tags{"B-A", "NN", "B-A", "B", "B-A"}));
  EXPECT_EQ(converted({}, Encoding::bio), Tags{});
}

struct Chunk {
  std::size_t length;
  std::string type;  // empty: outside
};

// The definition of the encodings.
Tags encoded(const std::vector<Chunk>& chunks, Encoding encoding) {
  Tags tags;
  std::string before;
  for (const auto& [length, type] : chunks) {
    for (std::size_t t = 0; t < length; ++t) {
      std::string prefix = "I-";
      if (encoding == Encoding::iob1 && t == 0 && before == type) prefix = "B-";
      if (encoding != Encoding::iob1 && t == 0) prefix = "B-";
      if (encoding == Encoding::bioes && t + 1 == length) prefix = length == 1 ? "S-" : "E-";
      if (encoding == Encoding::bilou && t + 1 == length) prefix = length == 1 ? "U-" : "L-";
      tags.push_back(type.empty() ? "O" : prefix + type);
    }
    before = type;
  }
  return tags;
}

RC_GTEST_PROP(Encoding, ChunksSurviveEveryWayAround, ()) {
  const auto chunks = *rc::gen::container<std::vector<Chunk>>(rc::gen::map(
      rc::gen::pair(rc::gen::inRange<std::size_t>(1, 5), rc::gen::element<std::string>("", "A", "B-C")),
      [](const auto& pair) {
        return Chunk{pair.first, pair.second};
      }));
  const auto all = {Encoding::iob1, Encoding::bio, Encoding::bioes, Encoding::bilou};
  ConvertedTags buffer;
  for (const Encoding from : all) {
    for (const Encoding to : all) {
      RC_ASSERT(converted(encoded(chunks, from), to, buffer) == encoded(chunks, to));
    }
  }
}

}  // namespace
}  // namespace espalier::encoding_test
