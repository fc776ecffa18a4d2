#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <system_error>
#include <vector>

#include "base/input.h"
#include "espalier/base/error.h"
#include "tasks/classify/builder.h"

namespace espalier {
namespace {

// Unsigned bytes in three dimensions, and in one. Numbers are big-endian.
constexpr std::uint32_t kImages = 0x00000803, kLabels = 0x00000801;
constexpr std::uint64_t kMostPixels = std::uint64_t{1} << 26;
constexpr const char* kCopyAgain = "copy or download the file again";

struct Paths {
  std::string images;
  std::optional<std::string> labels;
};

// A file may have a comma in its name; then it is not a pair.
Paths split(const std::string& path) {
  const std::size_t comma = path.find(',');
  std::error_code ignored;
  if (comma == std::string::npos || std::filesystem::exists(path, ignored)) return {path, std::nullopt};
  return {path.substr(0, comma), path.substr(comma + 1)};
}

class IdxFile {
 public:
  // `what` is "images" or "labels".
  IdxFile(const std::string& path, std::uint32_t magic, const char* what, ByteReader::Unpack unpack)
      : bytes_(path, unpack), what_(what) {
    const std::uint32_t found = number();
    if (found == (magic == kImages ? kLabels : kImages)) {
      throw Error::in(name(), fmt::format("an IDX file of {}", magic == kImages ? "labels" : "images"),
                      fmt::format("expected one of {}; the order is IMAGES,LABELS", what));
    }
    if (found != magic) {
      throw Error::in(name(), fmt::format("begins with {:08x}", found),
                      fmt::format("expected {:08x}, an IDX file of {}", magic, what));
    }
    count_ = number();
  }

  const std::string& name() const { return bytes_.name(); }
  std::uint32_t count() const { return count_; }

  std::uint32_t number() {
    std::array<unsigned char, 4> b{};
    if (read_some(b.data(), 4) < 4) {
      throw Error::in(name(), "truncated: the header is incomplete", kCopyAgain);
    }
    return std::uint32_t{b[0]} << 24 | std::uint32_t{b[1]} << 16 | std::uint32_t{b[2]} << 8 | b[3];
  }

  // The next item, of as many bytes as `item` has.
  void read(std::vector<unsigned char>& item) {
    if (read_some(item.data(), item.size()) < item.size()) {
      throw Error::in(name(), fmt::format("truncated: {} of {} {}", done_, count_, what_), kCopyAgain);
    }
    ++done_;
  }

  void expect_end() {
    char byte;
    if (bytes_.read(&byte, 1) != 0) {
      throw Error::in(name(), fmt::format("unexpected bytes after {} {}", count_, what_), kCopyAgain);
    }
  }

 private:
  // Up to n bytes, fewer only at the end.
  std::size_t read_some(unsigned char* to, std::size_t n) {
    char* bytes = reinterpret_cast<char*>(to);
    std::size_t done = bytes_.read(bytes, n);
    if (done < n) done += bytes_.read(bytes + done, n - done);  // throws if it is not the end
    return done;
  }

  ByteReader bytes_;
  const char* what_;
  std::uint32_t count_ = 0, done_ = 0;
};

// The attributes of the pixels, taken into the dictionary when a pixel is first seen that is not 0.
class Pixels {
 public:
  Pixels(std::uint32_t columns, ClassifyBuilder& builder) : columns_(columns), builder_(builder) {
    for (int v = 0; v < 256; ++v) scaled_[static_cast<std::size_t>(v)] = static_cast<float>(v) / 255.0f;
  }

  void add(const std::vector<unsigned char>& image) {
    if (ids_.empty()) ids_.resize(image.size(), kUnasked);  // once an image as large as is said was there
    for (std::size_t pixel = 0; pixel < image.size(); ++pixel) {
      if (image[pixel] == 0) continue;
      if (ids_[pixel] == kUnasked) {
        ids_[pixel] = builder_.attribute(fmt::format("{},{}", pixel / columns_, pixel % columns_));
      }
      builder_.add(static_cast<std::uint32_t>(ids_[pixel]), scaled_[image[pixel]]);
    }
  }

 private:
  static constexpr std::uint64_t kUnasked = ~std::uint64_t{0};  // no id, not even kUnknownAttribute

  std::uint32_t columns_;
  ClassifyBuilder& builder_;
  std::vector<std::uint64_t> ids_;
  std::array<float, 256> scaled_;
};

}  // namespace

bool looks_like_idx(const std::string& path) {
  if (split(path).labels) return true;
  // Reading from a pipe would take bytes away from the reader.
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  std::array<char, 4> start{};
  ByteReader(path).read(start.data(), start.size());
  const std::string_view magic(start.data(), start.size());
  return magic == std::string_view("\0\0\x08\x03", 4) || magic == std::string_view("\0\0\x08\x01", 4);
}

void read_idx(const std::string& path, const ClassifyReadOptions& options, ClassifyBuilder& builder) {
  const Paths paths = split(path);
  if (!paths.labels && options.labels_required) {
    throw Error::in(path, "images without labels",
                    "expected IMAGES,LABELS: two files with a comma between them");
  }
  const auto unpack = options.chunks.threads > 1 ? ByteReader::Unpack::ahead : ByteReader::Unpack::here;
  IdxFile images(paths.images, kImages, "images", unpack);
  const std::uint32_t rows = images.number(), columns = images.number();
  if (rows == 0 || columns == 0 || std::uint64_t{rows} * columns > kMostPixels) {
    throw Error::in(images.name(), fmt::format("images of {} x {} pixels", rows, columns),
                    fmt::format("expected between 1 and {} pixels", kMostPixels));
  }
  std::optional<IdxFile> labels;
  if (paths.labels) {
    labels.emplace(*paths.labels, kLabels, "labels", ByteReader::Unpack::here);
    if (labels->count() != images.count()) {
      throw Error::in(labels->name(), fmt::format("{} labels", labels->count()),
                      fmt::format("expected {}, as many as there are images", images.count()));
    }
  }

  Pixels pixels(columns, builder);
  std::vector<unsigned char> image(std::size_t{rows} * columns), label(1);
  while (!builder.full() && builder.size() < images.count()) {
    images.read(image);
    pixels.add(image);
    if (labels) {
      labels->read(label);
      builder.finish_example(std::to_string(label[0]));
    } else {
      builder.finish_example(std::nullopt);
    }
  }
  if (builder.size() == images.count()) {
    images.expect_end();
    if (labels) labels->expect_end();
  }
}

}  // namespace espalier
