// FUZZ_TARGET=NAME espalier_fuzz [LIBFUZZER-ARGUMENT...] [CORPUS...]

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "fuzzing/targets.h"

extern "C" int LLVMFuzzerRunDriver(int* argc, char*** argv, int (*test)(const std::uint8_t*, std::size_t));

namespace espalier::fuzz {
namespace {

constexpr struct {
  std::string_view name;
  Target target;
} kTargets[] = {
    {"json", json},
    {"messages", messages},
    {"numbers", numbers},
    {"containers", containers},
    {"columns", columns},
    {"crfsuite", crfsuite},
    {"wapiti", wapiti},
    {"templates", templates},
    {"regex", regex},
    {"libsvm", libsvm},
    {"named", named},
    {"rows", rows},
    {"text", text},
    {"idx", idx},
    {"taken", taken},
    {"ranks", ranks},
    {"dependencies", dependencies},
    {"pairs", pairs},
    {"brackets", brackets},
    {"graphs", graphs},
    {"uai", uai},
    {"dumps", dumps},
    {"costs", costs},
    {"constraints", constraints},
    {"gazetteer", gazetteer},
    {"model", model},
    {"remodel", remodel},
    {"checkpoint", checkpoint},
    {"predict", predict},
    {"chains", chains},
};

Target chosen = nullptr;

int run_once(const std::uint8_t* data, std::size_t size) {
  chosen({reinterpret_cast<const char*>(data), size});
  return 0;
}

}  // namespace
}  // namespace espalier::fuzz

int main(int argc, char** argv) {
  using namespace espalier::fuzz;
  // Not an argument, since libFuzzer starts this program anew with arguments of its own.
  const char* const name = std::getenv("FUZZ_TARGET");
  for (const auto& row : kTargets) {
    if (name != nullptr && row.name == name) chosen = row.target;
    if (name == nullptr) std::printf("%s\n", row.name.data());
  }
  if (chosen == nullptr) return name == nullptr ? 0 : 2;
  return LLVMFuzzerRunDriver(&argc, &argv, run_once);
}
