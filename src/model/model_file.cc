#include "model/model_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <type_traits>
#include <utility>

#include "base/fingerprint.h"
#include "base/output.h"

namespace espalier {
namespace {

static_assert(std::endian::native == std::endian::little, "sections are used as they are in the file");

constexpr std::string_view kMagic = "ESPALIER";
constexpr std::size_t kAlignment = 64, kLongestName = 31;
constexpr const char* kAnew = "copy the model again or retrain it";

// The header is the same in all versions of the format, so that any version of the program can tell a newer
// model from a damaged one.
struct Header {
  char magic[8];
  std::uint32_t version;
  std::uint32_t num_sections;
  std::uint64_t file_size;
  std::uint64_t directory_checksum;
  char reserved[24];
  std::uint64_t checksum;  // of the header before it
};

struct Entry {
  char name[kLongestName + 1];  // zeros after it, at least one
  std::uint64_t offset;
  std::uint64_t size;
  std::uint64_t checksum;
  std::uint64_t reserved;
};

static_assert(sizeof(Header) == kAlignment && sizeof(Entry) == kAlignment);
static_assert(std::is_trivially_copyable_v<Header> && std::is_trivially_copyable_v<Entry>);

std::uint64_t aligned(std::uint64_t offset) { return (offset + kAlignment - 1) / kAlignment * kAlignment; }

std::uint64_t header_checksum(const Header& header) {
  return fingerprint_of({reinterpret_cast<const char*>(&header), offsetof(Header, checksum)});
}

// An open file, closed when it goes out of scope; a mapping does not need it.
struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

bool all_zero(std::string_view bytes) { return bytes.find_first_not_of('\0') == std::string_view::npos; }

bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= kLongestName && name.find('\0') == std::string_view::npos;
}

// Header and directory, and where each section is.
struct Layout {
  Header header{};
  std::vector<Entry> directory;

  std::string_view directory_bytes() const {
    return {reinterpret_cast<const char*>(directory.data()), directory.size() * sizeof(Entry)};
  }
};

template <class Sections>
Layout lay_out(std::uint32_t version, const Sections& sections) {
  Layout layout;
  std::uint64_t end = sizeof(Header) + sections.size() * sizeof(Entry);
  for (const auto& section : sections) {
    Entry entry{};
    section.name.copy(entry.name, kLongestName);
    entry.offset = aligned(end);
    entry.size = section.bytes.size();
    entry.checksum = fingerprint_of(section.bytes);
    end = entry.offset + entry.size;
    layout.directory.push_back(entry);
  }
  Header& header = layout.header;
  kMagic.copy(header.magic, sizeof(header.magic));
  header.version = version;
  header.num_sections = static_cast<std::uint32_t>(layout.directory.size());
  header.file_size = end;
  header.directory_checksum = fingerprint_of(layout.directory_bytes());
  header.checksum = header_checksum(header);
  return layout;
}

// All bytes of the file, piece by piece.
template <class Sections, class Write>
void write_all(const Layout& layout, const Sections& sections, const Write& write) {
  write({reinterpret_cast<const char*>(&layout.header), sizeof(Header)});
  write(layout.directory_bytes());
  std::uint64_t at = sizeof(Header) + layout.directory_bytes().size();
  for (std::size_t i = 0; i < sections.size(); ++i) {
    const Entry& entry = layout.directory[i];
    write(std::string(entry.offset - at, '\0'));
    write(sections[i].bytes);
    at = entry.offset + entry.size;
  }
}

}  // namespace

void ModelFileWriter::add_bytes(std::string_view name, std::string_view bytes) {
  ESPALIER_EXPECT(is_name(name));
  ESPALIER_EXPECT(
      std::none_of(sections_.begin(), sections_.end(), [&](const Section& s) { return s.name == name; }));
  sections_.push_back(Section{std::string(name), bytes});
}

void check_model_name(const std::string& path) {
  if (path.ends_with(".gz") || path.ends_with(".zst")) {
    throw Error::in(path, "models are not compressed", "expected another ending, such as model.esp");
  }
}

bool is_model_file(const std::string& path) {
  // A pipe is not even opened: what its writer sends to a reader that goes away again is lost.
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.fd < 0) return false;
  char start[kMagic.size()] = {};
  for (std::size_t have = 0; have < sizeof(start);) {
    const ssize_t got = ::read(file.fd, start + have, sizeof(start) - have);
    if (got == 0 || (got < 0 && errno != EINTR)) return false;
    if (got > 0) have += static_cast<std::size_t>(got);
  }
  return std::string_view(start, sizeof(start)) == kMagic;
}

void ModelFileWriter::write(const std::string& path) const {
  check_model_name(path);
  const Layout layout = lay_out(version_, sections_);
  OutputFile file(path);
  write_all(layout, sections_, [&](std::string_view bytes) { file.write(bytes); });
  file.commit();
}

AlignedVector<char> ModelFileWriter::image() const {
  const Layout layout = lay_out(version_, sections_);
  AlignedVector<char> image;
  image.reserve(layout.header.file_size);
  write_all(layout, sections_,
            [&](std::string_view bytes) { image.insert(image.end(), bytes.begin(), bytes.end()); });
  return image;
}

ModelFile::ModelFile(const std::string& path) : path_(path) {
  map();
  try {
    read_directory();
  } catch (...) {
    ::munmap(const_cast<char*>(data_), size_);
    throw;
  }
}

ModelFile::ModelFile(const std::string& name, AlignedVector<char> image)
    : path_(name), image_(std::move(image)), data_(image_.data()), size_(image_.size()) {
  read_directory();
}

ModelFile::~ModelFile() {
  if (data_ != nullptr && image_.empty()) ::munmap(const_cast<char*>(data_), size_);
}

ModelFile::ModelFile(ModelFile&& other) noexcept
    : path_(std::move(other.path_)),
      image_(std::move(other.image_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      sections_(std::move(other.sections_)) {}

void ModelFile::map() {
  const auto cannot_open = [&] {
    return Error::system(path_, "open", errno, "expected a model that can be read");
  };
  // Without O_NONBLOCK, opening a pipe would wait for someone to write to it.
  const Descriptor file{::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  struct stat status {};
  if (file.fd < 0 || ::fstat(file.fd, &status) != 0) throw cannot_open();
  if (S_ISDIR(status.st_mode)) throw Error::in(path_, "is a folder", "expected a model file");
  if (!S_ISREG(status.st_mode)) throw Error::in(path_, "is not a regular file", "expected a model file");
  if (status.st_size == 0) throw Error::in(path_, "empty file", kAnew);
  size_ = static_cast<std::size_t>(status.st_size);
  void* data = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.fd, 0);
  if (data == MAP_FAILED) throw cannot_open();
  data_ = static_cast<const char*>(data);
}

void ModelFile::read_directory() {
  const std::string_view file(data_, size_);
  const auto corrupt = [&](const std::string& where) { return Error::in(path_, "corrupt " + where, kAnew); };
  const auto truncated = [&](std::uint64_t full) {
    return Error::in(path_, fmt::format("truncated: {} of {} bytes", size_, full), kAnew);
  };

  const std::string_view start = file.substr(0, kMagic.size());
  if (start != kMagic.substr(0, start.size())) {
    throw Error::in(path_, "not a model", "expected a file that 'espalier train' wrote");
  }
  if (size_ < sizeof(Header)) {
    throw Error::in(path_, fmt::format("truncated: {} bytes, less than a header", size_), kAnew);
  }
  Header header;
  std::memcpy(&header, data_, sizeof(header));
  if (header.checksum != header_checksum(header)) throw corrupt("header");
  if (header.version > kModelFormatVersion) {
    throw Error::in(
        path_,
        fmt::format(
            "model of format {}, made by a newer version of this program, which reads formats up to {}",
            header.version, kModelFormatVersion),
        "update the program");
  }
  if (size_ < header.file_size) throw truncated(header.file_size);
  if (size_ > header.file_size) {
    throw Error::in(path_, fmt::format("{} bytes after the end of the model", size_ - header.file_size),
                    kAnew);
  }

  // From here on the file is whole; what does not fit together was damaged, or made to mislead.
  const std::uint64_t directory_size = std::uint64_t{header.num_sections} * sizeof(Entry);
  if (header.version == 0 || !all_zero({header.reserved, sizeof(header.reserved)}) ||
      directory_size > size_ - sizeof(Header)) {
    throw corrupt("header");
  }
  const std::string_view directory = file.substr(sizeof(Header), directory_size);
  if (fingerprint_of(directory) != header.directory_checksum) throw corrupt("directory");

  // Sections follow each other in the order of the directory with nothing but zeros up to the next boundary
  // between them: so none overlaps, none is out of bounds and no byte of the file goes unchecked.
  std::uint64_t end = sizeof(Header) + directory_size;
  for (std::size_t i = 0; i < header.num_sections; ++i) {
    Entry entry;
    std::memcpy(&entry, directory.data() + i * sizeof(Entry), sizeof(entry));
    const std::string name(entry.name, ::strnlen(entry.name, sizeof(entry.name)));
    const bool well_named =
        is_name(name) && !has(name) && all_zero({entry.name + name.size(), sizeof(entry.name) - name.size()});
    if (!well_named || entry.reserved != 0 || entry.offset != aligned(end) || entry.offset > size_ ||
        entry.size > size_ - entry.offset) {
      throw corrupt("directory");
    }
    const std::string_view bytes = file.substr(entry.offset, entry.size);
    if (!all_zero(file.substr(end, entry.offset - end)) || fingerprint_of(bytes) != entry.checksum) {
      throw corrupt("section " + espalier::in_quotes(name));
    }
    end = entry.offset + entry.size;
    sections_.push_back(Section{name, bytes});
  }
  if (end != size_) throw corrupt("directory");
}

const ModelFile::Section* ModelFile::find(std::string_view name) const {
  const auto found = std::find_if(sections_.begin(), sections_.end(),
                                  [&](const Section& section) { return section.name == name; });
  return found == sections_.end() ? nullptr : &*found;
}

bool ModelFile::has(std::string_view name) const { return find(name) != nullptr; }

std::string_view ModelFile::section_bytes(std::string_view name) const {
  const Section* section = find(name);
  if (section == nullptr) {
    throw Error::in(path_, fmt::format("no section {}", espalier::in_quotes(name)),
                    "expected a model of another kind, or of this version of the program");
  }
  return section->bytes;
}

void ModelFile::fail_size(std::string_view name) const {
  throw Error::in(path_, fmt::format("section {} has the wrong size", espalier::in_quotes(name)), kAnew);
}

void ModelFile::fail_finite(std::string_view name) const {
  throw Error::in(path_,
                  fmt::format("numbers that are not finite in the section {}", espalier::in_quotes(name)),
                  "retrain the model");
}

}  // namespace espalier
