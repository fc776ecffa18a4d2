#pragma once

#include <string>

#include "espalier/base/error.h"

namespace espalier::testing {

// The message of the Error that a call throws.
template <class Call>
std::string error_message(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "(no error)";
}

}  // namespace espalier::testing
