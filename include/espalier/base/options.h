#pragma once

#include <any>
#include <concepts>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "espalier/base/json.h"

namespace espalier {

// Options as data. A task or a solver keeps its options in a plain struct with defaults; a table of rows says
// what each member is called, what it may be and what it is for. Command lines, help, documentation and run
// logs are made from the table, and so is whatever else has to know the options without knowing the struct.
//
//   struct PruneOptions {
//     std::size_t most_heads = 10;
//     std::optional<double> below;
//   };
//   using Row = OptionOf<PruneOptions>;
//   const OptionTable table{Row("most_heads", &PruneOptions::most_heads, "maximum number of heads").from(1),
//                           Row("below", &PruneOptions::below, "drop less probable heads").between(0, 1)};
//   OptionValues values(table);
//   values.set("most_heads", "5");
//   values.as<PruneOptions>().most_heads;  // 5
//   values.log();                          // {"most_heads": 5}

enum class OptionKind {
  flag,   // bool
  whole,  // a whole number from 0 on
  real,
  bytes,  // a whole number, written as 500M or 1.5G
  text,   // also one of a closed list of words
  texts,  // any number of them
};

// Of numbers. Without ends: any.
struct OptionRange {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool above = false;  // `least` itself is not one of them
};

// "--hash-bits" for hash_bits
std::string argument_of(std::string_view name);

// One option of a struct whose type is not known here: objects are passed by their address.
struct OptionRow {
  std::string name;  // as in the log: hash_bits
  std::string help;  // other options in it are marked by setting()
  OptionKind kind = OptionKind::text;
  bool may_be_unset = false;  // std::optional
  OptionRange range{};
  std::vector<std::string> choices{};  // the words that are allowed; none: any text
  std::string implied{};               // what the option means without a value; empty: it needs one
  std::string file{};                  // what messages call the file that a value names; empty: it names none
  std::string log_name{};
  std::string value_name{};  // what help calls the value, such as X|auto; empty: what its kind is called
  bool basic = false;        // a newcomer needs it: the short help has it, too
  Json default_value{};      // null: unset

  // A value of the member: null where it is unset.
  std::function<Json(const void* object)> load{};
  std::function<void(void* object, const Json& value)> store{};
  std::function<bool(const void* object)> logged{};  // whether the value belongs in the log of a run
  // Whether the value matters, given the others, and what it takes for that ("kernel"); nothing: it always
  // does.
  std::function<bool(const void* object)> effective{};
  std::string needs{};

  // "--hash-bits"
  std::string argument() const { return argument_of(name); }
  // What help calls the value: FILE, N, X, SIZE or NAME, unless the row says otherwise. Empty for a flag.
  std::string metavar() const;
  // As it would be typed; empty where it is unset, an empty text, a flag that is off or a number that nobody
  // may type.
  std::string default_text() const;
  // "a whole number from 10 to 30"; empty where any text will do.
  std::string expected() const;
  // What is wrong with this text as a value: "found '7'; expected a whole number from 10 to 30". Empty:
  // nothing.
  std::string refuse(std::string_view text) const;
  // "invalid: no effect; expected valid or transitions, or no invalid", settings marked; empty: it has one.
  std::string no_effect(const void* object) const;
  // Sets the member to what the text says, or adds to it where there may be several. Throws Error.
  void set(void* object, std::string_view text) const;
};

// What is written as a text of its own, such as a Loss. parse() throws Error for others.
template <class Value>
concept NamedValue = requires(const Value value, std::string_view text) {
  { value.name() } -> std::same_as<std::string>;
  { Value::parse(text) } -> std::same_as<Value>;
};

// A row for a member of Struct, to be put into a table. The default is that of Struct().
template <class Struct>
class OptionOf {
 public:
  // `member` is &Struct::member, or a function from Struct& to a reference: bool, whole numbers, double,
  // std::string, a NamedValue, std::optional of one of these, or std::vector<std::string>.
  template <class Member>
  OptionOf(std::string name, Member member, std::string help) : OptionOf(std::move(name), std::move(help)) {
    using Value = std::remove_cvref_t<std::invoke_result_t<Member, Struct&>>;
    set_kind(static_cast<Value*>(nullptr));
    set_access<Value>(
        member, [](const Value& value) { return to_json(value); },
        [](const Json& json, Value& value) { from_json(json, value); });
  }
  // A member of an enum, by the words for its values.
  template <class Member, class Enum>
  OptionOf(std::string name, Member member, std::vector<std::pair<std::string, Enum>> words, std::string help)
      : OptionOf(std::move(name), std::move(help)) {
    for (const auto& [word, value] : words) row_.choices.push_back(word);
    set_access<Enum>(
        member,
        [words](const Enum& value) {
          for (const auto& [word, meaning] : words) {
            if (meaning == value) return Json(word);
          }
          return Json();
        },
        [words](const Json& json, Enum& value) {
          for (const auto& [word, meaning] : words) {
            if (json == Json(word)) value = meaning;
          }
        });
  }

  // Which numbers are allowed.
  OptionOf from(double least) const {
    return with([&](OptionRow& row) { row.range.least = least; });
  }
  OptionOf above(double least) const {
    return with([&](OptionRow& row) {
      row.range.least = least;
      row.range.above = true;
    });
  }
  OptionOf between(double least, double most) const {
    return with([&](OptionRow& row) {
      row.range.least = least;
      row.range.most = most;
    });
  }
  OptionOf bytes() const {
    return from(1).with([](OptionRow& row) { row.kind = OptionKind::bytes; });
  }
  // The value names a file, which is read.
  OptionOf file(std::string called) const {
    return with([&](OptionRow& row) { row.file = std::move(called); });
  }
  OptionOf choices(std::vector<std::string> words) const {
    return with([&](OptionRow& row) { row.choices = std::move(words); });
  }
  // What help calls the value.
  OptionOf value(std::string name) const {
    return with([&](OptionRow& row) { row.value_name = std::move(name); });
  }
  // Shown in the short help.
  OptionOf basic() const {
    return with([](OptionRow& row) { row.basic = true; });
  }
  // The option may be given without a value, and then has this one.
  OptionOf implied(std::string value) const {
    return with([&](OptionRow& row) { row.implied = std::move(value); });
  }

  // The log has every value but those that are unset, empty texts and empty lists, unless one of these says
  // otherwise.
  OptionOf logged_as(std::string name) const {
    return with([&](OptionRow& row) { row.log_name = std::move(name); });
  }
  OptionOf logged_if(std::function<bool(const Struct&)> condition) const {
    return with([&](OptionRow& row) {
      row.logged = [logged = row.logged, condition = std::move(condition)](const void* object) {
        return logged(object) && condition(*static_cast<const Struct*>(object));
      };
    });
  }
  // The value matters, and is logged, only where this holds: where `needs`, such as another option, is given.
  OptionOf only_if(std::function<bool(const Struct&)> condition, std::string needs) const {
    return logged_if(condition).with([&](OptionRow& row) {
      row.effective = [condition](const void* object) {
        return condition(*static_cast<const Struct*>(object));
      };
      row.needs = std::move(needs);
    });
  }
  OptionOf logged_if_changed() const {
    return with([](OptionRow& row) {
      row.logged = [load = row.load, usual = row.default_value](const void* object) {
        return !(load(object) == usual);
      };
    });
  }

  const OptionRow& row() const { return row_; }

 private:
  OptionOf(std::string name, std::string help) {
    row_.log_name = name;
    row_.name = std::move(name);
    row_.help = std::move(help);
  }
  template <class Change>
  OptionOf with(const Change& change) const {
    OptionOf changed = *this;
    change(changed.row_);
    return changed;
  }

  void set_kind(bool*) { row_.kind = OptionKind::flag; }
  template <std::integral Integer>
  void set_kind(Integer*) {
    row_.kind = OptionKind::whole;
    row_.range = {0, static_cast<double>(std::numeric_limits<Integer>::max())};
  }
  void set_kind(double*) { row_.kind = OptionKind::real; }
  void set_kind(std::string*) { row_.kind = OptionKind::text; }
  void set_kind(std::vector<std::string>*) { row_.kind = OptionKind::texts; }
  template <NamedValue Value>
  void set_kind(Value*) {
    row_.kind = OptionKind::text;
  }
  template <class Value>
  void set_kind(std::optional<Value>*) {
    set_kind(static_cast<Value*>(nullptr));
    row_.may_be_unset = true;
  }

  template <class Value>
  static Json to_json(const Value& value) {
    return value;
  }
  template <NamedValue Value>
  static Json to_json(const Value& value) {
    return value.name();
  }
  template <class Value>
  static Json to_json(const std::optional<Value>& value) {
    return value ? Json(*value) : Json();
  }
  template <class Value>
  static void from_json(const Json& json, Value& value) {
    value = json.get<Value>();
  }
  template <NamedValue Value>
  static void from_json(const Json& json, Value& value) {
    value = Value::parse(json.get<std::string>());
  }
  template <class Value>
  static void from_json(const Json& json, std::optional<Value>& value) {
    value = json.is_null() ? std::nullopt : std::optional<Value>(json.get<Value>());
  }

  template <class Value, class Member, class Load, class Store>
  void set_access(Member member, const Load& load, const Store& store) {
    row_.load = [member, load](const void* object) {
      // An accessor may be a function of a Struct that it could change; loading does not.
      return load(std::invoke(member, *static_cast<Struct*>(const_cast<void*>(object))));
    };
    row_.store = [member, store](void* object, const Json& json) {
      store(json, std::invoke(member, *static_cast<Struct*>(object)));
    };
    row_.logged = [load = row_.load](const void* object) {
      const Json value = load(object);
      return !value.is_null() && !(value == Json("")) && !(value.is_array() && value.empty());
    };
    const Struct defaults{};
    row_.default_value = row_.load(&defaults);
  }

  OptionRow row_;
};

// The options of one struct, in the order in which help and log have them.
class OptionTable {
 public:
  template <class Struct>
  OptionTable(std::initializer_list<OptionOf<Struct>> rows)
      : make_([] { return std::any(Struct{}); }),
        address_([](std::any& object) -> void* { return std::any_cast<Struct>(&object); }) {
    for (const OptionOf<Struct>& row : rows) rows_.push_back(row.row());
  }

  std::span<const OptionRow> rows() const { return rows_; }
  const OptionRow* find(std::string_view name) const;  // nullptr if there is none

 private:
  friend class OptionValues;

  std::any (*make_)();
  void* (*address_)(std::any&);
  std::vector<OptionRow> rows_;
};

// A struct of options whose type only those know who wrote it and who use it. A value.
class OptionValues {
 public:
  // The defaults. The table must outlive the values.
  explicit OptionValues(const OptionTable& table);
  // Requires the struct that the table is for.
  template <class Struct>
  OptionValues(const OptionTable& table, Struct options) : OptionValues(table) {
    as<Struct>() = std::move(options);
  }

  const OptionTable& table() const { return *table_; }
  const std::any& object() const { return object_; }  // the struct
  // Both throw Error if there is no such option; set() also where the text is not a value of it.
  void set(std::string_view name, std::string_view text);
  Json get(std::string_view name) const;
  // Throws Error if an option was set that has no effect, given the others.
  void check_effective() const;
  // What belongs in the log of a run.
  Json log() const;

  // Throws std::bad_any_cast where the table is for another struct.
  template <class Struct>
  const Struct& as() const {
    return std::any_cast<const Struct&>(object_);
  }
  template <class Struct>
  Struct& as() {
    return std::any_cast<Struct&>(object_);
  }
  template <class Struct>
  bool holds() const {
    return object_.type() == typeid(Struct);
  }

 private:
  const OptionRow& row(std::string_view name) const;
  void* address() { return table_->address_(object_); }
  const void* address() const { return table_->address_(const_cast<std::any&>(object_)); }

  const OptionTable* table_;
  std::any object_;
  std::vector<std::string> set_;  // names
};

// "libsvm, crfsuite or idx"
std::string listed(std::span<const std::string> words);

}  // namespace espalier
