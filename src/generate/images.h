#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"

namespace espalier {

// A small picture of ink on paper, and the same seen through noise: each pixel is true or false in both.
struct NoisyImage {
  static constexpr std::size_t kSide = 8;
  std::vector<bool> ink, dark;  // row by row; dark is what is seen
};

// Pictures of a few filled rectangles and discs, of which one pixel in five is seen wrong. The same seed
// gives the same pictures, whatever the machine.
class NoisyImages {
 public:
  explicit NoisyImages(std::uint64_t seed) : random_(seed) {}
  NoisyImage next();

 private:
  Random random_;
};

// A line of JSON for the graph task: a node for each pixel, labelled ink or paper, and cliques of the types
// right and down for neighbours.
void append_graph(const NoisyImage& image, std::string& out);

}  // namespace espalier
