#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/features/dictionary.h"
#include "espalier/tasks/task.h"
#include "espalier/tasks/treebank.h"

namespace espalier {

// Which tags a word may have. A word that training saw often has those it was seen with. What it saw seldom
// or never may also have those that rare words of its class had often enough. A class is the shape of a word
// (letters, digits, hyphens) with its last one, two or three letters: the longest for which training had
// enough rare words.
class TagLexicon {
 public:
  TagLexicon() = default;
  // Tags are added by their ids in `tags`, which has them all.
  TagLexicon(std::span<const std::vector<TaggedWord>> sentences, const Dictionary& tags);

  // At least one; that which the word, or its class, had most often is the first.
  std::span<const std::uint32_t> tags(std::string_view word) const;
  // Those of rare words of all classes.
  std::span<const std::uint32_t> open_tags() const { return classes_.of(*classes_.names.find("")); }

  void add_sections(TaskSections& sections) const;
  // Throws Error at a tag that is not below `num_tags`.
  static TagLexicon load(const StoredTask& stored, std::size_t num_tags);

 private:
  // Names, each with its tags.
  struct Table {
    Dictionary names;
    std::vector<std::uint32_t> own_ends, own_tags;  // of training
    std::span<const std::uint32_t> ends, tags;

    void add(std::string_view name, std::span<const std::uint32_t> with);
    std::span<const std::uint32_t> of(std::uint32_t name) const;
  };
  static void add_table(const std::string& name, const Table& table, TaskSections& sections);
  static Table load_table(const std::string& name, const StoredTask& stored, std::size_t num_tags);

  Table words_, classes_;
};

}  // namespace espalier
