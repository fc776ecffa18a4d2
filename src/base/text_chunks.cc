#include "base/text_chunks.h"

#include <algorithm>

namespace espalier {
namespace {

constexpr std::size_t kNowhere = std::string_view::npos;
// What tells an encoding at the start of a file (LineReader) is in one chunk.
constexpr std::size_t kLongestMark = 4;

bool is_blank(std::string_view line) { return line.find_first_not_of(" \t\n\v\f\r") == kNowhere; }

// Where the line begins that ends in front of `end`, a newline or the end of the text.
std::size_t line_begin(std::string_view text, std::size_t end) {
  const std::size_t newline = end == 0 ? kNowhere : text.rfind('\n', end - 1);
  return newline == kNowhere ? 0 : newline + 1;
}

}  // namespace

std::size_t cut_after_line(std::string_view text) {
  const std::size_t newline = text.rfind('\n');
  return newline == kNowhere ? 0 : newline + 1;
}

std::size_t cut_after_blank_line(std::string_view text,
                                 const std::function<bool(std::string_view line)>& ends_record) {
  // From the last line that is complete to the first.
  bool after_is_blank = false;
  std::size_t after_end = 0;
  for (std::size_t end = text.rfind('\n'); end != kNowhere;) {
    const std::size_t begin = line_begin(text, end);
    std::string_view line = text.substr(begin, end - begin);
    const bool blank = is_blank(line);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (after_is_blank && !blank && ends_record(line)) return after_end + 1;
    after_is_blank = blank;
    after_end = end;
    if (begin == 0) break;
    end = begin - 1;
  }
  return 0;
}

std::size_t cut_after_brackets(std::string_view text) {
  std::size_t cut = 0;
  std::ptrdiff_t open = 0;
  for (std::size_t begin = 0, end; (end = text.find('\n', begin)) != kNowhere; begin = end + 1) {
    const std::string_view line = text.substr(begin, end - begin);
    open += std::count(line.begin(), line.end(), '(') - std::count(line.begin(), line.end(), ')');
    if (open == 0) cut = end + 1;
  }
  return cut;
}

std::vector<TextRange> whole_files(const InputFiles& files) {
  std::vector<TextRange> ranges;
  for (const std::string& path : files.paths()) ranges.push_back({path});
  return ranges;
}

ChunkReader::ChunkReader(std::vector<TextRange> ranges, FindCut find_cut, const ChunkOptions& options)
    : ranges_(std::move(ranges)),
      find_cut_(std::move(find_cut)),
      size_(std::max<std::size_t>(options.bytes, 1)),
      threads_(options.threads) {
  open();
}

void ChunkReader::open() {
  const TextRange& range = ranges_[num_lines_.size()];
  bytes_.reset();
  if (range.is_whole()) {
    bytes_.emplace(range.path, threads_ > 1 ? ByteReader::Unpack::ahead : ByteReader::Unpack::here);
  } else {
    bytes_.emplace(ByteReader::of_range(range.path, range.begin, range.end));
  }
  num_lines_.push_back(0);
  at_end_ = any_ = false;
}

bool ChunkReader::next(TextChunk& chunk) {
  while (!next_of_range(chunk)) {
    if (num_lines_.size() == ranges_.size()) return false;
    open();
  }
  return true;
}

bool ChunkReader::next_of_range(TextChunk& chunk) {
  std::size_t cut = 0;
  // Twice as much each time: so a long record is searched a number of times that grows only with the
  // logarithm of its length.
  for (std::size_t wanted = size_; cut == 0; wanted *= 2) {
    while (!at_end_ && text_.size() < wanted) fill();
    const std::string_view text = std::string_view(text_).substr(0, wanted);
    const bool all = at_end_ && text.size() == text_.size();
    // A line that is too long is an error, which whoever reads the chunk finds.
    const bool too_long = text.size() > LineReader::kLongestLine &&
                          text.size() - line_begin(text, text.size()) > LineReader::kLongestLine + 1;
    cut = all || too_long ? text.size() : find_cut_(text);
    if (cut == 0 && is_blank(text)) cut = cut_after_line(text);  // before a record there may be any number
    if (all) break;
    if (!any_ && cut < kLongestMark) cut = 0;
  }
  // Also a file of nothing has a chunk, whose reader says so; and a failure needs one.
  if (cut == 0 && any_ && !failure_) return false;
  const TextRange& range = ranges_[num_lines_.size() - 1];
  chunk.name = bytes_->name();
  chunk.first_line = range.first_line + num_lines_.back();
  chunk.begins_file = range.begin == 0 && !any_;
  chunk.failure = cut == text_.size() && at_end_ ? std::exchange(failure_, nullptr) : nullptr;
  chunk.text.assign(text_, 0, cut);
  text_.erase(0, cut);
  num_lines_.back() += static_cast<std::size_t>(std::count(chunk.text.begin(), chunk.text.end(), '\n'));
  any_ = true;
  return true;
}

bool ChunkReader::next_with_text(TextChunk& chunk) {
  bool any = false;
  while (next(chunk)) {
    any = true;
    if (!is_blank(chunk.text) || chunk.failure) break;
  }
  return any;
}

void ChunkReader::fill() {
  constexpr std::size_t kReadAtOnce = std::size_t{1} << 16;
  const std::size_t before = text_.size();
  text_.resize(before + kReadAtOnce);
  try {
    const std::size_t got = bytes_->read(text_.data() + before, kReadAtOnce);
    text_.resize(before + got);
    at_end_ = got == 0;
  } catch (...) {
    text_.resize(before);
    failure_ = std::current_exception();
    at_end_ = true;
  }
}

}  // namespace espalier
