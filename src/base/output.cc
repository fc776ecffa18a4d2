#include "base/output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <new>
#include <utility>
#include <vector>

#include "espalier/base/error.h"

namespace espalier {
namespace {

constexpr std::size_t kWriteAtOnce = std::size_t{1} << 16;

// The temporary files that there are, where a signal handler can find them: it may neither allocate nor wait.
// More files at a time than there are places are forgotten, and stay behind if the program is killed.
enum class Place { free, changing, used, taken };
struct TemporaryName {
  std::atomic<Place> state{Place::free};
  char path[PATH_MAX] = "";
};
std::array<TemporaryName, 8> temporary_names;
static_assert(std::atomic<Place>::is_always_lock_free, "a signal handler may only touch lock-free atomics");

TemporaryName* remember(const std::string& path) {
  if (path.size() >= PATH_MAX) return nullptr;
  for (TemporaryName& name : temporary_names) {
    Place expected = Place::free;
    if (!name.state.compare_exchange_strong(expected, Place::changing)) continue;
    std::memcpy(name.path, path.c_str(), path.size() + 1);
    name.state.store(Place::used);
    return &name;
  }
  return nullptr;
}

void forget(TemporaryName* name) {
  if (name == nullptr) return;
  // One that the handler has taken stays its own: the program is about to end.
  Place expected = Place::used;
  name->state.compare_exchange_strong(expected, Place::free);
}

// Where the bytes go: an open file and the errors of writing to it.
struct Target {
  std::string path;       // as the user gave it, for messages
  std::string place;      // where the file will be, symbolic links followed
  std::string temporary;  // where it is until then; empty where it is written in place
  int fd = -1;
  TemporaryName* remembered = nullptr;

  void write(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t written = ::write(fd, bytes.data(), bytes.size());
      if (written >= 0) {
        bytes.remove_prefix(static_cast<std::size_t>(written));
      } else if (errno != EINTR) {
        fail_write();
      }
    }
  }
  [[noreturn]] void fail_write() const {
    throw Error::system(path, "write", errno, "free some space or write elsewhere");
  }
  [[noreturn]] void fail_create() const {
    throw Error::system(path, "create", errno, "expected a folder that exists and can be written");
  }
};

class Encoder {
 public:
  virtual ~Encoder() = default;
  // Packs bytes and writes what comes out; `last` ends the packed data.
  virtual void encode(std::string_view bytes, bool last, const Target& target) = 0;
};

class PlainEncoder : public Encoder {
 public:
  void encode(std::string_view bytes, bool, const Target& target) override { target.write(bytes); }
};

class GzipEncoder : public Encoder {
 public:
  GzipEncoder() : packed_(kWriteAtOnce) {
    // 15 + 16: the largest window, in gzip's format. Its header has neither name nor time.
    if (deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
      throw std::bad_alloc();
    }
  }
  ~GzipEncoder() override { deflateEnd(&stream_); }

  void encode(std::string_view bytes, bool last, const Target& target) override {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(packed_.data());
      stream_.avail_out = static_cast<uInt>(packed_.size());
      deflate(&stream_, last ? Z_FINISH : Z_NO_FLUSH);
      target.write({packed_.data(), packed_.size() - stream_.avail_out});
    } while (stream_.avail_out == 0);
  }

 private:
  z_stream stream_{};
  std::vector<char> packed_;
};

class ZstdEncoder : public Encoder {
 public:
  ZstdEncoder() : stream_(ZSTD_createCStream()), packed_(ZSTD_CStreamOutSize()) {
    if (stream_ == nullptr) throw std::bad_alloc();
    ZSTD_CCtx_setParameter(stream_, ZSTD_c_checksumFlag, 1);
  }
  ~ZstdEncoder() override { ZSTD_freeCStream(stream_); }
  ZstdEncoder(const ZstdEncoder&) = delete;
  ZstdEncoder& operator=(const ZstdEncoder&) = delete;

  void encode(std::string_view bytes, bool last, const Target& target) override {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    for (;;) {
      ZSTD_outBuffer out{packed_.data(), packed_.size(), 0};
      const std::size_t left = ZSTD_compressStream2(stream_, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
      if (ZSTD_isError(left))
        throw Error::in(target.path, ZSTD_getErrorName(left), "cannot compress the file");
      target.write({packed_.data(), out.pos});
      if (last ? left == 0 : in.pos == in.size) return;
    }
  }

 private:
  ZSTD_CStream* stream_;
  std::vector<char> packed_;
};

std::unique_ptr<Encoder> encoder_for(const std::string& path) {
  if (path.ends_with(".gz")) return std::make_unique<GzipEncoder>();
  if (path.ends_with(".zst")) return std::make_unique<ZstdEncoder>();
  return std::make_unique<PlainEncoder>();
}

// A name in a folder is lost in a power cut unless the folder, too, is on the disk. Not every file system
// knows how to do that, and not every folder that can be written can be opened.
void sync_folder_of(const Target& target) {
  const std::string folder = std::filesystem::path(target.place).parent_path().string();
  const int fd = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  const int failed = ::fsync(fd) == 0 || errno == EINVAL ? 0 : errno;
  ::close(fd);
  if (failed != 0) throw Error::system(target.path, "write", failed, "check the disk");
}

Target open_target(const std::string& path) {
  Target target{path == "-" ? "standard output" : path, followed(path), ""};
  // /dev/stdout too: where standard output is redirected to a file, renaming would replace that file.
  if (path == "-" || path == "/dev/stdout") {
    target.fd = STDOUT_FILENO;
    return target;
  }
  struct stat status;
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (!exists && errno != ENOENT) target.fail_create();
  if (exists && S_ISDIR(status.st_mode))
    throw Error::in(path, "is a folder", "expected the name of a file to write");
  if (exists && !S_ISREG(status.st_mode)) {
    target.fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (target.fd < 0) target.fail_create();
    return target;
  }
  for (int attempt = 0; target.fd < 0; ++attempt) {
    target.temporary = target.place + ".tmp" + std::to_string(::getpid()) + "-" + std::to_string(attempt);
    target.fd = ::open(target.temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (target.fd < 0 && errno != EEXIST) target.fail_create();
  }
  target.remembered = remember(target.temporary);
  // Where this fails the file has the permissions of any new file, which is no reason to stop.
  if (exists) ::fchmod(target.fd, status.st_mode & 07777);
  return target;
}

}  // namespace

struct OutputFile::Sink {
  explicit Sink(const std::string& path) : encoder(encoder_for(path)) {
    buffer.reserve(kWriteAtOnce);  // before there is a file that a failure would leave behind
    target = open_target(path);
  }
  ~Sink() {
    if (target.fd > STDOUT_FILENO) ::close(target.fd);
    if (!target.temporary.empty()) ::unlink(target.temporary.c_str());
    forget(target.remembered);
  }
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  std::unique_ptr<Encoder> encoder;
  Target target;
  std::string buffer;
};

OutputFile::OutputFile(const std::string& path) : sink_(std::make_unique<Sink>(path)) {}
OutputFile::~OutputFile() = default;
OutputFile::OutputFile(OutputFile&&) noexcept = default;

void OutputFile::write(std::string_view bytes) {
  ESPALIER_EXPECT(sink_ != nullptr);
  std::string& buffer = sink_->buffer;
  while (bytes.size() > kWriteAtOnce - buffer.size()) {
    const std::size_t room = kWriteAtOnce - buffer.size();
    buffer.append(bytes.substr(0, room));
    bytes.remove_prefix(room);
    sink_->encoder->encode(buffer, false, sink_->target);
    buffer.clear();
  }
  buffer.append(bytes);
}

void OutputFile::commit() {
  ESPALIER_EXPECT(sink_ != nullptr);
  Target& target = sink_->target;
  sink_->encoder->encode(sink_->buffer, true, target);
  // Without the sync a crash soon afterwards could leave the new name with no contents.
  if (!target.temporary.empty() && ::fsync(target.fd) != 0) target.fail_write();
  if (target.fd > STDOUT_FILENO && ::close(std::exchange(target.fd, -1)) != 0) target.fail_write();
  if (!target.temporary.empty()) {
    if (::rename(target.temporary.c_str(), target.place.c_str()) != 0) target.fail_create();
    target.temporary.clear();
    sync_folder_of(target);
  }
  sink_.reset();
}

std::string followed(const std::string& path) {
  namespace fs = std::filesystem;
  constexpr int kLinks = 40;  // as many as Linux follows
  fs::path place = path;
  std::error_code failed;
  for (int links = 0; links < kLinks && fs::is_symlink(place, failed); ++links) {
    place = place.parent_path() / fs::read_symlink(place, failed);
    if (failed) return path;
  }
  return place.string();
}

void check_writable(const std::string& path) {
  if (path == "-" || path == "/dev/stdout") return;
  struct stat status;
  const bool in_place =
      ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
  if (!in_place) {
    OutputFile probe(path);
  } else if (::access(path.c_str(), W_OK) != 0) {
    Target{path, path, ""}.fail_create();
  }
}

void remove_temporary_files() noexcept {
  for (TemporaryName& name : temporary_names) {
    Place expected = Place::used;
    if (name.state.compare_exchange_strong(expected, Place::taken)) ::unlink(name.path);
  }
}

}  // namespace espalier
