#pragma once

#include <string>
#include <string_view>

namespace espalier {

// A kernel in the sense of Mercer, on the inputs x, y of nodes (tokens, examples):
//   linear  x.y
//   poly    (scale x.y + constant)^degree
//   rbf     exp(-gamma |x - y|^2)
// Each is the inner product of some features of x and of y, which nobody has to write down.
struct Kernel {
  enum class Kind { linear, poly, rbf };

  Kind kind = Kind::linear;
  int degree = 1;
  float constant = 1, scale = 1, gamma = 1;

  // "linear", "poly,DEGREE[,CONSTANT[,SCALE]]" with a constant of 1 and a scale of 1 where they are left out,
  // or "rbf,GAMMA". Throws Error for anything else: constants below 0, and scales and gammas that are not
  // above it, are no inner products.
  static Kernel parse(std::string_view text);
  // What parse() reads; every number written out.
  std::string name() const;

  friend bool operator==(const Kernel&, const Kernel&) = default;
};

}  // namespace espalier
