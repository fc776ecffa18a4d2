#include "base/input.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <lzma.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <new>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/text_chunks.h"
#include "espalier/base/error.h"

namespace espalier {
namespace {

constexpr std::size_t kReadAtOnce = std::size_t{1} << 18;
constexpr std::size_t kLongestMark = 10;  // of what a file is packed in, and of what is refused
constexpr const char* kCopyAgain = "copy or download the file again";
// What an unpacker takes at once: a header of a few bytes asks for it. No packer takes more unless told to.
constexpr int kLogLargestWindow = 30;
constexpr const char* kPackAgain = "expected one of at most 1 GiB; pack the file anew";

// Without a destructor: the C library ends the program where it has no memory to note one.
thread_local const std::function<void(const ReadingProgress&)>* reading_observer = nullptr;

// An open file and the part of it that is read ahead, packed as it is.
class RawFile {
 public:
  explicit RawFile(const std::string& path) : name_(path == "-" ? "standard input" : path) {
    fd_ = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd_ < 0) throw Error::system(name_, "open", errno, "expected a file that can be read");
    struct stat status;
    if (::fstat(fd_, &status) == 0) {
      if (S_ISDIR(status.st_mode)) {
        close();
        throw Error::in(name_, "is a folder", "expected a file");
      }
      if (S_ISREG(status.st_mode)) size_ = static_cast<std::uint64_t>(status.st_size);
    }
    // No more than the file has, where that is known.
    const std::uint64_t usual = kReadAtOnce;
    buffer_.resize(std::clamp<std::uint64_t>(size_ > 0 ? size_ : usual, kLongestMark, usual));
  }
  // A part of it.
  RawFile(const std::string& path, std::uint64_t begin, std::uint64_t end) : RawFile(path) {
    if (::lseek(fd_, static_cast<off_t>(begin), SEEK_SET) < 0)
      throw Error::system(name_, "read a part of", errno, "expected a regular file");
    size_ = left_ = end - begin;
  }
  RawFile(std::string_view text, const std::string& name, std::exception_ptr failure)
      : name_(name), text_(text), failure_(std::move(failure)) {}
  ~RawFile() { close(); }
  RawFile(const RawFile&) = delete;
  RawFile& operator=(const RawFile&) = delete;

  const std::string& name() const { return name_; }
  bool is_regular() const { return size_ > 0; }
  ReadingProgress progress() const { return {name_, bytes_, size_}; }
  std::string_view ahead() const { return {buffer_.data() + begin_, end_ - begin_}; }
  void skip(std::size_t n) { begin_ += n; }

  // Reads on until at least n bytes are ahead; false where the file ends first.
  bool want(std::size_t n) {
    if (end_ - begin_ >= n) return true;
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    while (end_ < n) {
      const std::size_t got = read(buffer_.data() + end_, buffer_.size() - end_);
      if (got == 0) return false;
      end_ += got;
    }
    return true;
  }

  // Past the read-ahead, straight from the file. 0 at the end.
  std::size_t read(char* to, std::size_t n) {
    if (fd_ < 0) return take_text(to, n);
    n = static_cast<std::size_t>(std::min<std::uint64_t>(n, left_));
    for (;;) {
      const ssize_t got = ::read(fd_, to, n);
      if (got >= 0) {
        left_ -= static_cast<std::uint64_t>(got);
        bytes_ += static_cast<std::uint64_t>(got);
        if (reading_observer != nullptr) (*reading_observer)(progress());
        return static_cast<std::size_t>(got);
      }
      if (errno != EINTR) throw Error::system(name_, "read", errno, "check the disk or the connection");
    }
  }

 private:
  void close() {
    if (fd_ > STDIN_FILENO) ::close(fd_);
  }

  std::size_t take_text(char* to, std::size_t n) {
    if (text_.empty() && failure_) std::rethrow_exception(failure_);
    n = std::min(n, text_.size());
    std::memcpy(to, text_.data(), n);
    text_.remove_prefix(n);
    return n;
  }

  std::string name_;
  std::string_view text_;       // what is left of a text in memory
  std::exception_ptr failure_;  // what comes after it
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;
  std::uint64_t bytes_ = 0, size_ = 0;  // read so far; of the file, if it is one
  std::uint64_t left_ = UINT64_MAX;     // that may still be read
  int fd_ = -1;                         // of a text in memory
};

class Decoder {
 public:
  virtual ~Decoder() = default;
  // Up to n bytes, 0 only at the end of the file. What an error comes after is handed over first.
  std::size_t read(RawFile& file, char* to, std::size_t n) {
    if (piece_.empty()) return decode_or_fail(file, to, n);
    if (taken_ == filled_) {
      filled_ = decode_or_fail(file, piece_.data(), piece_.size());
      taken_ = 0;
    }
    n = std::min(n, filled_ - taken_);
    std::memcpy(to, piece_.data() + taken_, n);
    taken_ += n;
    return n;
  }

 protected:
  // Of a library that drops what comes right before damage, and how much of it by how many bytes it is asked
  // for, as all of them do: it is always asked for as many, so that a damaged file has the same contents
  // however it is read.
  void decode_in_pieces() { piece_.resize(kPiece); }
  virtual std::size_t decode(RawFile& file, char* to, std::size_t n) = 0;
  std::size_t fail(std::size_t done, const RawFile& file, std::string_view found,
                   std::string_view expected = kCopyAgain) {
    failure_ = std::make_exception_ptr(Error::in(file.name(), found, expected));
    if (done == 0) std::rethrow_exception(failure_);
    return done;
  }

 private:
  std::size_t decode_or_fail(RawFile& file, char* to, std::size_t n) {
    if (failure_) std::rethrow_exception(failure_);
    return decode(file, to, n);
  }

  static constexpr std::size_t kPiece = std::size_t{1} << 16;
  std::vector<char> piece_;  // empty: straight to whoever reads
  std::size_t taken_ = 0, filled_ = 0;
  std::exception_ptr failure_;
};

class PlainDecoder : public Decoder {
  std::size_t decode(RawFile& file, char* to, std::size_t n) override {
    const std::size_t ahead = std::min(n, file.ahead().size());
    if (ahead == 0) return file.read(to, n);
    std::memcpy(to, file.ahead().data(), ahead);
    file.skip(ahead);
    return ahead;
  }
};

class GzipDecoder : public Decoder {
 public:
  GzipDecoder() {
    // 15: the largest window; +16: gzip, and nothing else.
    if (inflateInit2(&stream_, 15 + 16) != Z_OK) throw std::bad_alloc();
    decode_in_pieces();
  }
  ~GzipDecoder() override { inflateEnd(&stream_); }

  std::size_t decode(RawFile& file, char* to, std::size_t n) override {
    n = std::min(n, std::size_t{1} << 30);  // zlib counts in 32 bits
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = static_cast<uInt>(n);
    while (stream_.avail_out == n) {
      if (!file.want(1)) {
        if (between_members_) return 0;
        throw Error::in(file.name(), "truncated gzip data", kCopyAgain);
      }
      if (between_members_) start_member(file);
      const std::string_view ahead = file.ahead();
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(ahead.data()));
      stream_.avail_in = static_cast<uInt>(ahead.size());
      const int result = inflate(&stream_, Z_NO_FLUSH);
      file.skip(ahead.size() - stream_.avail_in);
      if (result == Z_STREAM_END) {
        between_members_ = true;
      } else if (result != Z_OK && result != Z_BUF_ERROR) {
        const char* why = stream_.msg != nullptr ? stream_.msg : zError(result);
        return fail(n - stream_.avail_out, file, std::string("corrupt gzip data (") + why + ")");
      }
    }
    return n - stream_.avail_out;
  }

 private:
  void start_member(RawFile& file) {
    if (!file.want(2) || file.ahead().substr(0, 2) != "\x1f\x8b") {
      throw Error::in(file.name(), "unexpected bytes after the end of the gzip data", kCopyAgain);
    }
    inflateReset(&stream_);
    between_members_ = false;
  }

  z_stream stream_{};
  bool between_members_ = false;
};

class ZstdDecoder : public Decoder {
 public:
  ZstdDecoder() : stream_(ZSTD_createDStream()) {
    if (stream_ == nullptr) throw std::bad_alloc();
    // Files of "zstd --long=30" need a window larger than the default allows.
    ZSTD_DCtx_setParameter(stream_, ZSTD_d_windowLogMax, kLogLargestWindow);
    decode_in_pieces();
  }
  ~ZstdDecoder() override { ZSTD_freeDStream(stream_); }
  ZstdDecoder(const ZstdDecoder&) = delete;
  ZstdDecoder& operator=(const ZstdDecoder&) = delete;

  std::size_t decode(RawFile& file, char* to, std::size_t n) override {
    ZSTD_outBuffer out{to, n, 0};
    while (out.pos == 0) {
      // A frame may still have output to give when all of its input is taken, so the end is where neither
      // moves.
      const bool file_ended = !file.want(1);
      if (file_ended && between_frames_) return 0;
      ZSTD_inBuffer in{file.ahead().data(), file.ahead().size(), 0};
      const std::size_t result = ZSTD_decompressStream(stream_, &out, &in);
      if (ZSTD_isError(result)) {
        if (ZSTD_getErrorCode(result) == ZSTD_error_frameParameter_windowTooLarge)
          return fail(out.pos, file, "zstd data of a window above 1 GiB", kPackAgain);
        // The first frame has its mark, or the file would not have come here.
        const bool no_frame = ZSTD_getErrorCode(result) == ZSTD_error_prefix_unknown;
        const std::string corrupt = std::string("corrupt zstd data (") + ZSTD_getErrorName(result) + ")";
        return fail(out.pos, file, no_frame ? "unexpected bytes after the end of the zstd data" : corrupt);
      }
      file.skip(in.pos);
      between_frames_ = result == 0;
      if (file_ended && out.pos == 0 && !between_frames_) {
        throw Error::in(file.name(), "truncated zstd data", kCopyAgain);
      }
    }
    return out.pos;
  }

 private:
  ZSTD_DStream* stream_;
  bool between_frames_ = false;
};

class XzDecoder : public Decoder {
 public:
  XzDecoder() {
    // As large a dictionary as for zstd, and several streams one after the other, with padding between them.
    constexpr std::uint64_t kMemory = (std::uint64_t{1} << kLogLargestWindow) + (std::uint64_t{1} << 26);
    if (lzma_stream_decoder(&stream_, kMemory, LZMA_CONCATENATED) != LZMA_OK) throw std::bad_alloc();
    decode_in_pieces();
  }
  ~XzDecoder() override { lzma_end(&stream_); }
  XzDecoder(const XzDecoder&) = delete;
  XzDecoder& operator=(const XzDecoder&) = delete;

  std::size_t decode(RawFile& file, char* to, std::size_t n) override {
    stream_.next_out = reinterpret_cast<std::uint8_t*>(to);
    stream_.avail_out = n;
    while (!ended_ && stream_.avail_out == n) {
      const bool file_ended = !file.want(1);
      const std::string_view ahead = file.ahead();
      stream_.next_in = reinterpret_cast<const std::uint8_t*>(ahead.data());
      stream_.avail_in = ahead.size();
      const lzma_ret result = lzma_code(&stream_, file_ended ? LZMA_FINISH : LZMA_RUN);
      file.skip(ahead.size() - stream_.avail_in);
      if (result == LZMA_STREAM_END) {
        ended_ = true;
      } else if (result == LZMA_BUF_ERROR) {
        return fail(n - stream_.avail_out, file, "truncated xz data");
      } else if (result == LZMA_MEMLIMIT_ERROR) {
        return fail(n - stream_.avail_out, file, "xz data of a dictionary above 1 GiB", kPackAgain);
      } else if (result == LZMA_MEM_ERROR) {
        throw std::bad_alloc();
      } else if (result != LZMA_OK) {
        // Also where other bytes follow: liblzma does not tell them apart.
        return fail(n - stream_.avail_out, file, "corrupt xz data");
      }
    }
    return n - stream_.avail_out;
  }

 private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool ended_ = false;
};

// Packings and encodings that are not read, but have a name to tell.
void refuse_known(const RawFile& file) {
  const std::string_view start = file.ahead();
  if (start.starts_with("BZh") && start.size() > 4 && start.substr(4, 6) == "1AY&SY") {
    throw Error::in(file.name(), "bzip2 data",
                    "expected plain text, or gzip, zstd or xz; bunzip2 unpacks it");
  }
  if (start.starts_with("PK\x03\x04")) {
    throw Error::in(file.name(), "a zip archive",
                    "expected a plain file, or one compressed by gzip, zstd or xz");
  }
}

bool is_zstd(std::string_view start) {
  if (start.size() < 4) return false;
  // A frame, or one of the sixteen marks of a skippable frame, which parallel packers put first.
  return start.substr(0, 4) == "\x28\xb5\x2f\xfd" ||
         (start.substr(1, 3) == "\x2a\x4d\x18" && (start[0] & 0xf0) == 0x50);
}

std::unique_ptr<Decoder> decoder_for(RawFile& file) {
  file.want(kLongestMark);
  if (file.ahead().starts_with(std::string_view("\xfd\x37zXZ\0", 6))) return std::make_unique<XzDecoder>();
  refuse_known(file);
  if (file.ahead().substr(0, 2) == "\x1f\x8b") return std::make_unique<GzipDecoder>();
  if (is_zstd(file.ahead())) return std::make_unique<ZstdDecoder>();
  return std::make_unique<PlainDecoder>();
}

// Unpacks on a thread of its own, a few blocks ahead of who reads.
class Unpacker {
 public:
  Unpacker(RawFile& file, Decoder& decoder) : file_(file), decoder_(decoder) {
    thread_ = std::thread([this] { unpack(); });
  }
  ~Unpacker() {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    taken_.notify_one();
    thread_.join();
  }
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;

  // What Decoder::read() does.
  std::size_t read(char* to, std::size_t n) {
    while (used_ == block_.size) {
      if (block_.failure) std::rethrow_exception(block_.failure);
      if (block_.last) return 0;
      next_block();
    }
    n = std::min(n, block_.size - used_);
    std::memcpy(to, block_.bytes.data() + used_, n);
    used_ += n;
    return n;
  }

 private:
  struct Block {
    std::vector<char> bytes;
    std::size_t size = 0;
    bool last = false;
    std::exception_ptr failure;            // after its bytes
    std::uint64_t file_bytes = 0, of = 0;  // how far the file was read
  };
  static constexpr std::size_t kAhead = 8;

  void next_block() {
    {
      std::unique_lock lock(mutex_);
      filled_.wait(lock, [&] { return !blocks_.empty(); });
      spare_.push_back(std::move(block_.bytes));
      block_ = std::move(blocks_.front());
      blocks_.erase(blocks_.begin());
    }
    taken_.notify_one();
    used_ = 0;
    if (reading_observer != nullptr) (*reading_observer)({file_.name(), block_.file_bytes, block_.of});
  }

  void unpack() {
    for (bool last = false; !last;) {
      Block block;
      {
        std::unique_lock lock(mutex_);
        taken_.wait(lock, [&] { return stopped_ || blocks_.size() < kAhead; });
        if (stopped_) return;
        if (!spare_.empty()) {
          block.bytes = std::move(spare_.back());
          spare_.pop_back();
        }
      }
      try {
        block.bytes.resize(kReadAtOnce);
        while (block.size < block.bytes.size()) {
          const std::size_t got =
              decoder_.read(file_, block.bytes.data() + block.size, block.bytes.size() - block.size);
          if (got == 0) block.last = true;
          if (got == 0) break;
          block.size += got;
        }
      } catch (...) {
        block.failure = std::current_exception();
      }
      const ReadingProgress progress = file_.progress();
      block.file_bytes = progress.bytes;
      block.of = progress.size;
      last = block.last || block.failure;
      {
        const std::lock_guard lock(mutex_);
        blocks_.push_back(std::move(block));
      }
      filled_.notify_one();
    }
  }

  RawFile& file_;
  Decoder& decoder_;
  std::mutex mutex_;
  std::condition_variable filled_, taken_;
  std::vector<Block> blocks_;             // unpacked and not yet taken, in order
  std::vector<std::vector<char>> spare_;  // memory of blocks that were read
  bool stopped_ = false;
  Block block_;  // that is being read
  std::size_t used_ = 0;
  std::thread thread_;
};

}  // namespace

ReadingObserver::ReadingObserver(std::function<void(const ReadingProgress&)> observe)
    : observe_(std::move(observe)) {
  reading_observer = &observe_;
}
ReadingObserver::~ReadingObserver() { reading_observer = nullptr; }

struct ByteReader::Source {
  Source(const std::string& path, Unpack unpack) : file(path), decoder(decoder_for(file)) {
    if (unpack != Unpack::ahead || !is_packed() || !file.is_regular()) return;
    try {
      ahead.emplace(file, *decoder);
    } catch (const std::system_error&) {
      // No thread is to be had: it is unpacked as it is read.
    }
  }
  Source(const std::string& path, std::uint64_t begin, std::uint64_t end)
      : file(path, begin, end), decoder(std::make_unique<PlainDecoder>()) {}
  Source(std::string_view text, const std::string& name, std::exception_ptr at_end)
      : file(text, name, std::move(at_end)), decoder(std::make_unique<PlainDecoder>()) {}

  bool is_packed() const { return dynamic_cast<PlainDecoder*>(decoder.get()) == nullptr; }
  std::size_t read(char* to, std::size_t n) {
    return ahead ? ahead->read(to, n) : decoder->read(file, to, n);
  }

  RawFile file;
  std::unique_ptr<Decoder> decoder;
  std::optional<Unpacker> ahead;
  std::exception_ptr failure;  // after what was handed over
  bool ended = false;
};

ByteReader::ByteReader(const std::string& path, Unpack unpack)
    : source_(std::make_unique<Source>(path, unpack)) {}
ByteReader::ByteReader(std::unique_ptr<Source> source) : source_(std::move(source)) {}
ByteReader ByteReader::of_text(std::string_view text, const std::string& name, std::exception_ptr failure) {
  return ByteReader(std::make_unique<Source>(text, name, std::move(failure)));
}
ByteReader ByteReader::of_range(const std::string& path, std::uint64_t begin, std::uint64_t end) {
  return ByteReader(std::make_unique<Source>(path, begin, end));
}
ByteReader::~ByteReader() = default;
ByteReader::ByteReader(ByteReader&&) noexcept = default;

std::size_t ByteReader::read(char* to, std::size_t n) {
  if (source_->failure) std::rethrow_exception(source_->failure);
  std::size_t done = 0;
  while (done < n && !source_->ended) {
    try {
      const std::size_t got = source_->read(to + done, n - done);
      source_->ended = got == 0;
      done += got;
    } catch (...) {
      if (done == 0) throw;
      source_->failure = std::current_exception();
      break;
    }
  }
  return done;
}

bool ByteReader::is_packed() const { return source_->is_packed(); }
const std::string& ByteReader::name() const { return source_->file.name(); }

LineReader::LineReader(const std::string& path, std::size_t longest_line)
    : LineReader(ByteReader(path), longest_line) {}

LineReader::LineReader(ByteReader bytes, std::size_t longest_line)
    : bytes_(std::move(bytes)), longest_line_(longest_line) {
  check_start();
}

LineReader::LineReader(const TextChunk& chunk, std::size_t longest_line)
    : bytes_(ByteReader::of_text(chunk.text, chunk.name, chunk.failure)),
      longest_line_(longest_line),
      line_number_(chunk.first_line - 1) {
  if (chunk.begins_file) check_start();
}

void LineReader::check_start() {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  fill();
  const auto refuse_encoding = [&](const char* encoding) {
    throw Error::in(name(), fmt::format("{} text", encoding),
                    fmt::format("expected UTF-8; iconv -f {} -t UTF-8 converts it", encoding));
  };
  const std::string_view start = std::string_view(buffer_).substr(0, end_);
  if (start.starts_with(std::string_view("\xff\xfe\0\0", 4)) ||
      start.starts_with(std::string_view("\0\0\xfe\xff", 4)))
    refuse_encoding("UTF-32");
  if (start.starts_with("\xff\xfe") || start.starts_with("\xfe\xff")) refuse_encoding("UTF-16");
  // Without a byte order mark: the first two characters of nearly every text are ASCII.
  if (start.size() >= 4 && !start[0] != !start[1] && !start[0] == !start[2] && !start[1] == !start[3])
    refuse_encoding(start[0] == 0 ? "UTF-16BE" : "UTF-16LE");
  if (std::string_view(buffer_).substr(0, end_).starts_with(kByteOrderMark)) begin_ = kByteOrderMark.size();
}

bool LineReader::next(std::string_view& line) {
  std::size_t length;
  for (;;) {
    const char* start = buffer_.data() + begin_;
    const void* newline = begin_ < end_ ? std::memchr(start, '\n', end_ - begin_) : nullptr;
    if (newline != nullptr) {
      length = static_cast<std::size_t>(static_cast<const char*>(newline) - start);
      break;
    }
    length = end_ - begin_;
    if (at_end_ || length > longest_line_ || nul_ != std::string::npos) break;
    fill();
  }
  if (begin_ == end_) return false;
  ++line_number_;
  if (length > longest_line_) {
    fail("a line of more than " + std::to_string(longest_line_) + " bytes",
         "expected a text file with shorter lines");
  }
  if (nul_ < begin_ + length)
    fail("a NUL byte", "expected a text file, plain or compressed by gzip, zstd or xz");
  line = std::string_view(buffer_).substr(begin_, length);
  if (line.ends_with('\r')) line.remove_suffix(1);
  begin_ = std::min(begin_ + length + 1, end_);
  return true;
}

// Moves the unfinished line to the front and reads after it, with room for at least as much again: so a long
// line is searched and moved a number of times that grows only with the logarithm of its length. A short file
// takes little memory.
void LineReader::fill() {
  constexpr std::size_t kFirst = 4096;
  const std::size_t kept = end_ - begin_;
  std::memmove(buffer_.data(), buffer_.data() + begin_, kept);
  const std::size_t room = std::clamp(2 * buffer_.size(), kFirst, kReadAtOnce);
  if (buffer_.size() < 2 * kept + room) buffer_.resize(2 * kept + room);
  begin_ = 0;
  const std::size_t got = bytes_.read(buffer_.data() + kept, buffer_.size() - kept);
  end_ = kept + got;
  at_end_ = got == 0;
  nul_ = std::string_view(buffer_).substr(0, end_).find('\0', kept);
}

void LineReader::fail(std::string_view found, std::string_view expected) const {
  throw Error::at(name(), line_number_, found, expected);
}

std::string read_all(const std::string& path) {
  ByteReader reader(path);
  std::string bytes;
  std::size_t size = 0;
  for (std::size_t got = 1; got > 0; size += got) {
    if (size == bytes.size()) bytes.resize(2 * size + kReadAtOnce);
    got = reader.read(bytes.data() + size, bytes.size() - size);
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace espalier
