// Files as they come: plain, gzip, zstd and xz, unpacked here or by another thread.

#include <array>

#include "base/input.h"
#include "fuzzing/targets.h"

namespace espalier::fuzz {
namespace {

// Small files may be packed gigabytes.
constexpr std::size_t kEnough = std::size_t{1} << 20;

std::string unpacked(const std::string& path, ByteReader::Unpack unpack, std::size_t at_once,
                     std::string& to) {
  return message_of([&] {
    ByteReader reader(path, unpack);
    std::string part(at_once, '\0');
    for (std::size_t got = 1; got > 0 && to.size() < kEnough;) {
      got = reader.read(part.data(), part.size());
      to.append(part, 0, got);
    }
  });
}

}  // namespace

void containers(std::string_view bytes) {
  Choices choices(bytes);
  const std::array<std::size_t, 4> sizes{1, 100, 4096, 1 << 18};
  const std::size_t at_once = sizes[choices.below(4)];
  const std::string path = memory_file().write(bytes);
  std::string all, again;
  const std::string message = unpacked(path, ByteReader::Unpack::here, 1 << 16, all);
  const std::string other =
      unpacked(path, choices.flag() ? ByteReader::Unpack::ahead : ByteReader::Unpack::here, at_once, again);
  const std::size_t common = std::min(all.size(), again.size());
  if (common < kEnough) {
    expect(message == other && all == again, "the same however it is read");
  } else {
    expect(all.compare(0, kEnough, again, 0, kEnough) == 0, "the same beginning however it is read");
  }
  message_of([&] {
    LineReader lines(path);
    std::size_t size = 0;
    for (std::string_view line; size < kEnough && lines.next(line);) size += line.size() + 1;
  });
}

}  // namespace espalier::fuzz
