// Ranks as processes of MPI. Nothing here blocks inside MPI: who waits also looks after the others, and
// leaves the processor to them where several ranks share it.

#include "fleet/mpi_fleet.h"

#ifdef ESPALIER_MPI

#define OMPI_SKIP_MPICXX 1  // C++ bindings, which nobody has any more
#define MPICH_SKIP_MPICXX 1
#include <fmt/format.h>
#include <mpi.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <thread>
#include <utility>

#include "espalier/base/error.h"

namespace espalier {
namespace {

constexpr int kParcel = 1, kFailure = 2;  // tags
constexpr int kFailed = 2;                // exit status
// Counts are of type int.
constexpr std::size_t kLargestPiece = std::size_t{1} << 30;

// Whether it has ended, also where nobody has asked for its status yet.
bool process_has_ended(pid_t process) {
  if (::kill(process, 0) != 0 && errno == ESRCH) return true;
  const std::string path = fmt::format("/proc/{}/stat", process);
  std::FILE* file = std::fopen(path.c_str(), "r");
  if (file == nullptr) return false;
  char text[512] = {};
  const std::size_t length = std::fread(text, 1, sizeof(text) - 1, file);
  std::fclose(file);
  // "1234 (name) Z ..."
  const std::string_view stat(text, length);
  const std::size_t name_end = stat.rfind(") ");
  return name_end != stat.npos && name_end + 2 < stat.size() && stat[name_end + 2] == 'Z';
}

class MpiFleet final : public LaunchedFleet {
 public:
  MpiFleet(int rank, int size)
      : LaunchedFleet(static_cast<std::size_t>(rank), static_cast<std::size_t>(size)) {
    MPI_Comm_dup(MPI_COMM_WORLD, &world_);
    MPI_Comm_set_errhandler(world_, MPI_ERRORS_RETURN);
    find_neighbours();
  }
  ~MpiFleet() override { MPI_Finalize(); }

  [[noreturn]] void fail(const std::string& words, int status) override {
    if (rank() != 0) {
      // Rank 0 says it, and ends all: it may be at work for a while before it looks.
      MPI_Request request;
      MPI_Isend(words.data(), static_cast<int>(words.size()), MPI_CHAR, 0, kFailure, world_, &request);
      for (int seconds = 0; seconds < 60; ++seconds) {
        int done = 0;
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        std::this_thread::sleep_for(std::chrono::seconds(1));
      }
    } else if (report) {
      report(0, words);
    }
    end_all(status);
  }

 private:
  // Processes on the same machine, whose end is seen from here.
  struct Neighbour {
    std::size_t rank;
    pid_t process;
  };

  void find_neighbours() {
    char host[256] = {};
    ::gethostname(host, sizeof(host) - 1);
    const std::string own = fmt::format("{}/{}", host, ::getpid());
    const std::vector<std::string> all = gather(own);
    const std::string prefix = std::string(host) + '/';
    for (std::size_t r = 0; r < size(); ++r) {
      if (r == rank() || !all[r].starts_with(prefix)) continue;
      const auto process = static_cast<pid_t>(std::atol(all[r].c_str() + prefix.size()));
      // Containers may have the same name of the host and other numbers.
      if (process > 0 && !process_has_ended(process)) neighbours_.push_back({r, process});
    }
    gather({});  // nobody has gone on before all have looked
  }

  [[noreturn]] void end_all(int status) {
    // mpirun ends this process, too, whose last words are no interrupt.
    ::signal(SIGTERM, SIG_IGN);
    std::fflush(stderr);
    MPI_Abort(world_, status);
    std::_Exit(status);
  }

  void check(int code) {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING] = {};
    int length = 0;
    MPI_Error_string(code, text, &length);
    fail(fmt::format("MPI: {}; expected all ranks to be reachable",
                     std::string_view(text, static_cast<std::size_t>(length))),
         kFailed);
  }

  // What others may want while this one waits.
  void look_after_others() {
    if (rank() == 0) {
      int there = 0;
      MPI_Status status;
      check(MPI_Iprobe(MPI_ANY_SOURCE, kFailure, world_, &there, &status));
      if (there != 0) {
        int length = 0;
        MPI_Get_count(&status, MPI_CHAR, &length);
        std::string words(static_cast<std::size_t>(length), '\0');
        MPI_Recv(words.data(), length, MPI_CHAR, status.MPI_SOURCE, kFailure, world_, MPI_STATUS_IGNORE);
        if (report) report(static_cast<std::size_t>(status.MPI_SOURCE), words);
        end_all(kFailed);
      }
    }
    for (const Neighbour& neighbour : neighbours_) {
      if (!process_has_ended(neighbour.process)) continue;
      // Rank 0 has the word. The others give it the time to say so.
      if (rank() == 0 && report) report(neighbour.rank, "");
      if (rank() != 0) std::this_thread::sleep_for(std::chrono::seconds(2));
      end_all(kFailed);
    }
  }

  void wait(std::vector<MPI_Request>& requests) {
    using Clock = std::chrono::steady_clock;
    constexpr auto kLook = std::chrono::milliseconds(100);
    constexpr int kAtOnce = 2000;  // looks before it sleeps: about a millisecond
    auto looked = Clock::now();
    for (int round = 0;; ++round) {
      int done = 0;
      check(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE));
      if (done != 0) return;
      if (round < kAtOnce) {
        std::this_thread::yield();
      } else {
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
      if (Clock::now() - looked < kLook) continue;
      looked = Clock::now();
      look_after_others();
    }
  }

  // How much each rank has to say, and the first of it: what is short needs no second call.
  struct Opening {
    std::uint64_t bytes = 0;
    char first[120] = {};
  };

  std::vector<std::string> do_gather(std::string_view mine) override {
    Opening own;
    own.bytes = mine.size();
    std::memcpy(own.first, mine.data(), std::min(mine.size(), sizeof(own.first)));
    std::vector<Opening> openings(size());
    std::vector<MPI_Request> opening(1);
    constexpr int kOpening = sizeof(Opening);
    check(MPI_Iallgather(&own, kOpening, MPI_BYTE, openings.data(), kOpening, MPI_BYTE, world_,
                         opening.data()));
    wait(opening);
    std::vector<std::uint64_t> sizes(size());
    std::uint64_t total = 0, largest = 0;
    for (std::size_t r = 0; r < size(); ++r) {
      sizes[r] = openings[r].bytes;
      total += sizes[r];
      largest = std::max(largest, sizes[r]);
    }
    std::vector<std::string> all(size());
    if (largest <= sizeof(own.first)) {
      for (std::size_t r = 0; r < size(); ++r) all[r].assign(openings[r].first, sizes[r]);
      return all;
    }
    if (total > kLargestPiece) {
      const std::vector<std::string_view> to(size(), mine);
      std::vector<Parcel> from(size());
      do_exchange(to, from);
      std::vector<std::string> all(size());
      for (std::size_t r = 0; r < size(); ++r) {
        all[r] = r == rank() ? mine : from[r].bytes();
        from[r] = {};
      }
      return all;
    }
    std::vector<int> counts(size()), places(size());
    int place = 0;
    for (std::size_t r = 0; r < size(); ++r) {
      counts[r] = static_cast<int>(sizes[r]);
      places[r] = place;
      place += counts[r];
    }
    std::string together(total, '\0');
    std::vector<MPI_Request> requests(1);
    check(MPI_Iallgatherv(mine.data(), static_cast<int>(mine.size()), MPI_CHAR, together.data(),
                          counts.data(), places.data(), MPI_CHAR, world_, requests.data()));
    wait(requests);
    for (std::size_t r = 0; r < size(); ++r)
      all[r] = together.substr(static_cast<std::size_t>(places[r]), sizes[r]);
    return all;
  }

  // How much there is, and the first of it, in a message that MPI sends at once: what is short is one
  // message.
  struct First {
    std::uint64_t bytes = 0;
    char first[4000] = {};
    static std::size_t part_of(std::uint64_t bytes) {
      return static_cast<std::size_t>(std::min<std::uint64_t>(bytes, sizeof(first)));
    }
  };

  void do_exchange(std::span<const std::string_view> to, std::vector<Parcel>& from) override {
    std::vector<MPI_Request> requests;
    const auto in_pieces = [&](std::size_t begin, std::size_t length, const auto& call) {
      for (; begin < length; begin += kLargestPiece) {
        requests.emplace_back();
        check(call(begin, static_cast<int>(std::min(kLargestPiece, length - begin)), &requests.back()));
      }
    };
    outgoing_.resize(size());
    incoming_.resize(size());
    // From the neighbours on, so that not everybody sends to rank 0 first.
    for (std::size_t k = 1; k < size(); ++k) {
      const std::size_t r = (rank() + size() - k) % size();
      requests.emplace_back();
      check(MPI_Irecv(&incoming_[r], sizeof(First), MPI_BYTE, static_cast<int>(r), kParcel, world_,
                      &requests.back()));
    }
    std::vector<MPI_Request> firsts = std::exchange(requests, {});
    for (std::size_t k = 1; k < size(); ++k) {
      const std::size_t r = (rank() + k) % size(), part = First::part_of(to[r].size());
      outgoing_[r].bytes = to[r].size();
      std::memcpy(outgoing_[r].first, to[r].data(), part);
      requests.emplace_back();
      check(MPI_Isend(&outgoing_[r], static_cast<int>(sizeof(First) - sizeof(First::first) + part), MPI_BYTE,
                      static_cast<int>(r), kParcel, world_, &requests.back()));
      in_pieces(part, to[r].size(), [&](std::size_t begin, int count, MPI_Request* request) {
        return MPI_Isend(to[r].data() + begin, count, MPI_CHAR, static_cast<int>(r), kParcel, world_,
                         request);
      });
    }
    wait(firsts);
    for (std::size_t k = 1; k < size(); ++k) {
      const std::size_t r = (rank() + size() - k) % size();
      const std::uint64_t bytes = incoming_[r].bytes;
      char* const into = from[r].resize(bytes);
      const std::size_t part = First::part_of(bytes);
      std::memcpy(into, incoming_[r].first, part);
      in_pieces(part, bytes, [&](std::size_t begin, int count, MPI_Request* request) {
        return MPI_Irecv(into + begin, count, MPI_CHAR, static_cast<int>(r), kParcel, world_, request);
      });
    }
    wait(requests);
  }

  std::vector<First> outgoing_, incoming_;
  MPI_Comm world_ = MPI_COMM_NULL;
  std::vector<Neighbour> neighbours_;
};

}  // namespace

std::unique_ptr<LaunchedFleet> join_mpi_fleet() {
  int provided = 0, rank = 0, size = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return std::make_unique<MpiFleet>(rank, size);
}

}  // namespace espalier

#endif
