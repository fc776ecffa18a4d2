#include "tasks/blocks_on_ranks.h"

namespace espalier {
namespace {

// Of the thread that reads and writes: tests have ranks that are threads.
thread_local Communicator* fleet_of_blocks = nullptr;

}  // namespace

BlocksOnRanks::BlocksOnRanks(Communicator& fleet) { fleet_of_blocks = &fleet; }
BlocksOnRanks::~BlocksOnRanks() { fleet_of_blocks = nullptr; }
Communicator* BlocksOnRanks::fleet() { return fleet_of_blocks; }

void ResultExchange::exchange(char failed, std::string_view bytes) {
  ++groups_;
  mine_.assign(1, failed);
  mine_ += bytes;
  std::vector<std::string_view> to(fleet_.size());
  to.front() = mine_;  // the others need nothing
  fleet_.exchange(to, from_);
}

void ResultExchange::fail(const Error& error) {
  for (;;) exchange('\1', error.marked());
}

std::string_view ResultExchange::results_of(std::size_t block) const {
  const std::string_view bytes = from_[block % fleet_.size()].bytes();
  if (bytes.front() != '\0') throw Error(std::string(bytes.substr(1)));
  return bytes.substr(1);
}

void ResultExchange::end(std::size_t blocks) {
  const std::size_t groups = (blocks + fleet_.size() - 1) / fleet_.size();
  // A group that has no block for this rank, and whether somebody has failed after its last one.
  while (groups_ < groups + 1) exchange('\0', {});
  if (!is_first()) throw BlocksOnRanks::Done();
  for (std::size_t r = 1; r < fleet_.size(); ++r) results_of(r);
}

}  // namespace espalier
