#pragma once

#include <cstddef>
#include <string>

namespace espalier {

// 59000 -> "59,000"
std::string grouped(std::size_t number);

}  // namespace espalier
