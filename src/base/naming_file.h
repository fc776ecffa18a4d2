#pragma once

#include <new>
#include <string>

#include "espalier/base/error.h"

namespace espalier {

// What `call` returns; where memory runs out meanwhile, the message says which file that was for.
template <class Call>
auto naming_file(const std::string& file, const Call& call) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    throw Error::in(file == "-" ? "standard input" : file, "out of memory",
                    "expected a larger machine, less data or fewer labels");
  }
}

}  // namespace espalier
