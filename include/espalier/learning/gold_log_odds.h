#pragma once

namespace espalier {

// Nats that a wrong part is behind the right one in duals that start near the gold outputs
// (Problem::add_near_gold). Much less than 10 leaves so much mass on wrong outputs that |w(u)|^2 of thousands
// of examples swamps the dual; much more only takes longer to come back from, and every mass has to be a
// float.
inline constexpr float kGoldLogOdds = 12;

}  // namespace espalier
