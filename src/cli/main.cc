#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/ranks.h"

namespace espalier::cli {
namespace {

// A standard stream that is closed (2>&-) would lend its number to the next file that is opened, a model say,
// and what is said on standard error would end up there. In its place: something that only fails.
void occupy_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) >= 0) continue;
    [[maybe_unused]] const int lowest_free =
        ::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

}  // namespace

}  // namespace espalier::cli

int main(int argc, char** argv) {
  using namespace espalier::cli;
  occupy_closed_streams();
  end_at_interrupts();
  std::signal(SIGXFSZ, SIG_IGN);  // a file beyond `ulimit -f` is an error of writing like others
  const int status = run({argv + 1, argv + argc});
  leave_fleet();
  // A path's table, the demo and --help are printed without looking back.
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    if (status != kUserError)
      complain("standard output: cannot be written; free some space or write elsewhere");
    return kUserError;
  }
  return status;
}
