#include "base/text_chunks.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "support/error_message.h"
#include "support/packed.h"
#include "support/temporary_folder.h"

namespace espalier::testing::text_chunks_test {

std::vector<TextChunk> chunks_of(const std::string& path, const FindCut& cut, const ChunkOptions& options) {
  ChunkReader reader(path, cut, options);
  std::vector<TextChunk> chunks;
  for (TextChunk chunk; reader.next(chunk);) chunks.push_back(chunk);
  return chunks;
}

using Pack = std::string (*)(const std::string&);
const std::vector<Pack> kPackings{nullptr, test_support::gzip, test_support::zstd, test_support::xz};

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
  EXPECT_EQ(cut_after_blank_line("\n\n \n ", any), 0u);
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

// Its first bytes stay together, however short the lines and the chunks are.
TEST(TextChunks, the_encoding_of_a_file_is_told_by_any_chunks) {
  const TemporaryFolder folder;
  const std::string path = folder.file("utf16", std::string("\n\0\n\0a\0", 6));
  std::string seen;
  ChunkReader chunks(path, cut_after_line, {1, 1});
  const std::string message = error_message([&] {
    for (TextChunk chunk; chunks.next(chunk);) list_lines(LineReader(chunk), seen);
  });
  EXPECT_EQ(message, path + ": UTF-16LE text; expected UTF-8; iconv -f UTF-16LE -t UTF-8 converts it");
  EXPECT_EQ(seen, "");
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
  const auto pack = *rc::gen::elementOf(kPackings);
  const bool packed = pack != nullptr;
  if (packed) {
    contents = pack(text);
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

// More than is unpacked ahead, and no easier to pack at its end than at its beginning.
std::string many_lines() {
  std::string text;
  for (std::uint32_t i = 0, x = 1; i < 250000; ++i, x = x * 1664525u + 1013904223u)
    text += std::to_string(x) + '\n';
  return text;
}

// What a thread unpacks ahead is dropped where nobody reads on.
TEST(TextChunksParallel, may_be_left_unread) {
  const TemporaryFolder folder;
  const std::string text = many_lines();
  for (const Pack pack : {test_support::gzip, test_support::zstd, test_support::xz}) {
    ChunkReader reader(folder.file("data", pack(text)), cut_after_line, {2, 1000});
    TextChunk chunk;
    ASSERT_TRUE(reader.next(chunk));
    EXPECT_TRUE(text.starts_with(chunk.text));
  }
}

TEST(TextChunksParallel, unpacked_ahead_is_what_was_packed) {
  const TemporaryFolder folder;
  const std::string text = many_lines();
  for (const Pack pack : {test_support::gzip, test_support::zstd, test_support::xz}) {
    std::string seen;
    for (const TextChunk& chunk : chunks_of(folder.file("data", pack(text)), cut_after_line, {2, 1 << 16}))
      seen += chunk.text;
    EXPECT_TRUE(seen == text);
  }
}

// What was unpacked before the data turn out to be damaged is read, and then the error comes.
TEST(TextChunksParallel, damage_is_found_after_what_comes_before_it) {
  const TemporaryFolder folder;
  const std::string text = many_lines();
  for (const auto& [pack, message] : {std::pair<Pack, std::string>{test_support::gzip, "truncated gzip data"},
                                      {test_support::zstd, "truncated zstd data"},
                                      {test_support::xz, "truncated xz data"}}) {
    std::string packed = pack(text), seen;
    packed.resize(packed.size() / 2);
    const std::string path = folder.file("data", packed);
    const std::string failed = error_message([&] {
      for (const TextChunk& chunk : chunks_of(path, cut_after_line, {2, 1 << 16})) {
        seen += chunk.text;
        if (chunk.failure) std::rethrow_exception(chunk.failure);
      }
    });
    EXPECT_EQ(failed, path + ": " + message + "; copy or download the file again");
    EXPECT_TRUE(seen.size() > text.size() / 4 && text.starts_with(seen));
  }
}

// Files one after the other: none has a line of two, and lines have the numbers of their file.
RC_GTEST_PROP(TextChunks, of_several_files_keep_them_apart, ()) {
  const TemporaryFolder folder;
  const auto texts = *rc::gen::nonEmpty(
      rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>("", "a\nb\n", "c",
                                                                                 "\xef\xbb\xbf"
                                                                                 "d\n\ne\n",
                                                                                 "f\n")));
  std::vector<std::string> paths;
  std::string expected, seen;
  for (const std::string& text : texts) {
    const auto pack = *rc::gen::elementOf(kPackings);
    paths.push_back(folder.file("file" + std::to_string(paths.size()), pack ? pack(text) : text));
    list_lines(LineReader(paths.back()), expected);
  }
  ChunkReader reader(paths, cut_after_line, {2, *rc::gen::inRange<std::size_t>(1, 10)});
  for (TextChunk chunk; reader.next(chunk);) list_lines(LineReader(chunk), seen);
  RC_ASSERT(seen == expected);
}

// Parts of a file are its text, with the numbers that its lines have.
RC_GTEST_PROP(TextChunks, of_ranges_are_those_of_the_file, ()) {
  const TemporaryFolder folder;
  const std::string path = folder.file("data", "one\n2\n\nthree\nfour");
  const std::vector<std::uint64_t> begins{0, 4, 6, 7, 13};
  const auto k = *rc::gen::inRange<std::size_t>(0, begins.size());
  std::string expected, seen;
  list_lines(LineReader(path), expected);
  const std::vector<TextRange> ranges{{path, 0, begins[k]}, {path, begins[k], 17, 1 + k}};
  ChunkReader reader(ranges, cut_after_line, {1, *rc::gen::inRange<std::size_t>(1, 10)});
  for (TextChunk chunk; reader.next(chunk);) list_lines(LineReader(chunk), seen);
  RC_ASSERT(seen == expected);
  RC_ASSERT(reader.num_lines()[0] == k);
}

}  // namespace espalier::testing::text_chunks_test
