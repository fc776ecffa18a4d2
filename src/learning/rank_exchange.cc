#include "learning/rank_exchange.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "fleet/bytes.h"
#include "kernels/vectors.h"

namespace espalier {
namespace {

constexpr std::size_t kWord = 64;  // blocks that share a word of bits

std::size_t words_of(std::size_t blocks) { return (blocks + kWord - 1) / kWord; }

}  // namespace

struct RankExchange::Message {
  std::string_view bytes;
  std::size_t first, last;            // blocks
  std::size_t numbers;                // in front of the bits
  std::size_t size;                   // weights of a block
  std::vector<std::uint32_t> before;  // how many changes there are before those of each word

  Message(std::string_view of, std::size_t first_block, std::size_t last_block, std::size_t num_numbers,
          std::size_t block_size)
      : bytes(of), first(first_block), last(last_block), numbers(num_numbers), size(block_size) {
    before.reserve(words_of(last - first));
    std::uint32_t sum = 0;
    for (std::size_t word = 0; word < words_of(last - first); ++word) {
      before.push_back(sum);
      sum += static_cast<std::uint32_t>(std::popcount(bits(word)));
    }
  }
  double number(std::size_t k) const { return read_bytes<double>(bytes, k * sizeof(double)); }
  std::uint64_t bits(std::size_t word) const {
    return read_bytes<std::uint64_t>(bytes, numbers * sizeof(double) + word * sizeof(std::uint64_t));
  }
  std::size_t place(std::size_t change) const { return place_of(numbers, last - first, change, size); }
  static std::size_t place_of(std::size_t numbers, std::size_t blocks, std::size_t change, std::size_t size) {
    return numbers * sizeof(double) + words_of(blocks) * sizeof(std::uint64_t) +
           change * size * sizeof(float);
  }
};

RankExchange::RankExchange(const RankBlocks& blocks, Weights& w, Team& team)
    : blocks_(blocks),
      fleet_(blocks.fleet()),
      w_(w),
      team_(team),
      base_(blocks.shared().size() * blocks.size(), 0.0f),
      outbox_(fleet_.size()),
      inbox_(fleet_.size()),
      sums_inbox_(fleet_.size()) {}

void RankExchange::restart() {
  share_range(team_, blocks_.shared().size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) std::ranges::copy(weights_of(k), base_of(k));
  });
}

// Of shared blocks first .. last - 1, with |Delta|^2 of those in the first of the numbers.
std::string_view RankExchange::write_changes(Communicator::Parcel& to, std::size_t first, std::size_t last,
                                             double times) {
  const std::size_t size = blocks_.size(), words = words_of(last - first);
  std::vector<std::uint64_t> bits(words);
  share_range(team_, words, [&](std::size_t begin, std::size_t end) {
    for (std::size_t word = begin; word < end; ++word) {
      const std::size_t from = first + word * kWord, until = std::min(last, from + kWord);
      for (std::size_t k = from; k < until; ++k) {
        const auto w = weights_of(k);
        if (std::memcmp(w.data(), base_of(k), w.size_bytes()) != 0)
          bits[word] |= std::uint64_t{1} << (k - from);
      }
    }
  });
  std::vector<std::uint32_t> before(words + 1, 0);
  for (std::size_t word = 0; word < words; ++word)
    before[word + 1] = before[word] + static_cast<std::uint32_t>(std::popcount(bits[word]));
  const auto place = [&](std::size_t change) {
    return Message::place_of(numbers_.size(), last - first, change, size);
  };
  char* const bytes = to.resize(place(before[words]));
  norms_.assign(words, 0);
  const auto inverse = static_cast<float>(1 / times);
  share_range(team_, words, [&](std::size_t begin, std::size_t end) {
    AlignedVector<float> change(size, 0.0f);
    for (std::size_t word = begin; word < end; ++word) {
      char* at = bytes + place(before[word]);
      for (std::uint64_t left = bits[word]; left != 0; left &= left - 1) {
        const std::size_t k = first + word * kWord + static_cast<std::size_t>(std::countr_zero(left));
        const auto w = weights_of(k);
        const float* base = base_of(k);
        for (std::size_t j = 0; j < w.size(); ++j) change[j] = (w[j] - base[j]) * inverse;
        std::fill(change.begin() + static_cast<std::ptrdiff_t>(w.size()), change.end(), 0.0f);
        norms_[word] += kernels::squared_norm(change.data(), size);
        std::memcpy(at, change.data(), size * sizeof(float));
        at += size * sizeof(float);
      }
    }
  });
  for (const double norm : norms_) numbers_.front() += norm;
  std::memcpy(bytes + numbers_.size() * sizeof(double), bits.data(), words * sizeof(std::uint64_t));
  return to.bytes();
}

// Calls call(k, sum, place) for each block k that one of the ranks has changed, with the sum of their
// changes, which is change number `place` of all those sums. The messages are of the same blocks.
template <class Call>
void RankExchange::for_each_sum(std::span<const Message> parts, const Call& call) {
  const std::size_t size = blocks_.size(), first = parts.front().first;
  const std::size_t words = words_of(parts.front().last - first);
  share_range(team_, words, [&](std::size_t begin, std::size_t end) {
    AlignedVector<float> sum(size);
    std::vector<std::uint64_t> bits(parts.size());
    std::vector<std::size_t> places(parts.size());
    for (std::size_t word = begin; word < end; ++word) {
      std::uint64_t any = 0;
      for (std::size_t r = 0; r < parts.size(); ++r) {
        any |= bits[r] = parts[r].bits(word);
        places[r] = parts[r].place(parts[r].before[word]);
      }
      for (; any != 0; any &= any - 1) {
        const std::uint64_t bit = any & -any;
        bool begun = false;
        for (std::size_t r = 0; r < parts.size(); ++r) {
          if ((bits[r] & bit) == 0) continue;
          if (begun) {
            add_bytes(parts[r].bytes, places[r], std::span<float>(sum));
          } else {
            copy_bytes(parts[r].bytes, places[r], std::span<float>(sum));
          }
          begun = true;
          places[r] += size * sizeof(float);
        }
        call(word, first + word * kWord + static_cast<std::size_t>(std::countr_zero(bit)), sum);
      }
    }
  });
}

// Sums of what the ranks have sent of the blocks that this one adds up, with their |.|^2 in the second of the
// numbers.
std::string_view RankExchange::write_sums(Communicator::Parcel& to, std::span<const Message> parts) {
  const std::size_t size = blocks_.size(), first = parts.front().first, last = parts.front().last;
  const std::size_t words = words_of(last - first);
  std::vector<std::uint64_t> bits(words, 0);
  for (const Message& part : parts) {
    for (std::size_t word = 0; word < words; ++word) bits[word] |= part.bits(word);
  }
  std::vector<std::uint32_t> place(words + 1, 0);
  for (std::size_t word = 0; word < words; ++word)
    place[word + 1] = place[word] + static_cast<std::uint32_t>(std::popcount(bits[word]));
  char* const bytes = to.resize(Message::place_of(numbers_.size(), last - first, place[words], size));
  norms_.assign(words, 0);
  for_each_sum(parts, [&](std::size_t word, std::size_t, const AlignedVector<float>& sum) {
    norms_[word] += kernels::squared_norm(sum.data(), size);
    std::memcpy(bytes + Message::place_of(numbers_.size(), last - first, place[word]++, size), sum.data(),
                size * sizeof(float));
  });
  for (const double norm : norms_) numbers_[1] += norm;
  std::memcpy(bytes + numbers_.size() * sizeof(double), bits.data(), words * sizeof(std::uint64_t));
  std::memcpy(bytes, numbers_.data(), numbers_.size() * sizeof(double));
  return to.bytes();
}

// w and w' follow the sums; returns |.|^2 of those.
double RankExchange::apply(std::span<const Message> parts) {
  norms_.assign(words_of(parts.front().last - parts.front().first), 0);
  for_each_sum(parts, [&](std::size_t word, std::size_t k, const AlignedVector<float>& sum) {
    const auto w = weights_of(k);
    float* const base = base_of(k);
    for (std::size_t j = 0; j < w.size(); ++j) w[j] = base[j] += sum[j];
    norms_[word] += kernels::squared_norm(sum.data(), w.size());
  });
  double norm = 0;
  for (const double of_word : norms_) norm += of_word;
  return norm;
}

RankExchange::Norms RankExchange::exchange(std::size_t blocks, double times, std::span<double> sums) {
  const std::size_t ranks = fleet_.size(), rank = fleet_.rank(), size = blocks_.size();
  numbers_.assign(2 + sums.size(), 0);
  std::ranges::copy(sums, numbers_.begin() + 2);
  std::vector<std::string_view> to(ranks);
  std::vector<Message> messages;
  messages.reserve(ranks);
  // Two ranks send each other all that they have, and add up all of it. Among more of them each adds up a
  // part for the others.
  const bool at_once = ranks <= 2;
  for (std::size_t r = 0; r < ranks; ++r) {
    if (at_once && r != rank) continue;
    to[r] = at_once ? write_changes(outbox_[r], 0, blocks, times)
                    : write_changes(outbox_[r], part_of(blocks, r), part_of(blocks, r + 1), times);
  }
  Norms norms;
  const auto take_numbers = [&] {
    std::ranges::fill(sums, 0.0);
    for (const Message& message : messages) {
      norms.own += message.number(0), norms.sum += message.number(1);
      for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += message.number(2 + k);
    }
  };
  if (at_once) {
    std::memcpy(outbox_[rank].resize(to[rank].size()), numbers_.data(), numbers_.size() * sizeof(double));
    for (std::string_view& bytes : to) bytes = to[rank];
    fleet_.exchange(to, inbox_);
    for (std::size_t r = 0; r < ranks; ++r)
      messages.emplace_back(r == rank ? to[rank] : inbox_[r].bytes(), 0, blocks, numbers_.size(), size);
    norms.sum = apply(messages);
    take_numbers();
    return norms;
  }
  fleet_.exchange(to, inbox_);
  for (std::size_t r = 0; r < ranks; ++r) {
    messages.emplace_back(r == rank ? to[r] : inbox_[r].bytes(), part_of(blocks, rank),
                          part_of(blocks, rank + 1), numbers_.size(), size);
  }
  const std::string_view sum = write_sums(sums_outbox_, messages);
  std::ranges::fill(to, sum);
  fleet_.exchange(to, sums_inbox_);
  messages.clear();
  for (std::size_t r = 0; r < ranks; ++r) {
    messages.emplace_back(r == rank ? sum : sums_inbox_[r].bytes(), part_of(blocks, r),
                          part_of(blocks, r + 1), numbers_.size(), size);
    apply(std::span(messages).last(1));
  }
  take_numbers();
  return norms;
}

}  // namespace espalier
