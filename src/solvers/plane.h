#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace espalier {

// The slope of a cutting plane: a vector as long as all weights that does not change any more, kept as
// floats. Where more than half of it is zero, as it is for a maximum once most examples are right, only the
// rest is kept.
class Plane {
 public:
  // Rounds the slope that it is given to what it keeps.
  explicit Plane(std::span<double> slope);

  double dot(std::span<const double> x) const;
  // out += scale * slope, for the elements from `begin` to `end`.
  void add_to(double scale, std::size_t begin, std::size_t end, std::span<double> out) const;
  // |slope given - slope kept|
  double rounding() const { return rounding_; }

 private:
  std::vector<std::uint32_t> places_;  // empty: all of them
  std::vector<float> values_;
  double rounding_ = 0;
};

}  // namespace espalier
