#include "base/output.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>

#include "base/input.h"
#include "support/error_message.h"
#include "support/temporary_folder.h"

namespace espalier::output_test {
namespace {

using testing::error_message;
using testing::TemporaryFolder;

std::string sample_text() {
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += std::to_string(i * 7919L % 100'003) + (i % 9 == 0 ? "\n" : " ");
  return text;
}

TEST(Output, RoundTripPlainAndPacked) {
  const TemporaryFolder folder;
  const std::string text = sample_text();
  std::size_t plain_size = 0;
  for (const char* name : {"a.txt", "a.txt.gz", "a.txt.zst"}) {
    OutputFile file(folder.path(name));
    // One large piece, then many small ones.
    file.write(std::string_view(text).substr(0, 500'000));
    for (std::size_t i = 500'000; i < text.size(); i += 7) file.write(std::string_view(text).substr(i, 7));
    file.commit();
    EXPECT_EQ(read_all(folder.path(name)), text);
    const std::size_t size = std::filesystem::file_size(folder.path(name));
    if (plain_size == 0) {
      plain_size = size;
    } else {
      EXPECT_LT(size, plain_size / 2);
    }
  }
  EXPECT_EQ(plain_size, text.size());
  EXPECT_EQ(folder.num_files(), 3u);
}

TEST(Output, EmptyFilesAreFiles) {
  const TemporaryFolder folder;
  for (const char* name : {"a", "a.gz", "a.zst"}) {
    OutputFile(folder.path(name)).commit();
    EXPECT_EQ(read_all(folder.path(name)), "");
  }
  EXPECT_EQ(std::filesystem::file_size(folder.path("a")), 0u);
  EXPECT_GT(std::filesystem::file_size(folder.path("a.gz")), 0u);
  EXPECT_GT(std::filesystem::file_size(folder.path("a.zst")), 0u);
}

TEST(Output, TheSameContentsGiveTheSameBytes) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path("x"));
  for (const char* name : {"a.gz", "x/b.gz"}) {
    OutputFile file(folder.path(name));
    file.write(sample_text());
    file.commit();
  }
  std::filesystem::rename(folder.path("a.gz"), folder.path("a"));
  const auto bytes = [](const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  EXPECT_EQ(bytes(folder.path("a")), bytes(folder.path("x/b.gz")));
}

TEST(Output, AppearsOnlyWhenCommitted) {
  const TemporaryFolder folder;
  {
    OutputFile file(folder.path("new"));
    file.write(sample_text());
    EXPECT_FALSE(std::filesystem::exists(folder.path("new")));
  }
  EXPECT_EQ(folder.num_files(), 0u);

  folder.file("old", "kept");
  {
    OutputFile file(folder.path("old"));
    file.write("other");
    EXPECT_EQ(read_all(folder.path("old")), "kept");
    OutputFile moved = std::move(file);
    moved.write("other");
  }
  EXPECT_EQ(read_all(folder.path("old")), "kept");
  EXPECT_EQ(folder.num_files(), 1u);
}

TEST(Output, ReplacesAFileAndKeepsItsPermissions) {
  const TemporaryFolder folder;
  const std::string path = folder.file("old", "a long text that was there before");
  ::chmod(path.c_str(), 0640);
  OutputFile file(path);
  file.write("new");
  file.commit();
  EXPECT_EQ(read_all(path), "new");
  struct stat status;
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
  EXPECT_EQ(folder.num_files(), 1u);
}

TEST(Output, FollowsASymbolicLink) {
  const TemporaryFolder folder;
  folder.file("target", "old");
  std::filesystem::create_symlink("target", folder.path("link"));
  OutputFile file(folder.path("link"));
  file.write("new");
  file.commit();
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path("link")));
  EXPECT_EQ(read_all(folder.path("target")), "new");
}

TEST(Output, FollowsALinkThatLeadsToNothingYet) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path("sub"));
  std::filesystem::create_symlink("sub/second", folder.path("first"));
  std::filesystem::create_symlink("target", folder.path("sub/second"));
  EXPECT_EQ(followed(folder.path("first")), folder.path("sub/target"));
  OutputFile file(folder.path("first"));
  file.write("new");
  file.commit();
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path("first")));
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path("sub/second")));
  EXPECT_EQ(read_all(folder.path("sub/target")), "new");

  std::filesystem::create_symlink("loop", folder.path("loop"));
  EXPECT_EQ(
      error_message([&] { OutputFile(folder.path("loop")); }),
      folder.path("loop") +
          ": cannot create: Too many levels of symbolic links; expected a folder that exists and can be "
          "written");
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path("loop")));
}

TEST(Output, SeveralWritersOfOneFileDoNotMeet) {
  const TemporaryFolder folder;
  OutputFile a(folder.path("file")), b(folder.path("file"));
  a.write("a");
  b.write("b");
  b.commit();
  EXPECT_EQ(read_all(folder.path("file")), "b");
  a.commit();
  EXPECT_EQ(read_all(folder.path("file")), "a");
  EXPECT_EQ(folder.num_files(), 1u);
}

TEST(Output, RefusesAMissingFolderAndAFolder) {
  const TemporaryFolder folder;
  const std::string missing = folder.path("missing/file");
  EXPECT_EQ(
      error_message([&] { OutputFile file(missing); }),
      missing +
          ": cannot create: No such file or directory; expected a folder that exists and can be written");
  EXPECT_EQ(error_message([&] { OutputFile file(folder.path()); }),
            folder.path() + ": is a folder; expected the name of a file to write");
}

TEST(Output, AFullDiskIsAnError) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  const std::string message =
      "/dev/full: cannot write: No space left on device; free some space or write elsewhere";
  OutputFile small("/dev/full");
  small.write("a few bytes");
  EXPECT_EQ(error_message([&] { small.commit(); }), message);
  OutputFile large("/dev/full");
  EXPECT_EQ(error_message([&] { large.write(sample_text()); }), message);
}

TEST(Output, LeavesNothingBehindWhenWritingFails) {
  const TemporaryFolder folder;
  const std::string path = folder.file("file", "kept");
  // A limit on the size of files, for lack of a disk that is full.
  rlimit old_limit;
  ::getrlimit(RLIMIT_FSIZE, &old_limit);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{100'000, old_limit.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &limit);
  std::string message;
  {
    OutputFile file(path);
    message = error_message([&] {
      file.write(sample_text());
      file.commit();
    });
  }
  ::setrlimit(RLIMIT_FSIZE, &old_limit);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_EQ(message, path + ": cannot write: File too large; free some space or write elsewhere");
  EXPECT_EQ(read_all(path), "kept");
  EXPECT_EQ(folder.num_files(), 1u);
}

TEST(Output, StandardOutputIsWrittenInPlace) {
  for (const char* name : {"-", "/dev/stdout"}) {
    const TemporaryFolder folder;
    const std::string path = folder.file("out", "before\n");
    std::fflush(stdout);
    const int saved = ::dup(STDOUT_FILENO), fd = ::open(path.c_str(), O_WRONLY | O_APPEND);
    ::dup2(fd, STDOUT_FILENO);
    ::close(fd);
    {
      OutputFile file(name);
      file.write("after\n");
      file.commit();
    }
    const bool still_open = ::fcntl(STDOUT_FILENO, F_GETFD) != -1;
    ::dup2(saved, STDOUT_FILENO);
    ::close(saved);
    EXPECT_TRUE(still_open);
    EXPECT_EQ(read_all(path), "before\nafter\n");
    EXPECT_EQ(folder.num_files(), 1u);
  }
}

TEST(Output, CheckingLeavesNoTrace) {
  const TemporaryFolder folder;
  const std::string old = folder.file("old", "kept");
  for (const std::string& path : {old, folder.path("new"), std::string("/dev/null"), std::string("-")})
    check_writable(path);
  EXPECT_EQ(read_all(old), "kept");
  EXPECT_EQ(folder.num_files(), 1u);
  EXPECT_EQ(
      error_message([&] { check_writable(folder.path("none/file")); }),
      folder.path("none/file") +
          ": cannot create: No such file or directory; expected a folder that exists and can be written");
  EXPECT_EQ(error_message([&] { check_writable(folder.path()); }),
            folder.path() + ": is a folder; expected the name of a file to write");
  // Opening it would wait for a reader, and closing it would send that one away.
  const std::string pipe = folder.path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  check_writable(pipe);
}

// What a signal handler does before it ends the program.
TEST(OutputDeathTest, TemporaryFilesAreRemoved) {
  const TemporaryFolder folder;
  const std::string old = folder.file("old", "kept");
  const auto end = [&] {
    OutputFile done(folder.path("done")), a(old), b(folder.path("new"));
    done.write("done");
    done.commit();
    a.write("a");
    remove_temporary_files();
    ::_exit(0);
  };
  EXPECT_EXIT(end(), ::testing::ExitedWithCode(0), "");
  EXPECT_EQ(read_all(old), "kept");
  EXPECT_EQ(read_all(folder.path("done")), "done");
  EXPECT_EQ(folder.num_files(), 2u);
}

}  // namespace
}  // namespace espalier::output_test
