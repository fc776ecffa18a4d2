#include "cli/ranks.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <system_error>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "tasks/blocks_on_ranks.h"

namespace espalier::cli {
namespace {

std::unique_ptr<LaunchedFleet> the_fleet;
bool asked_for_fleet = false;

void fall_silent() {
  const int nowhere = ::open("/dev/null", O_WRONLY);
  if (nowhere < 0) return;
  ::dup2(nowhere, STDOUT_FILENO);
  ::dup2(nowhere, STDERR_FILENO);
  ::close(nowhere);
}

}  // namespace

LaunchedFleet* joined_fleet() {
  if (asked_for_fleet) return the_fleet.get();
  asked_for_fleet = true;
  {
    // Who has not joined yet is ended by whoever started it, who says why.
    const NothingToSay meanwhile;
    the_fleet = join_launched_fleet();
    if (the_fleet && the_fleet->rank() != 0) fall_silent();
  }
  if (!the_fleet) return nullptr;
  end_at(SIGUSR1);  // which mpirun passes on; to others it does not leave the time to save anything
  the_fleet->report = [](std::size_t rank, const std::string& words) {
    if (words.empty()) {
      complain(fmt::format("rank {} has ended; so does this run", rank));
    } else {
      complain(rank == 0 ? words : fmt::format("rank {}: {}", rank, words));
    }
  };
  return the_fleet.get();
}

LaunchedFleet* fleet_if_joined() { return the_fleet.get(); }

void leave_fleet() { the_fleet.reset(); }

bool is_first_rank() { return !the_fleet || the_fleet->rank() == 0; }

void work_on_ranks(const std::string& task, const std::string& file, const std::function<void()>& work) {
  if (!the_fleet) return work();
  // Rank 0 alone has standard input, and a pipe is read by one. Classification reads all examples before it
  // works, which is most of what it does.
  std::error_code error;
  const bool alone = task == "classify" || !std::filesystem::is_regular_file(file, error);
  if (the_fleet->any(alone)) {
    if (is_first_rank()) work();
  } else {
    const BlocksOnRanks blocks(*the_fleet);
    try {
      work();
    } catch (const BlocksOnRanks::Done&) {
    }
  }
  the_fleet->meet();
}

}  // namespace espalier::cli
