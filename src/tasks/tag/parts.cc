#include "tasks/tag/parts.h"

#include <atomic>
#include <utility>

#include "base/parallel.h"
#include "tasks/new_names.h"
#include "tasks/tag/parser.h"
#include "tasks/tag/sequence_taker.h"

namespace espalier {
namespace {

// One of several that read files.
class TagPartReader {
 public:
  // Names are numbered by this reader alone, and counted.
  TagPartReader(const TagInput& input, const SequenceFile& file, bool count)
      : input_(input), file_(file), taker_(input), grows_(true) {
    parser_ = make_tag_parser(input,
                              {NameIds(own_.attributes, count ? &counts_.attributes : nullptr),
                               NameIds(own_.transitions, count ? &counts_.transitions : nullptr)},
                              {true, {}});
  }
  // Names are those of dictionaries that stay as they are.
  TagPartReader(const TagInput& input, const SequenceFile& file, const TagDictionaries& fixed)
      : input_(input), file_(file), taker_(input), grows_(false) {
    parser_ = make_tag_parser(input, {NameIds(fixed.attributes), NameIds(fixed.transitions)}, {true, {}});
  }
  TagPartReader(const TagPartReader&) = delete;
  TagPartReader& operator=(const TagPartReader&) = delete;

  void read(const TextChunk& chunk, TagPart& part) {
    TagExamples& examples = part.examples;
    examples.sequences.transitions = std::move(transitions_);  // all that this reader has met
    const std::size_t attributes = own_.attributes.size(), transitions = own_.transitions.size(),
                      labels = own_.labels.size(), groups = taker_.groups().names().size();
    SequenceReader reader(chunk, input_, &file_);
    while (reader.next()) taker_.take(reader, *parser_, examples, own_.labels);
    part.num_documents = reader.num_documents();
    transitions_ = std::move(examples.sequences.transitions);
    part.attributes = names_from(own_.attributes, attributes);
    part.transitions = names_from(own_.transitions, transitions);
    part.labels = names_from(own_.labels, labels);
    part.groups = names_from(taker_.groups().names(), groups);
    std::vector<AttributeValue> set;
    const TransitionSets* sets = parser_->transition_sets();
    for (; sets != nullptr && num_sets_ < sets->size(); ++num_sets_) {
      sets->get(static_cast<std::uint32_t>(num_sets_), set);
      part.sets.insert(part.sets.end(), set.begin(), set.end());
      part.set_ends.push_back(part.sets.size());
    }
  }

  bool grows() const { return grows_; }
  const AttributeCounts& counts() const { return counts_; }

 private:
  const TagInput& input_;
  const SequenceFile& file_;
  TagDictionaries own_;  // labels, and what grows
  AttributeCounts counts_;
  SequenceTaker taker_;
  bool grows_;
  std::unique_ptr<TagParser> parser_;
  SparseRows transitions_;
  std::size_t num_sets_ = 0;
};

void renumber_ids(std::span<const std::uint32_t> numbers, std::vector<std::uint32_t>& ids) {
  for (std::uint32_t& id : ids) id = numbers[id];
}

}  // namespace

void TagParts::take(std::size_t reader, TagPart part) {
  Ids& ids = ids_[reader];
  if (names_ != nullptr) {
    merge_names(part.attributes, names_->attributes, ids.attributes);
    merge_names(part.transitions, names_->transitions, ids.transitions);
  }
  merge_names(part.labels, labels_, ids.labels);
  merge_names(part.groups, groups_, ids.groups);
  std::size_t begin = 0;
  for (const std::size_t end : part.set_ends) {
    set_.assign(part.sets.begin() + static_cast<std::ptrdiff_t>(begin),
                part.sets.begin() + static_cast<std::ptrdiff_t>(end));
    for (AttributeValue& attribute : set_) {
      if (names_ != nullptr) attribute.id = ids.transitions[attribute.id];
    }
    ids.sets.push_back(sets_.row(set_, transitions_));
    begin = end;
  }
  TagExamples& examples = part.examples;
  for (std::uint32_t& group : examples.groups)
    group = by_documents_ ? group + static_cast<std::uint32_t>(num_documents_) : ids.groups[group];
  num_documents_ += part.num_documents;
  parts_.push_back({reader, std::move(examples)});
}

void TagParts::add_counts(std::size_t reader, const AttributeCounts& of_reader, AttributeCounts& to) const {
  const auto add = [](const std::vector<std::uint32_t>& from, const std::vector<std::uint32_t>& ids,
                      std::size_t size, std::vector<std::uint32_t>& sum) {
    sum.resize(size);
    for (std::size_t id = 0; id < from.size(); ++id) sum[ids[id]] += from[id];
  };
  add(of_reader.attributes, ids_[reader].attributes, names_->attributes.size(), to.attributes);
  add(of_reader.transitions, ids_[reader].transitions, names_->transitions.size(), to.transitions);
}

void TagParts::renumber(std::span<const std::uint32_t> attributes, std::span<const std::uint32_t> transitions,
                        std::span<const std::uint32_t> labels) {
  for (Ids& ids : ids_) {
    renumber_ids(attributes, ids.attributes);
    renumber_ids(transitions, ids.transitions);
    renumber_ids(labels, ids.labels);
  }
  TransitionSets sets;
  SparseRows rows;
  for (std::uint32_t k = 0; k < sets_.size(); ++k) {
    sets_.get(k, set_);
    for (AttributeValue& attribute : set_) attribute.id = transitions[attribute.id];
    sets.row(set_, rows);
  }
  sets_ = std::move(sets);
  transitions_ = std::move(rows);
}

TagExamples TagParts::join(std::size_t threads) {
  TagExamples all;
  Sequences& sequences = all.sequences;
  std::vector<std::size_t> firsts{0}, tokens{0};  // of each part
  bool tied = true;
  std::vector<SparseRows> rows;
  for (Part& part : parts_) {
    firsts.push_back(firsts.back() + part.examples.sequences.size());
    tokens.push_back(tokens.back() + part.examples.sequences.num_tokens());
    tied = tied && part.examples.sequences.transition_of.empty();
    rows.push_back(std::move(part.examples.sequences.tokens));
  }
  const auto attributes = [&](std::size_t k) { return std::span(ids_[parts_[k].reader].attributes); };
  sequences.tokens = SparseRows::joined(rows, attributes, threads);
  sequences.transitions = std::move(transitions_);
  sequences.offsets.resize(firsts.back() + 1);
  all.labels.resize(tokens.back());
  if (!tied) sequences.transition_of.resize(tokens.back());
  std::atomic<std::size_t> next{0};
  run_in_parallel(threads, [&](std::size_t) {
    for (std::size_t k; (k = next++) < parts_.size();) {
      const TagExamples& from = parts_[k].examples;
      const Ids& ids = ids_[parts_[k].reader];
      for (std::size_t i = 0; i < from.sequences.size(); ++i)
        sequences.offsets[firsts[k] + i + 1] = tokens[k] + from.sequences.offsets[i + 1];
      for (std::size_t t = 0; t < from.labels.size(); ++t)
        all.labels[tokens[k] + t] = ids.labels[from.labels[t]];
      if (tied) continue;
      for (std::size_t i = 0; i < from.sequences.size(); ++i) {
        // No step leads into a first token: whatever set is the first one stands for it.
        for (std::size_t t = from.sequences.offsets[i] + 1; t < from.sequences.offsets[i + 1]; ++t)
          sequences.transition_of[tokens[k] + t] = ids.sets[from.sequences.transition_of[t]];
      }
    }
  });
  for (Part& part : parts_) {
    all.places.append(part.examples.places);
    all.weights.insert(all.weights.end(), part.examples.weights.begin(), part.examples.weights.end());
    all.groups.insert(all.groups.end(), part.examples.groups.begin(), part.examples.groups.end());
  }
  parts_.clear();
  return all;
}

TagParts read_tag_parts(ChunkReader& chunks, std::vector<TextChunk> before, const TagPartsRequest& request) {
  std::vector<std::unique_ptr<TagPartReader>> readers;
  for (std::size_t k = 0; k < request.threads; ++k) {
    readers.push_back(
        request.growing != nullptr
            ? std::make_unique<TagPartReader>(request.input, request.file, request.counts != nullptr)
            : std::make_unique<TagPartReader>(request.input, request.file, request.fixed));
  }
  TagParts parts(request.input, request.threads, request.growing, request.labels);
  read_in_chunks<TagPart>(
      chunks, std::move(before), readers,
      [](std::unique_ptr<TagPartReader>& reader, const TextChunk& chunk, TagPart& part) {
        reader->read(chunk, part);
      },
      [&](std::size_t reader, TagPart part) { parts.take(reader, std::move(part)); });
  for (std::size_t k = 0; request.counts != nullptr && k < request.threads; ++k)
    parts.add_counts(k, readers[k]->counts(), *request.counts);
  return parts;
}

}  // namespace espalier
