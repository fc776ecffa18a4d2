#include "fleet/file_share.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <tuple>
#include <utility>

#include "base/fingerprint.h"
#include "espalier/base/error.h"

namespace espalier {
namespace {

struct Start {
  std::uint64_t file, byte;
  friend bool operator<(const Start& a, const Start& b) {
    return std::tie(a.file, a.byte) < std::tie(b.file, b.byte);
  }
};

struct KnownFile {
  std::uint64_t bytes;
  bool packed;
  std::uint64_t head;  // fingerprint of its first bytes
};

void append_number(std::uint64_t number, std::string& to) {
  to.append(reinterpret_cast<const char*>(&number), sizeof(number));
}
std::vector<std::uint64_t> numbers_in(std::string_view bytes) {
  std::vector<std::uint64_t> numbers(bytes.size() / sizeof(std::uint64_t));
  if (!numbers.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

// nullopt: no regular file, or an empty one, of which there is nothing to share.
std::optional<KnownFile> look_at(const std::string& path) {
  struct stat status {};
  if (path == "-" || ::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  constexpr std::size_t kHead = 4096;
  ByteReader reader(path);
  std::string head(kHead, '\0');
  head.resize(reader.read(head.data(), kHead));
  return KnownFile{static_cast<std::uint64_t>(status.st_size), reader.is_packed(), fingerprint_of(head)};
}

// The end of a record behind `byte` of a plain file; its end if there is none.
std::uint64_t cut_behind(const std::string& path, std::uint64_t byte, std::uint64_t end,
                         const FindCut& find_cut) {
  // With the byte before, to see whether a line begins here.
  for (std::uint64_t look = FileShare::first_look;; look *= 2) {
    const std::uint64_t begin = byte - 1, stop = std::min(end, byte + look);
    std::string text(stop - begin, '\0');
    text.resize(ByteReader::of_range(path, begin, stop).read(text.data(), text.size()));
    const std::size_t newline = text.find('\n');
    if (newline != std::string::npos) {
      const std::size_t cut = find_cut(std::string_view(text).substr(newline + 1));
      if (cut > 0) return begin + newline + 1 + cut;
    }
    if (stop == end) return end;
  }
}

// Where rank r of K begins: at r/K of all bytes, or where a record or a packed file begins beside that.
Start start_of(std::size_t rank, std::size_t ranks, const InputFiles& files,
               const std::vector<KnownFile>& known, const FindCut& find_cut) {
  std::uint64_t total = 0;
  for (const KnownFile& file : known) total += file.bytes;
  std::uint64_t byte = total / ranks * rank + total % ranks * rank / ranks;
  std::size_t file = 0;
  while (file < known.size() && byte >= known[file].bytes) byte -= known[file++].bytes;
  if (rank == 0) return {0, 0};
  if (byte == 0 || file == known.size()) return {file, 0};
  if (known[file].packed) return {byte < known[file].bytes / 2 ? file : file + 1, 0};
  const std::uint64_t cut = cut_behind(files.paths()[file], byte, known[file].bytes, find_cut);
  return cut == known[file].bytes ? Start{file + 1, 0} : Start{file, cut};
}

// Where several begin at the same place, those behind go on to the next file, or those before back to the one
// before. False: there are too few.
bool spread(std::vector<Start>& starts) {
  for (std::size_t r = 1; r + 1 < starts.size(); ++r) {
    if (!(starts[r - 1] < starts[r])) starts[r] = {starts[r - 1].file + 1, 0};
  }
  for (std::size_t r = starts.size() - 2; r > 0; --r) {
    const Start& next = starts[r + 1];
    if (starts[r] < next) continue;
    if (next.file == 0) return false;
    starts[r] = {next.byte > 0 ? next.file : next.file - 1, 0};
  }
  return std::adjacent_find(starts.begin(), starts.end(),
                            [](const Start& a, const Start& b) { return !(a < b); }) == starts.end();
}

}  // namespace

std::optional<FileShare> find_share(const InputFiles& files, const FindCut& find_cut, Communicator& fleet) {
  std::vector<KnownFile> known;
  std::string shown;
  for (const std::string& path : files.paths()) {
    if (const auto file = look_at(path)) {
      known.push_back(*file);
      append_number(file->bytes, shown);
      append_number(file->packed ? 1 : 0, shown);
      append_number(file->head, shown);
    }
  }
  if (fleet.any(known.size() < files.paths().size())) return std::nullopt;
  fleet.check_same("other data", shown, "the same on all ranks");

  const Start own = start_of(fleet.rank(), fleet.size(), files, known, find_cut);
  std::string bytes;
  append_number(own.file, bytes);
  append_number(own.byte, bytes);
  std::vector<Start> starts;
  for (const std::string& of_rank : fleet.gather(bytes)) {
    const std::vector<std::uint64_t> numbers = numbers_in(of_rank);
    starts.push_back({numbers[0], numbers[1]});
  }
  starts.push_back({known.size(), 0});
  if (!spread(starts)) return std::nullopt;

  const Start &begin = starts[fleet.rank()], &end = starts[fleet.rank() + 1];
  FileShare share{{}, begin.file};
  for (std::uint64_t file = begin.file; file < known.size(); ++file) {
    if (!(Start{file, 0} < end)) break;
    TextRange range{files.paths()[file]};
    if (file == begin.file) range.begin = begin.byte;
    if (file == end.file) range.end = end.byte;
    if (range.begin > 0 && range.end == TextRange::kToTheEnd) range.end = known[file].bytes;
    share.ranges.push_back(std::move(range));
  }
  return share;
}

ShareOutcome compare_shares(const FileShare& share, bool failed, std::span<const std::size_t> num_lines,
                            Communicator& fleet) {
  std::string bytes;
  append_number(failed ? 1 : 0, bytes);
  append_number(share.first_file, bytes);
  for (const std::size_t lines : num_lines) append_number(lines, bytes);
  const std::vector<std::string> all = fleet.gather(bytes);
  ShareOutcome outcome;
  for (std::size_t r = 0; r < all.size() && !outcome.failed; ++r) {
    const std::vector<std::uint64_t> numbers = numbers_in(all[r]);
    if (numbers[0] != 0) outcome.failed = r;
    for (std::size_t k = 2; r < fleet.rank() && share.ranges.front().begin > 0 && k < numbers.size(); ++k)
      outcome.lines_before += numbers[1] + k - 2 == share.first_file ? numbers[k] : 0;
  }
  return outcome;
}

void fail_as(std::size_t rank, Communicator& fleet, const std::function<void()>& fail) {
  std::string words;
  if (fleet.rank() == rank) {
    try {
      fail();
    } catch (const Error& e) {
      words = e.marked();
    }
  }
  words = fleet.gather(words)[rank];
  ESPALIER_EXPECT(!words.empty());
  // Whoever speaks first ends the run, and the message of another rank would begin with its number.
  if (fleet.rank() != 0) fleet.meet();
  throw Error(words);
}

void do_on_shares(Communicator& fleet, const std::function<void()>& what) {
  std::string words;
  try {
    what();
  } catch (const Error& e) {
    words = e.marked();
  }
  const std::vector<std::string> all = fleet.gather(words);
  for (std::size_t r = 0; r < all.size(); ++r) {
    if (!all[r].empty()) fail_as(r, fleet, [&] { throw Error(words); });
  }
}

}  // namespace espalier
