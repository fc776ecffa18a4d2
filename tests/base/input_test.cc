#include "base/input.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <cstring>
#include <string>
#include <vector>

#include "support/error_message.h"
#include "support/packed.h"
#include "support/temporary_folder.h"

namespace espalier::input_test {
namespace {

using testing::error_message;
using testing::TemporaryFolder;

using test_support::gzip;
using test_support::xz;
using test_support::zstd;

// Text that does not pack to almost nothing, so that cutting and damaging the packed bytes hits the data.
std::string sample_text(std::size_t size) {
  std::string text;
  for (std::uint64_t x = 1; text.size() < size; x = x * 6364136223846793005u + 1442695040888963407u) {
    text += std::to_string(x >> 40);
    text += (x >> 33) % 8 == 0 ? '\n' : ' ';
  }
  text.resize(size);
  return text;
}

std::vector<std::string> lines_of(const std::string& path) {
  LineReader reader(path);
  std::vector<std::string> lines;
  for (std::string_view line; reader.next(line);) lines.emplace_back(line);
  EXPECT_EQ(reader.line_number(), lines.size());
  return lines;
}

using Lines = std::vector<std::string>;

TEST(Input, TellsThePackingByTheContentsAndNotByTheName) {
  const TemporaryFolder folder;
  const std::string text = sample_text(1'000'000);
  EXPECT_EQ(read_all(folder.file("plain.gz", text)), text);
  EXPECT_EQ(read_all(folder.file("packed.txt", gzip(text))), text);
  EXPECT_EQ(read_all(folder.file("packed", zstd(text))), text);
  EXPECT_EQ(read_all(folder.file("packed.gz", xz(text))), text);
}

TEST(Input, ReadsSeveralMembersAndFrames) {
  const TemporaryFolder folder;
  const std::string a = sample_text(300'000), b = "the end\n";
  EXPECT_EQ(read_all(folder.file("a", gzip(a) + gzip("") + gzip(b))), a + b);
  EXPECT_EQ(read_all(folder.file("b", zstd(a) + zstd("") + zstd(b))), a + b);
  EXPECT_EQ(read_all(folder.file("x", xz(a) + xz("") + std::string(8, '\0') + xz(b))), a + b);
  // A skippable frame in front: mark, size, content.
  EXPECT_EQ(read_all(folder.file("c", std::string("\x50\x2a\x4d\x18\x02\0\0\0xy", 10) + zstd(b))), b);
  std::string many, expected;
  for (int i = 0; i < 3000; ++i) {
    many += gzip(std::to_string(i));
    expected += std::to_string(i);
  }
  EXPECT_EQ(read_all(folder.file("d", many)), expected);
}

TEST(Input, ReadReturnsFewerBytesOnlyAtTheEnd) {
  const TemporaryFolder folder;
  const std::string text = sample_text(700'000);
  for (const std::string& path : {folder.file("a", text), folder.file("b", gzip(text)),
                                  folder.file("c", zstd(text)), folder.file("d", xz(text))}) {
    ByteReader reader(path);
    EXPECT_EQ(reader.name(), path);
    std::string part(600'000, '\0');
    EXPECT_EQ(reader.read(part.data(), 600'000), 600'000u);
    EXPECT_EQ(part, text.substr(0, 600'000));
    EXPECT_EQ(reader.read(part.data(), 600'000), 100'000u);
    EXPECT_EQ(part.substr(0, 100'000), text.substr(600'000));
    EXPECT_EQ(reader.read(part.data(), 600'000), 0u);
  }
}

TEST(Input, EmptyFilesAreEmpty) {
  const TemporaryFolder folder;
  for (const std::string& path : {folder.file("a", ""), folder.file("b", gzip("")),
                                  folder.file("c", zstd("")), folder.file("d", xz(""))}) {
    EXPECT_EQ(read_all(path), "");
    EXPECT_EQ(lines_of(path), Lines{});
  }
}

TEST(Input, RefusesWhatCannotBeOpened) {
  const TemporaryFolder folder;
  const std::string missing = folder.path("missing");
  EXPECT_EQ(error_message([&] { ByteReader reader(missing); }),
            missing + ": cannot open: No such file or directory; expected a file that can be read");
  EXPECT_EQ(error_message([&] { LineReader reader(folder.path()); }),
            folder.path() + ": is a folder; expected a file");
}

TEST(Input, RefusesTruncatedPackedDataWhereverItIsCut) {
  const TemporaryFolder folder;
  const std::string text = sample_text(400);
  struct Packing {
    const char* name;
    std::string packed;
    std::size_t mark;  // below its length nothing tells that the file was packed
  };
  for (const auto& [name, packed, mark] :
       {Packing{"gzip", gzip(text), 2}, Packing{"zstd", zstd(text), 4}, Packing{"xz", xz(text), 6}}) {
    for (std::size_t length = mark; length < packed.size(); ++length) {
      const std::string path = folder.file("cut", packed.substr(0, length));
      ASSERT_EQ(error_message([&] { read_all(path); }),
                path + ": truncated " + name + " data; copy or download the file again")
          << length;
    }
  }
}

TEST(Input, RefusesDamagedPackedData) {
  const TemporaryFolder folder;
  const std::string text = sample_text(20'000);
  std::string packed = gzip(text);
  packed[packed.size() - 6] ^= 1;  // in the checksum
  std::string path = folder.file("a.gz", packed);
  EXPECT_EQ(error_message([&] { read_all(path); }),
            path + ": corrupt gzip data (incorrect data check); copy or download the file again");

  packed = zstd(text);
  packed[5] ^= 0x40;  // in the frame's header and the first block's
  packed[10] ^= 0x7f;
  path = folder.file("b.zst", packed);
  EXPECT_EQ(error_message([&] { read_all(path); }).substr(0, path.size() + 21),
            path + ": corrupt zstd data (");

  packed = xz(text);
  packed[packed.size() / 2] ^= 0x40;
  path = folder.file("c.xz", packed);
  EXPECT_EQ(error_message([&] { read_all(path); }),
            path + ": corrupt xz data; copy or download the file again");
}

// A few bytes may ask for gigabytes.
TEST(Input, RefusesPackedDataOfLargeWindows) {
  const TemporaryFolder folder;
  // The header of a frame with a window of 2^31 bytes, and a block of one byte.
  std::string path = folder.file("a.zst", std::string("\x28\xb5\x2f\xfd\x00\xa8\x09\0\0a", 10));
  EXPECT_EQ(error_message([&] { read_all(path); }),
            path + ": zstd data of a window above 1 GiB; expected one of at most 1 GiB; pack the file anew");
  // The first block's header is 12 bytes from 12 on: the dictionary's size (38: 2^31) behind its filter's
  // name, and a checksum at the end.
  std::string packed = xz("text");
  ASSERT_EQ(packed[12], 2);
  packed[packed.find("\x21\x01") + 2] = 38;
  const auto sum =
      static_cast<std::uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(packed.data()) + 12, 8));
  std::memcpy(packed.data() + 20, &sum, sizeof(sum));
  path = folder.file("b.xz", packed);
  EXPECT_EQ(
      error_message([&] { read_all(path); }),
      path + ": xz data of a dictionary above 1 GiB; expected one of at most 1 GiB; pack the file anew");
}

// What comes before the damage does not depend on how many bytes are asked for at a time.
TEST(Input, DamagedPackedDataIsTheSameHoweverItIsRead) {
  const TemporaryFolder folder;
  const std::string text = sample_text(3000);
  const auto read_by = [](const std::string& path, std::size_t at_once) {
    std::string all;
    const std::string message = error_message([&] {
      ByteReader reader(path);
      std::string part(at_once, '\0');
      for (std::size_t got = 1; got > 0;) {
        got = reader.read(part.data(), part.size());
        all.append(part, 0, got);
      }
    });
    return std::pair(all, message);
  };
  for (const std::string& whole : {gzip(text), zstd(text), xz(text)}) {
    for (std::size_t at = whole.size() / 4; at < whole.size(); at += whole.size() / 7) {
      std::string packed = whole;
      packed[at] ^= 0x20;
      const std::string path = folder.file("damaged", packed);
      const auto expected = read_by(path, 1 << 18);
      for (const std::size_t at_once : {1, 7, 100, 4096}) EXPECT_EQ(read_by(path, at_once), expected) << at;
    }
  }
}

TEST(Input, NamesWhatItDoesNotRead) {
  const TemporaryFolder folder;
  const auto message = [&](std::string_view contents) {
    const std::string path = folder.file("data", contents);
    return error_message([&] { LineReader reader(path); }).substr(path.size() + 2);
  };
  EXPECT_EQ(message("BZh91AY&SY\x01\x02"),
            "bzip2 data; expected plain text, or gzip, zstd or xz; bunzip2 unpacks it");
  EXPECT_EQ(message("PK\x03\x04rest"),
            "a zip archive; expected a plain file, or one compressed by gzip, zstd or xz");
  for (const std::string_view start : {std::string_view("\xff\xfe"
                                                        "a\0",
                                                        4),
                                       std::string_view("\xfe\xff\0a", 4)})
    EXPECT_EQ(message(start), "UTF-16 text; expected UTF-8; iconv -f UTF-16 -t UTF-8 converts it");
  for (const std::string_view start :
       {std::string_view("\xff\xfe\0\0", 4), std::string_view("\0\0\xfe\xff", 4)})
    EXPECT_EQ(message(start), "UTF-32 text; expected UTF-8; iconv -f UTF-32 -t UTF-8 converts it");
  // Without a byte order mark.
  EXPECT_EQ(message(std::string_view("a\0\t\0", 4)),
            "UTF-16LE text; expected UTF-8; iconv -f UTF-16LE -t UTF-8 converts it");
  EXPECT_EQ(message(std::string_view("\0a\0\t", 4)),
            "UTF-16BE text; expected UTF-8; iconv -f UTF-16BE -t UTF-8 converts it");
  EXPECT_EQ(read_all(folder.file("text", "BZh9 is no archive\n")), "BZh9 is no archive\n");
  for (const std::string begin : {"BZh", "BZh9", "BZh91"})
    EXPECT_EQ(read_all(folder.file("text", begin)), begin);
}

TEST(Input, TellsHowFarItIs) {
  const TemporaryFolder folder;
  const std::string packed = gzip(sample_text(1'000'000)), path = folder.file("data.gz", packed);
  std::uint64_t last = 0, size = 0;
  std::string name;
  {
    const ReadingObserver observer([&](const ReadingProgress& progress) {
      EXPECT_GE(progress.bytes, last);
      last = progress.bytes;
      size = progress.size;
      name = progress.name;
    });
    read_all(path);
  }
  EXPECT_EQ(last, packed.size());
  EXPECT_EQ(size, packed.size());
  EXPECT_EQ(name, path);
  read_all(folder.file("other", "text"));
  EXPECT_EQ(last, packed.size()) << "nobody looks any more";
}

TEST(Input, RefusesOtherBytesAfterPackedData) {
  const TemporaryFolder folder;
  std::string path = folder.file("a.gz", gzip("text\n") + "garbage");
  EXPECT_EQ(error_message([&] { read_all(path); }),
            path + ": unexpected bytes after the end of the gzip data; copy or download the file again");
  path = folder.file("b.gz", gzip("text\n") + "\x1f");
  EXPECT_EQ(error_message([&] { read_all(path); }),
            path + ": unexpected bytes after the end of the gzip data; copy or download the file again");
  path = folder.file("d.xz", xz("text\n") + "garbage, and a lot of it");
  EXPECT_EQ(error_message([&] { read_all(path); }),
            path + ": corrupt xz data; copy or download the file again");
  path = folder.file("c.zst", zstd("text\n") + "garbage");
  EXPECT_EQ(error_message([&] { read_all(path); }),
            path + ": unexpected bytes after the end of the zstd data; copy or download the file again");
}

TEST(Input, ReadsStandardInput) {
  const TemporaryFolder folder;
  const std::string path = folder.file("in", gzip("a\nb\n"));
  const int saved = ::dup(STDIN_FILENO), fd = ::open(path.c_str(), O_RDONLY);
  ::dup2(fd, STDIN_FILENO);
  ::close(fd);
  {
    LineReader reader("-");
    EXPECT_EQ(reader.name(), "standard input");
    std::string_view line;
    EXPECT_TRUE(reader.next(line));
    EXPECT_EQ(line, "a");
    EXPECT_EQ(error_message([&] { reader.fail("this", "that"); }), "standard input:1: this; that");
  }
  // It is the caller's: still open.
  EXPECT_NE(::fcntl(STDIN_FILENO, F_GETFD), -1);
  ::dup2(saved, STDIN_FILENO);
  ::close(saved);
}

TEST(Lines, EndWithLineFeedOrCarriageReturnAndLineFeed) {
  const TemporaryFolder folder;
  EXPECT_EQ(lines_of(folder.file("a", "one\ntwo\n")), (Lines{"one", "two"}));
  EXPECT_EQ(lines_of(folder.file("b", "one\r\ntwo\r\n")), (Lines{"one", "two"}));
  EXPECT_EQ(lines_of(folder.file("c", "one\n\ntwo")), (Lines{"one", "", "two"}));
  EXPECT_EQ(lines_of(folder.file("d", "\r\n")), (Lines{""}));
  EXPECT_EQ(lines_of(folder.file("e", "a\rb\r\r\n")), (Lines{"a\rb\r"}));
  EXPECT_EQ(lines_of(folder.file("f", "\n")), (Lines{""}));
}

TEST(Lines, SkipAByteOrderMarkAtTheStartOnly) {
  const TemporaryFolder folder;
  EXPECT_EQ(lines_of(folder.file("a", "\xef\xbb\xbfone\n\xef\xbb\xbftwo\n")),
            (Lines{"one", "\xef\xbb\xbftwo"}));
  EXPECT_EQ(lines_of(folder.file("b", "\xef\xbb\xbf")), Lines{});
  EXPECT_EQ(lines_of(folder.file("c", "\xef\xbb")), Lines{"\xef\xbb"});
}

TEST(Lines, RefuseANulByteWithItsLine) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a", std::string("one\ntwo\nth\0ree\nfour\n", 20));
  LineReader reader(path);
  std::string_view line;
  EXPECT_TRUE(reader.next(line));
  EXPECT_TRUE(reader.next(line));
  EXPECT_EQ(line, "two");
  EXPECT_EQ(error_message([&] { reader.next(line); }),
            path + ":3: a NUL byte; expected a text file, plain or compressed by gzip, zstd or xz");
}

TEST(Lines, MayBeLongButNotWithoutEnd) {
  const TemporaryFolder folder;
  const std::string huge(10'000'000, 'x');
  EXPECT_EQ(lines_of(folder.file("a", "a\n" + huge + "\nb\n")), (Lines{"a", huge, "b"}));

  const std::string path = folder.file("b", "short\n" + huge);
  for (const std::size_t longest : {huge.size(), huge.size() - 1}) {
    LineReader reader(path, longest);
    std::string_view line;
    EXPECT_TRUE(reader.next(line));
    EXPECT_EQ(error_message([&] { reader.next(line); }), longest == huge.size()
                                                             ? "(no error)"
                                                             : path +
                                                                   ":2: a line of more than 9999999 bytes; "
                                                                   "expected a text file with shorter lines");
  }
}

RC_GTEST_PROP(Lines, AreTheTextCutAtItsLineFeeds, ()) {
  const auto lengths =
      *rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(0, 100'000));
  const bool final_newline = *rc::gen::arbitrary<bool>();
  Lines expected;
  std::string text;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    expected.emplace_back(lengths[i], static_cast<char>('a' + i % 26));
    text += expected.back();
    if (i + 1 < lengths.size() || final_newline || expected.back().empty())
      text += i % 2 == 0 ? "\n" : "\r\n";
  }
  const TemporaryFolder folder;
  RC_ASSERT(lines_of(folder.file("text", text)) == expected);
  RC_ASSERT(lines_of(folder.file("text", zstd(text))) == expected);
}

TEST(LineReader, ReadsATextInMemory) {
  const std::string text = "one\r\n\ntwo";
  LineReader reader(ByteReader::of_text(text, "a text"));
  std::vector<std::string> lines;
  for (std::string_view line; reader.next(line);) lines.emplace_back(line);
  EXPECT_EQ(lines, (std::vector<std::string>{"one", "", "two"}));
  EXPECT_EQ(error_message([&] { reader.fail("an end", "expected more"); }),
            "a text:3: an end; expected more");
  // As it is: nothing is unpacked.
  const std::string packed = gzip("one\n");
  LineReader of_packed(ByteReader::of_text(packed, "a text"));
  std::string_view line;
  EXPECT_EQ(error_message([&] { of_packed.next(line); }),
            "a text:1: a NUL byte; expected a text file, plain or compressed by gzip, zstd or xz");
}

}  // namespace
}  // namespace espalier::input_test
