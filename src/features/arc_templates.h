#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

// What features of arcs see of a word: a hash of each of these.
enum class Atom : std::uint8_t { form, prefix, lemma, coarse, fine, morphology };
inline constexpr std::size_t kNumAtoms = 6;

struct WordAtoms {
  std::array<std::uint64_t, kNumAtoms> hashes;
  std::uint64_t operator[](Atom atom) const { return hashes[static_cast<std::size_t>(atom)]; }
};

// A back-off of rare forms: their first letters.
WordAtoms word_atoms(std::string_view form, std::string_view lemma, std::string_view coarse,
                     std::string_view fine, std::string_view morphology);

// The part of a key that says on which side of its modifier the head is.
constexpr std::uint32_t direction_key(bool head_is_left) { return head_is_left ? 0x3c6ef372u : 0xa54ff53au; }

// A table of feature templates. Each names what it looks at: of the head (h), of the modifier (d) or of their
// neighbours (h-1, d+1), of a third word (s, g), and for every kind of word that lies between the two (b). A
// feature is a template with what it found there, in one of the two directions; each is used as it is, and
// together with the distance.
//
// So a feature has a key of 32 bits, the exclusive or of a part that depends on the head's place, a part that
// depends on the modifier's, and the direction's. All parts of a sentence are computed once for each word,
// and the keys of an arc are a row of exclusive ors.
class ArcTemplates {
 public:
  // Names begin with what the templates are of, such as "arc:".
  explicit ArcTemplates(std::span<const std::string_view> table, std::string_view of = {});

  std::size_t size() const { return plain_.size(); }  // without those of words between
  std::size_t num_between() const { return between_.size(); }
  // Whether template t looks at a form, a prefix or a lemma: the others see the same few things in every
  // sentence.
  bool is_lexical(std::size_t t) const { return plain_[t].lexical; }
  // "arc: head.form word-1.xpos", as people read it; of words between after the plain ones.
  std::string_view name(std::size_t t) const { return of(t).name; }

  // head[place * stride + t] and modifier[place * stride + t]: the parts of the keys, for the root (place 0)
  // and all words. Templates of words between follow the plain ones. Requires stride >= size() +
  // num_between().
  void keys(std::span<const WordAtoms> words, std::size_t stride, std::span<std::uint32_t> head,
            std::span<std::uint32_t> modifier) const;
  // third[place * stride + t]: the part of a third word (s, a sibling of the modifier, or g, the head's
  // head), for the root, all words and, at place m + 1, none.
  void third_keys(std::span<const WordAtoms> words, std::size_t stride, std::span<std::uint32_t> third) const;
  // The third part of a template of words between: what is found in such a word.
  std::uint32_t between_key(std::size_t t, const WordAtoms& word) const;

  // What a template looks at, as words away from a place.
  struct Look {
    int offset;
    Atom atom;
    friend bool operator==(const Look&, const Look&) = default;
  };
  using Looks = std::vector<Look>;
  const Looks& head_looks(std::size_t t) const { return of(t).head; }
  const Looks& modifier_looks(std::size_t t) const { return of(t).modifier; }
  // A hash of what looks find: equal for places that they cannot tell from each other.
  static std::uint64_t kind_of(std::span<const WordAtoms> words, std::size_t place, const Looks& looks,
                               std::uint64_t seed = 0);
  // The templates of these numbers, in this order; of words between after the plain ones.
  ArcTemplates in_order(std::span<const std::size_t> numbers) const;

 private:
  struct Template {
    std::string name;
    Looks head, modifier, third;
    Atom between = Atom::fine;
    std::uint64_t seed = 0;
    bool lexical = false;
  };
  ArcTemplates() = default;
  static void put_keys(std::span<const WordAtoms> words, std::size_t last, const Looks& looks,
                       std::uint64_t seed, std::size_t stride, std::uint32_t* keys);
  const Template& of(std::size_t t) const {
    return t < plain_.size() ? plain_[t] : between_[t - plain_.size()];
  }

  std::vector<Template> plain_, between_;
};

// First-order features after McDonald et al. (2005), with back-offs to lemmas, prefixes, coarse tags and
// morphology.
const ArcTemplates& arc_templates();
// What the relation of an arc depends on.
const ArcTemplates& relation_templates();
// Second order (McDonald and Pereira 2006; Carreras 2007): a head with two modifiers, and a head between its
// own head and a modifier.
const ArcTemplates& sibling_templates();
const ArcTemplates& grandparent_templates();

}  // namespace espalier
