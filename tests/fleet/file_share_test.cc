// Shares of files: together they are the files, and each begins with a record.

#include "fleet/file_share.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include "fleet/threads.h"
#include "support/error_message.h"
#include "support/packed.h"
#include "support/temporary_folder.h"

namespace espalier::file_share_test {
namespace {

using testing::error_message;
using testing::TemporaryFolder;

class FirstLook {
 public:
  explicit FirstLook(std::size_t bytes) : before_(FileShare::first_look) { FileShare::first_look = bytes; }
  ~FirstLook() { FileShare::first_look = before_; }
  FirstLook(const FirstLook&) = delete;
  FirstLook& operator=(const FirstLook&) = delete;

 private:
  std::size_t before_;
};

// What each rank reads, chunk by chunk; empty: there are no shares.
std::vector<std::vector<TextChunk>> read_shares(const InputFiles& files, const FindCut& cut,
                                                std::size_t ranks) {
  std::vector<std::vector<TextChunk>> texts(ranks);
  std::atomic<bool> shared = true;
  run_ranks(ranks, [&](Communicator& fleet) {
    const auto share = find_share(files, cut, fleet);
    if (!share) {
      shared = false;
      return;
    }
    ChunkReader reader(share->ranges, cut);
    for (TextChunk chunk; reader.next(chunk);) texts[fleet.rank()].push_back(chunk);
    const ShareOutcome outcome = compare_shares(*share, false, reader.num_lines(), fleet);
    EXPECT_FALSE(outcome.failed);
    for (TextChunk& chunk : texts[fleet.rank()]) {
      if (chunk.name == share->ranges.front().path) chunk.first_line += outcome.lines_before;
    }
  });
  if (!shared) texts.clear();
  return texts;
}

RC_GTEST_PROP(FileShare, are_the_files_together, ()) {
  const TemporaryFolder folder;
  const auto fragments = rc::gen::container<std::vector<std::string>>(
      rc::gen::element<std::string>("a\n", "a\n\n", "\n", "\r\n", "a line that is longer\n", " \n"));
  std::vector<std::string> paths;
  std::string expected;
  for (int left = *rc::gen::element(1, 1, 2, 3); left > 0; --left) {
    std::string text;
    for (const std::string& fragment : *fragments) text += fragment;
    const bool packed = *rc::gen::element(false, false, true);
    paths.push_back(folder.file("file" + std::to_string(left), packed ? test_support::gzip(text) : text));
    std::size_t number = 0;
    LineReader reader(paths.back());
    for (std::string_view line; reader.next(line);)
      expected += paths.back() + ' ' + std::to_string(++number) + ' ' + std::string(line) + '\n';
  }
  const bool by_lines = *rc::gen::arbitrary<bool>();
  const auto by_blank_lines = [](std::string_view text) {
    return cut_after_blank_line(text, [](std::string_view) { return true; });
  };
  const FirstLook look(*rc::gen::element<std::size_t>(1, 3, 100));
  const auto ranks = *rc::gen::inRange<std::size_t>(1, 6);
  const auto shares = read_shares(paths, by_lines ? FindCut(cut_after_line) : FindCut(by_blank_lines), ranks);
  if (shares.empty()) return;
  std::string seen;
  for (std::size_t r = 0; r < ranks; ++r) {
    std::string of_rank;
    for (const TextChunk& chunk : shares[r]) {
      of_rank += chunk.text;
      LineReader reader(chunk);
      for (std::string_view line; reader.next(line);)
        seen += chunk.name + ' ' + std::to_string(reader.line_number()) + ' ' + std::string(line) + '\n';
    }
    RC_ASSERT(!of_rank.empty() || ranks == 1 || !shares[r].front().begins_file || paths.size() > 1);
    const bool whole = shares[r].front().begins_file;
    // What is behind a cut begins a record: the blank line before it is that of the rank before.
    if (!whole && !by_lines && r > 0) {
      const std::string& before = shares[r - 1].back().text;
      RC_ASSERT(before.ends_with("\n\n") || before.ends_with("\r\n") || before.ends_with(" \n"));
    }
  }
  RC_ASSERT(seen == expected);
}

TEST(FileShare, OfGeneratedLinesAreAboutAsLarge) {
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 40000; ++i) text += "line " + std::to_string(i) + '\n';
  const auto shares = read_shares(folder.file("data", text), cut_after_line, 4);
  ASSERT_EQ(shares.size(), 4u);
  for (const auto& chunks : shares) {
    std::size_t bytes = 0;
    for (const TextChunk& chunk : chunks) bytes += chunk.text.size();
    EXPECT_NEAR(static_cast<double>(bytes), static_cast<double>(text.size()) / 4, 8192);
  }
}

TEST(FileShare, NeedsSomethingForEveryRank) {
  const TemporaryFolder folder;
  const std::string packed = folder.file("a.gz", test_support::gzip("a\nb\nc\n"));
  EXPECT_TRUE(read_shares(packed, cut_after_line, 2).empty());
  EXPECT_TRUE(read_shares(folder.file("one", "only\n"), cut_after_line, 2).empty());
  EXPECT_TRUE(read_shares("/dev/null", cut_after_line, 2).empty());
  EXPECT_TRUE(read_shares(folder.path("missing"), cut_after_line, 2).empty());
  // However different their sizes are, each has one.
  std::string many;
  for (int i = 0; i < 5000; ++i) many += std::to_string(i * i) + '\n';
  const std::string large = folder.file("large.gz", test_support::gzip(many));
  for (const auto& paths : {std::vector<std::string>{large, packed, packed, packed},
                            {packed, packed, packed, large},
                            {packed, large, packed, packed}}) {
    const auto shares = read_shares(paths, cut_after_line, 4);
    ASSERT_EQ(shares.size(), 4u);
    for (std::size_t r = 0; r < 4; ++r) EXPECT_EQ(shares[r].front().name, paths[r]);
  }
  // Whole files where they are packed.
  const auto shares = read_shares(std::vector<std::string>{packed, packed}, cut_after_line, 2);
  ASSERT_EQ(shares.size(), 2u);
  EXPECT_EQ(shares[1].front().text, "a\nb\nc\n");
}

TEST(FileShare, OtherFilesOnOneRankAreRefused) {
  const TemporaryFolder folder;
  const std::vector<std::string> paths{folder.file("a", "1\n2\n3\n4\n"), folder.file("b", "1\n2\n3\n5\n")};
  const std::string message = error_message([&] {
    run_ranks(2, [&](Communicator& fleet) { find_share(paths[fleet.rank()], cut_after_line, fleet); });
  });
  EXPECT_EQ(message, "rank 1 has other data than rank 0; expected the same on all ranks");
}

TEST(FileShare, TheFirstRankThatFailsIsTheOneThatSpeaks) {
  for (int repeat = 0; repeat < 20; ++repeat) {
    const std::string message = error_message([&] {
      run_ranks(4, [&](Communicator& fleet) {
        do_on_shares(fleet, [&] {
          if (fleet.rank() >= 2) throw Error("found by " + setting("rank") + std::to_string(fleet.rank()));
        });
      });
    });
    EXPECT_EQ(message, "found by rank2");
  }
}

}  // namespace
}  // namespace espalier::file_share_test
