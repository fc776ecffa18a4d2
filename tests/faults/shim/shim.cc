// Makes calls of the system fail on purpose: preloaded (LD_PRELOAD) it stands between the program and the C
// library. What it does is said by two variables of the environment.
//
//   ESPALIER_FAULT=KIND:FIRST:COUNT:ERRNO[:NAME]
//     From the FIRST call of its kind on (counted from 1), COUNT calls fail with this error. With NAME only
//     calls count that are for a file whose path ends with it, or for standard error ("stderr").
//     "half" and "interrupted" are no failures: reads and writes of regular files and pipes move half of what
//     they are to, and every second one is interrupted by a signal.
//   ESPALIER_FAULT_RECORD=FILE
//     Gets a line for every call that changes or orders what is on the disk, and in the end a line
//     "count KIND NUMBER" for every kind.
//
// It counts from the beginning of main() to its end: what the loader does before is not ours. Allocations
// count from the first file that is opened on: before, there are tables of options, which CLI11 keeps in
// functions that may not throw.

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
}

namespace {

enum Kind { kOpen, kRead, kWrite, kStream, kSync, kRename, kMap, kAllocate, kThread, kKinds };
constexpr const char* kNames[kKinds] = {"open",   "read", "write",    "stream", "sync",
                                        "rename", "map",  "allocate", "thread"};

std::atomic<bool> counting{false}, opened{false};
std::atomic<long> counts[kKinds];
std::atomic<long> calls{0};  // of reads and writes, for "interrupted"
int faulty = kKinds;
long first_fault = 0, last_fault = 0;
int error = 0;
const char* only_name = "";
bool half = false, interrupted = false;
int record = -1;

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

// The name of an open file, without the C library.
void name_of(int fd, char* name, std::size_t size) {
  char link[64];
  std::snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
  const long length = syscall(SYS_readlink, link, name, size - 1);
  name[length < 0 ? 0 : length] = '\0';
}

bool ends_with(const char* text, const char* ending) {
  const std::size_t length = std::strlen(text), end = std::strlen(ending);
  return length >= end && std::strcmp(text + length - end, ending) == 0;
}

void note(const char* what, const char* name, const char* other = "") {
  if (record < 0 || !counting.load()) return;
  char line[2 * 4096 + 64];
  const int length = std::snprintf(line, sizeof(line), "%s %s %s\n", what, name, other);
  syscall(SYS_write, record, line, static_cast<std::size_t>(length));
}

// Counts a call; true if it is to fail, with errno set.
bool fails(Kind kind, const char* name) {
  if (!counting.load(std::memory_order_relaxed)) return false;
  if (kind == kAllocate && !opened.load(std::memory_order_relaxed)) return false;
  if (*only_name != '\0' && !ends_with(name, only_name)) return false;
  const long count = ++counts[kind];
  if (kind != faulty || count < first_fault || count > last_fault) return false;
  errno = error;
  return true;
}

bool fails(Kind kind, int fd) {
  char name[4096] = "";
  if (*only_name != '\0') name_of(fd, name, sizeof(name));
  return fails(kind, fd == STDERR_FILENO ? "stderr" : name);
}

// The mark that a failed call leaves, which ferror() finds.
bool stream_fails(std::FILE* stream) {
  if (!fails(kStream, fileno(stream))) return false;
  stream->_flags |= _IO_ERR_SEEN;
  return true;
}

void read_settings() {
  if (const char* file = std::getenv("ESPALIER_FAULT_RECORD"))
    record =
        static_cast<int>(syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  const char* fault = std::getenv("ESPALIER_FAULT");
  if (fault == nullptr) return;
  half = std::strcmp(fault, "half") == 0;
  interrupted = std::strcmp(fault, "interrupted") == 0;
  char kind[16];
  static char name[256];
  long count = 0;
  if (std::sscanf(fault, "%15[^:]:%ld:%ld:%d:%255s", kind, &first_fault, &count, &error, name) < 4) return;
  last_fault = first_fault + count - 1;
  only_name = name;
  for (int k = 0; k < kKinds; ++k) {
    if (std::strcmp(kind, kNames[k]) == 0) faulty = k;
  }
}

int (*real_main)(int, char**, char**);

int counted_main(int argc, char** argv, char** environment) {
  read_settings();
  counting = true;
  const int status = real_main(argc, argv, environment);
  counting = false;
  for (int k = 0; k < kKinds && record >= 0; ++k) {
    char line[64];
    const int length = std::snprintf(line, sizeof(line), "count %s %ld\n", kNames[k], counts[k].load());
    syscall(SYS_write, record, line, static_cast<std::size_t>(length));
  }
  return status;
}

int open_file(const char* path, int flags, mode_t mode) {
  opened = true;
  if (fails(kOpen, path)) return -1;
  if ((flags & O_ACCMODE) != O_RDONLY) note("open", path);
  return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

// How much of it is moved, or 0: none, with errno set.
std::size_t moved(std::size_t size) {
  if (!counting.load(std::memory_order_relaxed)) return size;
  if (interrupted && size > 0 && ++calls % 2 == 1) {
    errno = EINTR;
    return 0;
  }
  return half ? (size + 1) / 2 : size;
}

}  // namespace

extern "C" {

int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(), void (*fini)(),
                      void (*rtld_fini)(), void* stack_end) {
  using Start = int (*)(int (*)(int, char**, char**), int, char**, void (*)(), void (*)(), void (*)(), void*);
  real_main = main;
  return next<Start>("__libc_start_main")(counted_main, argc, argv, init, fini, rtld_fini, stack_end);
}

int open(const char* path, int flags, ...) {
  mode_t mode = 0;
  if ((flags & O_CREAT) != 0) {
    va_list rest;
    va_start(rest, flags);
    mode = va_arg(rest, mode_t);
    va_end(rest);
  }
  return open_file(path, flags, mode);
}
int open64(const char* path, int flags, ...) __attribute__((alias("open")));
// What -D_FORTIFY_SOURCE makes of open() and read().
int __open_2(const char* path, int flags) { return open_file(path, flags, 0); }
int __open64_2(const char* path, int flags) { return open_file(path, flags, 0); }

ssize_t read(int fd, void* to, std::size_t size) {
  if (fails(kRead, fd)) return -1;
  const std::size_t now = moved(size);
  return now == 0 && size > 0 ? -1 : syscall(SYS_read, fd, to, now);
}
ssize_t __read_chk(int fd, void* to, std::size_t size, std::size_t) { return read(fd, to, size); }

ssize_t write(int fd, const void* from, std::size_t size) {
  if (fails(kWrite, fd)) return -1;
  char name[4096];
  if (record >= 0) {
    name_of(fd, name, sizeof(name));
    note("write", name);
  }
  const std::size_t now = moved(size);
  return now == 0 && size > 0 ? -1 : syscall(SYS_write, fd, from, now);
}

int fsync(int fd) {
  if (fails(kSync, fd)) return -1;
  char name[4096];
  name_of(fd, name, sizeof(name));
  note("sync", name);
  return static_cast<int>(syscall(SYS_fsync, fd));
}

int rename(const char* from, const char* to) noexcept {
  if (fails(kRename, to)) return -1;
  note("rename", from, to);
  return static_cast<int>(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

void* mmap(void* at, std::size_t size, int protection, int flags, int fd, off_t offset) noexcept {
  if (fails(kMap, fd)) return MAP_FAILED;
  return reinterpret_cast<void*>(syscall(SYS_mmap, at, size, protection, flags, fd, offset));
}
void* mmap64(void*, std::size_t, int, int, int, off_t) noexcept __attribute__((alias("mmap")));

std::FILE* fopen(const char* path, const char* mode) {
  if (fails(kStream, path)) return nullptr;
  return next<std::FILE* (*)(const char*, const char*)>("fopen")(path, mode);
}
std::FILE* fopen64(const char*, const char*) __attribute__((alias("fopen")));

std::size_t fwrite(const void* from, std::size_t size, std::size_t count, std::FILE* stream) {
  if (stream_fails(stream)) return 0;
  static const auto real = next<std::size_t (*)(const void*, std::size_t, std::size_t, std::FILE*)>("fwrite");
  return real(from, size, count, stream);
}

int fputs(const char* text, std::FILE* stream) {
  if (stream_fails(stream)) return EOF;
  static const auto real = next<int (*)(const char*, std::FILE*)>("fputs");
  return real(text, stream);
}

int fflush(std::FILE* stream) {
  if (stream != nullptr && stream_fails(stream)) return EOF;
  static const auto real = next<int (*)(std::FILE*)>("fflush");
  return real(stream);
}

void* malloc(std::size_t size) noexcept { return fails(kAllocate, "") ? nullptr : __libc_malloc(size); }
void* calloc(std::size_t count, std::size_t size) noexcept {
  return fails(kAllocate, "") ? nullptr : __libc_calloc(count, size);
}
void* realloc(void* old, std::size_t size) noexcept {
  return fails(kAllocate, "") ? nullptr : __libc_realloc(old, size);
}
void* memalign(std::size_t alignment, std::size_t size) noexcept {
  return fails(kAllocate, "") ? nullptr : __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept { return memalign(alignment, size); }
int posix_memalign(void** result, std::size_t alignment, std::size_t size) noexcept {
  void* memory = memalign(alignment, size);
  if (memory == nullptr) return ENOMEM;
  *result = memory;
  return 0;
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                   void* argument) noexcept {
  if (fails(kThread, "")) return error;
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  return next<Create>("pthread_create")(thread, attributes, run, argument);
}

}  // extern "C"
