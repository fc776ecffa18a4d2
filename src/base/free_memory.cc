#include "base/free_memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace espalier {
namespace {

// The number in the first line of a file of /proc that has this format; 0 where there is none.
std::size_t number_in(const char* path, const char* format) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path, "re"), &std::fclose);
  if (!file) return 0;
  char line[256];
  while (std::fgets(line, sizeof(line), file.get()) != nullptr) {
    std::size_t number = 0;
    if (std::sscanf(line, format, &number) == 1) return number;
  }
  return 0;
}

constexpr std::size_t kKilobyte = 1024;

}  // namespace

void return_free_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

std::size_t resident_memory() {
  return number_in("/proc/self/statm", "%*u %zu") * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

std::size_t peak_memory() {
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  return static_cast<std::size_t>(usage.ru_maxrss) * kKilobyte;
}

std::size_t available_memory() { return number_in("/proc/meminfo", "MemAvailable: %zu") * kKilobyte; }

}  // namespace espalier
