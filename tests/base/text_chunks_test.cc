#include "base/text_chunks.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "support/error_message.h"
#include "support/gzip.h"
#include "support/temporary_folder.h"

namespace espalier::testing::text_chunks_test {

std::vector<TextChunk> chunks_of(const std::string& path, const FindCut& cut, const ChunkOptions& options) {
  ChunkReader reader(path, cut, options);
  std::vector<TextChunk> chunks;
  for (TextChunk chunk; reader.next(chunk);) chunks.push_back(chunk);
  return chunks;
}

// What was seen until the end, or until the message that ended it.
template <class Look>
std::string seen_by(const Look& look) {
  std::string seen;
  const std::string message = error_message([&] { look(seen); });
  return message == "(no error)" ? seen : seen + message;
}

// Appends all lines with their numbers.
void list_lines(LineReader reader, std::string& seen) {
  for (std::string_view line; reader.next(line);)
    seen += std::to_string(reader.line_number()) + ' ' + std::string(line) + '\n';
}

TEST(TextChunks, are_cut_at_the_last_place_that_fits) {
  EXPECT_EQ(cut_after_line("a\nb\nc"), 4u);
  EXPECT_EQ(cut_after_line("abc"), 0u);
  const auto any = [](std::string_view) { return true; };
  EXPECT_EQ(cut_after_blank_line("a\n\nb\n \t\r\nc\n", any), 9u);
  EXPECT_EQ(cut_after_blank_line("a\n\nb\n\n\n\n", any), 6u);
  EXPECT_EQ(cut_after_blank_line("\n\n \n ", any), 4u);
  EXPECT_EQ(cut_after_blank_line("\n\na\n", any), 0u);
  EXPECT_EQ(cut_after_blank_line("a\n\n#\n\nb\n", [](std::string_view line) { return line != "#"; }), 3u);
  EXPECT_EQ(cut_after_blank_line("a\n\n#\r\n\nb\n", [](std::string_view line) { return line != "#"; }), 3u);
  EXPECT_EQ(cut_after_brackets("(a\n(b))\n(c\n"), 8u);
  EXPECT_EQ(cut_after_brackets("(a\n(b)\n(c\n"), 0u);
}

// However many there are.
TEST(TextChunks, blank_lines_are_no_longer_than_a_chunk) {
  const TemporaryFolder folder;
  const auto cut = [](std::string_view text) {
    return cut_after_blank_line(text, [](std::string_view) { return true; });
  };
  const std::string path = folder.file("blank", std::string(1000, '\n') + "a\n\nb\n");
  ChunkReader chunks(path, cut, {1, 10});
  TextChunk chunk;
  std::size_t longest = 0;
  while (chunks.next(chunk)) longest = std::max(longest, chunk.text.size());
  EXPECT_LE(longest, 20u);
  ChunkReader again(path, cut, {1, 10});
  ASSERT_TRUE(again.next_with_text(chunk));
  EXPECT_EQ(chunk.first_line + chunk.text.find('a'), 1001u);
  const std::string nothing = folder.file("nothing", std::string(100, '\n'));
  ChunkReader blank(nothing, cut, {1, 10});
  EXPECT_TRUE(blank.next_with_text(chunk));
  EXPECT_EQ(chunk.name, nothing);
  EXPECT_EQ(chunk.first_line, 91u);
}

TEST(TextChunks, an_empty_file_is_one_chunk) {
  const TemporaryFolder folder;
  const auto chunks = chunks_of(folder.file("empty", ""), cut_after_line, {});
  ASSERT_EQ(chunks.size(), 1u);
  EXPECT_EQ(chunks[0].text, "");
}

RC_GTEST_PROP(TextChunksParallel, have_the_lines_of_the_file, ()) {
  const TemporaryFolder folder;
  std::string text;
  const auto lines = *rc::gen::container<std::vector<std::string>>(
      rc::gen::element<std::string>("a", "bc\r", "", "a line that is longer", " "));
  for (const std::string& line : lines) text += line + '\n';
  if (!text.empty() && *rc::gen::arbitrary<bool>()) text.pop_back();
  std::string contents = text;
  const bool packed = *rc::gen::arbitrary<bool>();
  if (packed) {
    contents = test_support::gzip(text);
    const auto missing = *rc::gen::inRange<std::size_t>(0, 12);  // often truncated
    contents.resize(contents.size() - missing);
  }
  const std::string path = folder.file("data", contents);
  const ChunkOptions options{*rc::gen::element<std::size_t>(1, 2), *rc::gen::inRange<std::size_t>(1, 30)};
  std::string together;
  const std::string by_chunks = seen_by([&](std::string& seen) {
    for (const TextChunk& chunk : chunks_of(path, cut_after_line, options)) {
      together += chunk.text;
      list_lines(LineReader(chunk), seen);
    }
  });
  if (!packed) RC_ASSERT(together == text);
  RC_ASSERT(by_chunks == seen_by([&](std::string& seen) { list_lines(LineReader(path), seen); }));
}

// What a thread unpacks ahead is dropped where nobody reads on.
TEST(TextChunksParallel, may_be_left_unread) {
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 600000; ++i) text += std::to_string(i) + '\n';
  ChunkReader reader(folder.file("data.gz", test_support::gzip(text)), cut_after_line, {2, 1000});
  TextChunk chunk;
  ASSERT_TRUE(reader.next(chunk));
  EXPECT_TRUE(text.starts_with(chunk.text));
}

TEST(TextChunksParallel, unpacked_ahead_is_what_was_packed) {
  const TemporaryFolder folder;
  std::string text, seen;
  for (int i = 0; i < 600000; ++i) text += std::to_string(i) + '\n';
  for (const TextChunk& chunk :
       chunks_of(folder.file("data.gz", test_support::gzip(text)), cut_after_line, {2, 1 << 16}))
    seen += chunk.text;
  EXPECT_TRUE(seen == text);
}

}  // namespace espalier::testing::text_chunks_test
