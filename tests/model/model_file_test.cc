#include "model/model_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/input.h"
#include "support/error_message.h"
#include "support/temporary_folder.h"

// The checksums are computed here with the library's own hash, so that crafted files get past them.
#include <xxhash.h>

namespace espalier::model_file_test {
namespace {

using testing::error_message;
using testing::TemporaryFolder;

constexpr std::size_t kHeader = 64, kEntry = 64;
const std::string kAnew = "; copy the model again or retrain it";

// A writer that finds somebody at the other end sends what it has, and nobody is there to keep it.
TEST(ModelFile, APipeIsNotOpenedToSeeWhetherItIsAModel) {
  const TemporaryFolder folder;
  const std::string pipe = folder.path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::atomic<bool> done = false;
  int opened = 0;
  std::thread writer([&] {
    while (!done) {
      const int fd = ::open(pipe.c_str(), O_WRONLY | O_NONBLOCK);  // fails while nobody reads
      if (fd < 0) continue;
      ++opened;
      ::close(fd);
    }
  });
  for (int k = 0; k < 3000; ++k) EXPECT_FALSE(is_model_file(pipe));
  done = true;
  writer.join();
  EXPECT_EQ(opened, 0);
}

// A model of two sections: "alpha", five bytes at 192, and "beta", three 64-bit numbers at 256.
std::string small_model(const TemporaryFolder& folder) {
  const std::vector<std::uint64_t> numbers{1, 2, ~std::uint64_t{0}};
  ModelFileWriter writer;
  writer.add_bytes("alpha", "hello");
  writer.add<std::uint64_t>("beta", numbers);
  writer.write(folder.path("small.esp"));
  return read_all(folder.path("small.esp"));
}

template <class T>
void put(std::string& bytes, std::size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof(value));
}

// Makes the checksums of directory and header those of their contents.
void seal(std::string& model) {
  std::uint32_t sections;
  std::memcpy(&sections, model.data() + 12, sizeof(sections));
  const std::size_t directory = std::min<std::size_t>(sections * kEntry, model.size() - kHeader);
  put<std::uint64_t>(model, 24, XXH3_64bits(model.data() + kHeader, directory));
  put<std::uint64_t>(model, 56, XXH3_64bits(model.data(), 56));
}

std::string open_message(const TemporaryFolder& folder, const std::string& contents) {
  const std::string path = folder.file("m.esp", contents);
  const std::string message = error_message([&] { ModelFile file(path); });
  return message.starts_with(path) ? "m.esp" + message.substr(path.size()) : message;
}

TEST(ModelFile, RoundTrip) {
  const TemporaryFolder folder;
  const std::string bytes = small_model(folder);
  EXPECT_EQ(bytes.size(), 256u + 24u);
  const ModelFile file(folder.path("small.esp"));
  EXPECT_EQ(file.path(), folder.path("small.esp"));
  EXPECT_TRUE(file.has("alpha"));
  EXPECT_TRUE(file.has("beta"));
  EXPECT_FALSE(file.has("alph"));
  EXPECT_FALSE(file.has(""));
  EXPECT_EQ(file.section_bytes("alpha"), "hello");
  const auto numbers = file.section<std::uint64_t>("beta");
  EXPECT_EQ(std::vector<std::uint64_t>(numbers.begin(), numbers.end()),
            (std::vector<std::uint64_t>{1, 2, ~std::uint64_t{0}}));
}

RC_GTEST_PROP(ModelFile, RoundTripOfAnySections, ()) {
  const auto contents = *rc::gen::arbitrary<std::vector<std::string>>();
  const TemporaryFolder folder;
  std::vector<std::string> written;
  AlignedVector<char> image;
  for (const char* path : {"a.esp", "b.esp"}) {
    ModelFileWriter writer;
    for (std::size_t i = 0; i < contents.size(); ++i)
      writer.add_bytes("section " + std::to_string(i), contents[i]);
    writer.write(folder.path(path));
    written.push_back(read_all(folder.path(path)));
    image = writer.image();
  }
  RC_ASSERT(written[0] == written[1]);  // nothing but the contents decides the bytes
  const ModelFile mapped(folder.path("a.esp")), in_memory("in memory", std::move(image));
  for (const ModelFile* file : {&mapped, &in_memory}) {
    RC_ASSERT(file->bytes() == written[0]);
    for (std::size_t i = 0; i < contents.size(); ++i) {
      const std::string_view bytes = file->section_bytes("section " + std::to_string(i));
      RC_ASSERT(bytes == contents[i]);
      RC_ASSERT(reinterpret_cast<std::uintptr_t>(bytes.data()) % 64 == 0);
    }
  }
}

TEST(ModelFile, NamesMayHave31Bytes) {
  const TemporaryFolder folder;
  ModelFileWriter writer;
  writer.add_bytes(std::string(31, 'n'), "contents");
  writer.write(folder.path("m.esp"));
  EXPECT_EQ(ModelFile(folder.path("m.esp")).section_bytes(std::string(31, 'n')), "contents");
}

TEST(ModelFile, SectionsStayWhereTheyAreWhenMoved) {
  const TemporaryFolder folder;
  small_model(folder);
  ModelFile file(folder.path("small.esp"));
  const std::string_view before = file.section_bytes("alpha");
  const ModelFile moved = std::move(file);
  EXPECT_EQ(moved.section_bytes("alpha").data(), before.data());
  EXPECT_EQ(moved.section_bytes("alpha"), "hello");
}

TEST(ModelFile, AReplacedModelStaysReadableWhileItIsOpen) {
  const TemporaryFolder folder;
  small_model(folder);
  const ModelFile old(folder.path("small.esp"));
  ModelFileWriter writer;
  writer.add_bytes("alpha", "other");
  writer.write(folder.path("small.esp"));
  EXPECT_EQ(old.section_bytes("alpha"), "hello");
  EXPECT_EQ(ModelFile(folder.path("small.esp")).section_bytes("alpha"), "other");
}

TEST(ModelFile, EveryTruncationIsToldWithItsLength) {
  const TemporaryFolder folder;
  const std::string model = small_model(folder);
  EXPECT_EQ(open_message(folder, ""), "m.esp: empty file" + kAnew);
  for (std::size_t length = 1; length < model.size(); ++length) {
    const std::string found = length < kHeader ? std::to_string(length) + " bytes, less than a header"
                                               : std::to_string(length) + " of 280 bytes";
    ASSERT_EQ(open_message(folder, model.substr(0, length)), "m.esp: truncated: " + found + kAnew);
  }
}

TEST(ModelFile, EveryFlippedBitIsRefused) {
  const TemporaryFolder folder;
  const std::string model = small_model(folder);
  for (std::size_t i = 0; i < model.size(); ++i) {
    std::string expected = "m.esp: corrupt header" + kAnew;
    if (i < 8) expected = "m.esp: not a model; expected a file that 'espalier train' wrote";
    if (i >= kHeader) expected = "m.esp: corrupt directory" + kAnew;
    if (i >= 192) expected = "m.esp: corrupt section 'alpha'" + kAnew;
    if (i >= 197) expected = "m.esp: corrupt section 'beta'" + kAnew;  // zeros in front of it belong to it
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = model;
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << bit));
      ASSERT_EQ(open_message(folder, flipped), expected) << "byte " << i << " bit " << bit;
    }
  }
}

TEST(ModelFile, AnyOtherFileIsNotAModel) {
  const TemporaryFolder folder;
  const std::string not_a_model = "m.esp: not a model; expected a file that 'espalier train' wrote";
  EXPECT_EQ(open_message(folder, "x"), not_a_model);
  EXPECT_EQ(open_message(folder, "Confidence NN B-NP\n"), not_a_model);
  EXPECT_EQ(open_message(folder, std::string(10'000, '\0')), not_a_model);
  EXPECT_EQ(open_message(folder, small_model(folder) + "x"),
            "m.esp: 1 bytes after the end of the model" + kAnew);
}

TEST(ModelFile, WhatCannotBeMappedIsNamed) {
  const TemporaryFolder folder;
  const std::string missing = folder.path("missing.esp"), pipe = folder.path("pipe");
  EXPECT_EQ(error_message([&] { ModelFile file(missing); }),
            missing + ": cannot open: No such file or directory; expected a model that can be read");
  EXPECT_EQ(error_message([&] { ModelFile file(folder.path()); }),
            folder.path() + ": is a folder; expected a model file");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(error_message([&] { ModelFile file(pipe); }),
            pipe + ": is not a regular file; expected a model file");
}

TEST(ModelFile, ANewerFormatIsNotCalledCorrupt) {
  const TemporaryFolder folder;
  std::string model = small_model(folder);
  put<std::uint32_t>(model, 8, kModelFormatVersion + 1);
  seal(model);
  EXPECT_EQ(open_message(folder, model),
            "m.esp: model of format 3, made by a newer version of this program, which reads formats up to 2; "
            "update the program");
}

TEST(ModelFile, MissingSectionsAndWrongSizesAreNamed) {
  const TemporaryFolder folder;
  small_model(folder);
  const std::string path = folder.path("small.esp");
  const ModelFile file(path);
  EXPECT_EQ(
      error_message([&] { file.section_bytes("gamma"); }),
      path + ": no section 'gamma'; expected a model of another kind, or of this version of the program");
  EXPECT_EQ(error_message([&] { file.section<std::uint32_t>("alpha"); }),
            path + ": section 'alpha' has the wrong size" + kAnew);
}

TEST(ModelFile, PackedNamesAreRefusedBeforeWriting) {
  const TemporaryFolder folder;
  for (const char* name : {"m.esp.gz", "m.zst"}) {
    EXPECT_EQ(error_message([&] { ModelFileWriter().write(folder.path(name)); }),
              folder.path(name) + ": models are not compressed; expected another ending, such as model.esp");
  }
  EXPECT_EQ(folder.num_files(), 0u);
}

// Files whose checksums are all right and whose directory is not.
TEST(ModelFile, AMisleadingDirectoryIsRefused) {
  const TemporaryFolder folder;
  const std::string good = small_model(folder);
  const std::size_t first = kHeader, second = kHeader + kEntry;
  const std::size_t offset = 32, size = 40, reserved = 56;
  const std::uint64_t huge = ~std::uint64_t{0};
  const auto message_with = [&](std::size_t where, auto value) {
    std::string model = good;
    put(model, where, value);
    seal(model);
    return open_message(folder, model);
  };
  EXPECT_EQ(message_with(first + offset, std::uint64_t{192}), "(no error)");

  const std::string directory = "m.esp: corrupt directory" + kAnew, header = "m.esp: corrupt header" + kAnew;
  for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{64}, std::uint64_t{193},
                                    std::uint64_t{256}, std::uint64_t{1} << 63, huge, huge - 63}) {
    EXPECT_EQ(message_with(first + offset, value), directory) << value;
  }
  for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{192}, std::uint64_t{320}, huge}) {
    EXPECT_EQ(message_with(second + offset, value), directory) << value;
  }
  for (const std::uint64_t value : {std::uint64_t{89}, huge, huge - 191}) {
    EXPECT_EQ(message_with(first + size, value), directory) << value;
  }
  // Sizes that are in bounds but not the section's.
  EXPECT_EQ(message_with(first + size, std::uint64_t{4}), "m.esp: corrupt section 'alpha'" + kAnew);
  EXPECT_EQ(message_with(second + size, std::uint64_t{16}), "m.esp: corrupt section 'beta'" + kAnew);
  EXPECT_EQ(message_with(second + size, std::uint64_t{25}), directory);

  EXPECT_EQ(message_with(first, '\0'), directory);      // no name
  EXPECT_EQ(message_with(first + 10, 'x'), directory);  // bytes after the name
  EXPECT_EQ(message_with(first + reserved, '\1'), directory);
  std::string unended = good;
  std::memset(unended.data() + first, 'x', 32);
  seal(unended);
  EXPECT_EQ(open_message(folder, unended), directory);
  std::string twice = good;
  std::memcpy(twice.data() + second, twice.data() + first, 32);
  seal(twice);
  EXPECT_EQ(open_message(folder, twice), directory);

  EXPECT_EQ(message_with(12, std::uint32_t{0}), directory);  // sections that nobody names
  EXPECT_EQ(message_with(12, std::uint32_t{1}), directory);
  EXPECT_EQ(message_with(12, std::uint32_t{3}), directory);
  EXPECT_EQ(message_with(12, std::uint32_t{1000}), header);
  EXPECT_EQ(message_with(12, ~std::uint32_t{0}), header);
  EXPECT_EQ(message_with(8, std::uint32_t{0}), header);
  EXPECT_EQ(message_with(40, '\1'), header);
  EXPECT_EQ(message_with(16, std::uint64_t{0}), "m.esp: 280 bytes after the end of the model" + kAnew);
  EXPECT_EQ(message_with(16, huge), "m.esp: truncated: 280 of 18446744073709551615 bytes" + kAnew);
}

}  // namespace
}  // namespace espalier::model_file_test
