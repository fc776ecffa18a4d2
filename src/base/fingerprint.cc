#include "base/fingerprint.h"

#include <xxhash.h>

#include <new>

namespace espalier {

struct Fingerprint::State {
  State() : xxh3(XXH3_createState()) {
    if (xxh3 == nullptr) throw std::bad_alloc();
    XXH3_64bits_reset(xxh3);
  }
  ~State() { XXH3_freeState(xxh3); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  XXH3_state_t* xxh3;
};

Fingerprint::Fingerprint() : state_(std::make_unique<State>()) {}
Fingerprint::~Fingerprint() = default;

void Fingerprint::clear() { XXH3_64bits_reset(state_->xxh3); }

void Fingerprint::add_bytes(std::string_view bytes) {
  XXH3_64bits_update(state_->xxh3, bytes.data(), bytes.size());
}

std::uint64_t fingerprint_of(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

std::uint64_t Fingerprint::value() const { return XXH3_64bits_digest(state_->xxh3); }

}  // namespace espalier
