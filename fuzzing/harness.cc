#include "fuzzing/harness.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <set>
#include <vector>

#include "base/input.h"
#include "espalier/base/error.h"
#include "model/model_file.h"

namespace espalier::fuzz {

void expect(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "not as it should be: %s\n", what);
  std::abort();
}

MemoryFile::MemoryFile()
    : fd_(static_cast<int>(::memfd_create("input", MFD_CLOEXEC))),
      path_("/proc/self/fd/" + std::to_string(fd_)) {
  expect(fd_ >= 0, "a file in memory");
}

bool is_packed(std::string_view bytes) {
  constexpr std::string_view kGzip = "\x1f\x8b", kZstd = "\x28\xb5\x2f\xfd", kXz = "\xfd\x37zXZ";
  return bytes.starts_with(kGzip) || bytes.starts_with(kZstd) || bytes.starts_with(kXz) ||
         bytes.substr(std::min<std::size_t>(bytes.size(), 1)).starts_with("\x2a\x4d\x18");
}

const std::string& MemoryFile::write(std::string_view bytes) {
  expect(::ftruncate(fd_, 0) == 0 &&
             ::pwrite(fd_, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()),
         "a file in memory is written");
  return path_;
}

MemoryFile& memory_file(std::size_t i) {
  static std::deque<MemoryFile> files;
  while (files.size() <= i) files.emplace_back();
  return files[i];
}

std::string message_of(const std::function<void()>& read) {
  try {
    read();
    return {};
  } catch (const Error& e) {
    const std::string message = e.what();
    expect(!message.empty() && message.size() <= Error::kLongest, "the length of a message");
    expect(message == one_line(message), "a message that is one line");
    return message;
  }
}

bool turn_of_slow() {
  constexpr std::size_t kFew = 100, kEvery = 16;
  static const bool all = std::getenv("FUZZ_ALL") != nullptr;
  static std::size_t inputs = 0;
  return all || ++inputs <= kFew || inputs % kEvery == 0;
}

Choices::Choices(std::string_view& bytes) {
  if (bytes.empty()) return;
  left_ = static_cast<unsigned char>(bytes.front());
  bytes.remove_prefix(1);
}

std::size_t Choices::below(std::size_t n) {
  const std::size_t choice = left_ % n;
  left_ /= n;
  return choice;
}

std::string with_checksums(std::string_view bytes) {
  // As model_file.cc writes them: the number of sections in the header, and of each its name and size.
  constexpr std::size_t kHeader = 64, kEntry = 64, kLongestName = 31, kMostSections = 64;
  std::uint32_t version = 0, count = 0;
  if (bytes.size() < kHeader) return std::string(bytes);
  std::memcpy(&version, bytes.data() + 8, sizeof(version));
  std::memcpy(&count, bytes.data() + 12, sizeof(count));
  count = static_cast<std::uint32_t>(
      std::min<std::size_t>({count, kMostSections, (bytes.size() - kHeader) / kEntry}));
  struct Section {
    std::string name;
    std::string_view bytes;
  };
  std::vector<Section> sections;
  std::set<std::string> names;
  std::size_t at = kHeader + count * kEntry;
  for (std::size_t i = 0; i < count; ++i) {
    const char* const entry = bytes.data() + kHeader + i * kEntry;
    std::string name(entry, ::strnlen(entry, kLongestName));
    std::uint64_t size = 0;
    std::memcpy(&size, entry + 40, sizeof(size));
    at = std::min((at + 63) / 64 * 64, bytes.size());
    size = std::min<std::uint64_t>(size, bytes.size() - at);
    if (!name.empty() && names.insert(name).second)
      sections.push_back({std::move(name), bytes.substr(at, size)});
    at += size;
  }
  ModelFileWriter writer(version);
  for (const Section& section : sections) writer.add_bytes(section.name, section.bytes);
  const auto image = writer.image();
  return {image.begin(), image.end()};
}

std::string repository_file(const std::string& name) {
  // Where the program runs on another machine, the variable says where its files are.
  const char* const folder = std::getenv("ESPALIER_SOURCE_DIR");
  return read_all(std::string(folder != nullptr ? folder : ESPALIER_SOURCE_DIR) + "/" + name);
}

}  // namespace espalier::fuzz
