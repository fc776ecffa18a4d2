#include "generate/images.h"

#include "base/text.h"

namespace espalier {

NoisyImage NoisyImages::next() {
  constexpr std::size_t kSide = NoisyImage::kSide;
  constexpr double kWrong = 0.2;
  NoisyImage image;
  image.ink.assign(kSide * kSide, false);
  const std::size_t shapes = 1 + random_.below(3);
  for (std::size_t k = 0; k < shapes; ++k) {
    const bool disc = random_.below(2) == 0;
    const auto middle_row = static_cast<int>(random_.below(kSide)),
               middle_column = static_cast<int>(random_.below(kSide));
    const auto height = static_cast<int>(1 + random_.below(3)),
               width = static_cast<int>(1 + random_.below(3));
    for (int row = 0; row < static_cast<int>(kSide); ++row) {
      for (int column = 0; column < static_cast<int>(kSide); ++column) {
        const int down = row - middle_row, right = column - middle_column;
        const bool inside = disc ? down * down + right * right <= height * height + 1
                                 : down * down <= height * height && right * right <= width * width;
        if (inside)
          image.ink[static_cast<std::size_t>(row) * kSide + static_cast<std::size_t>(column)] = true;
      }
    }
  }
  for (const bool ink : image.ink) image.dark.push_back(random_.uniform() < kWrong ? !ink : ink);
  return image;
}

void append_graph(const NoisyImage& image, std::string& out) {
  constexpr std::size_t kSide = NoisyImage::kSide;
  out += "{\"nodes\":[";
  for (std::size_t v = 0; v < image.dark.size(); ++v)
    append_format(out, "{}{{\"type\":\"pixel\",\"features\":[\"{}\"]}}", v == 0 ? "" : ",",
                  image.dark[v] ? "dark" : "light");
  out += "],\"cliques\":[";
  const char* comma = "";
  for (std::size_t v = 0; v < image.dark.size(); ++v) {
    const auto add = [&](const char* type, std::size_t other) {
      append_format(out, "{}{{\"type\":\"{}\",\"nodes\":[{},{}]}}", comma, type, v, other);
      comma = ",";
    };
    if (v % kSide + 1 < kSide) add("right", v + 1);
    if (v + kSide < image.dark.size()) add("down", v + kSide);
  }
  out += "],\"labels\":[";
  for (std::size_t v = 0; v < image.ink.size(); ++v)
    append_format(out, "{}\"{}\"", v == 0 ? "" : ",", image.ink[v] ? "ink" : "paper");
  out += "]}\n";
}

}  // namespace espalier
