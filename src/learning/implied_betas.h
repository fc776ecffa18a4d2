#pragma once

namespace espalier {

// Weights of a maximum (beta = infinity) imply one best output for each example, whose dual is far too loose.
// So they are taken for weights of finite betas, of which the best dual counts.

// For certificates, which need any bound, often, and whatever gamma is: from nearly uniform over the good
// outputs to nearly one of them. Each of them costs a pass, and the search ends where the dual falls.
inline constexpr double kCertificateBetas[] = {1, 4, 16, 64, 256};

// For duals that eg goes on from, times 1/gamma. The first is that at which eg itself would begin
// (EgSmoothing), since it only ever raises beta. Each costs a pass, but once a run, so that steps are a
// little finer.
inline constexpr double kStartBetas[] = {10, 30, 100, 300, 1000};

}  // namespace espalier
