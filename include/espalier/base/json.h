#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace espalier {

// A value that is missing or of another type than was asked for, or a text that is no JSON. One line.
class JsonError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
class JsonSyntaxError : public JsonError {
 public:
  JsonSyntaxError(const std::string& message, std::size_t column) : JsonError(message), column(column) {}
  std::size_t column;  // counts bytes from 1
};
// Correct JSON that asks for too much.
class JsonLimitError : public JsonError {
 public:
  JsonLimitError(const std::string& found, const std::string& expected)
      : JsonError(found + "; " + expected), found(found), expected(expected) {}
  std::string found, expected;
};

// A JSON value. Objects keep the order in which their members were added. What reads and writes the text is
// nlohmann-json; it stays in one source, since reading its header takes longer than compiling most of our
// files.
class Json {
 public:
  struct Member;
  using Array = std::vector<Json>;
  using Object = std::vector<Member>;

  Json() noexcept;  // null
  Json(std::nullptr_t) noexcept : Json() {}
  template <std::same_as<bool> Bool>
  Json(Bool value) : Json() {
    set(value);
  }
  template <std::integral Integer>
  requires(!std::same_as<Integer, bool>) Json(Integer value) : Json() {
    if (value < 0) {
      set(static_cast<std::int64_t>(value));
    } else {
      set(static_cast<std::uint64_t>(value));
    }
  }
  template <std::floating_point Float>
  Json(Float value) : Json() {
    set(static_cast<double>(value));
  }
  Json(std::string value);
  Json(std::string_view value);
  Json(const char* value) : Json(std::string_view(value)) {}
  template <class T>
  Json(const std::vector<T>& values) : Json(array()) {
    for (const T& value : values) push_back(value);
  }
  // Pairs that all begin with a string make an object, as {{"name", value}, ...}; anything else is an array.
  // Where an array might be taken for an object, array() says what is meant.
  Json(std::initializer_list<Json> values);
  static Json array(std::initializer_list<Json> values = {});
  static Json object();

  Json(const Json&);
  Json(Json&&) noexcept;
  Json& operator=(Json) noexcept;
  ~Json();

  static constexpr std::size_t kDeepest =
      500;  // lists and objects in one another: both are written recursively

  // Throws JsonSyntaxError, or JsonLimitError for what is nested deeper and for numbers out of range.
  static Json parse(std::string_view text);
  // On one line. JSON has no infinity: numbers that are not finite become null. Bytes that are no UTF-8 are
  // replaced.
  std::string dump() const;

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  bool is_bool() const { return std::holds_alternative<bool>(value_); }
  bool is_string() const { return std::holds_alternative<std::string>(value_); }
  bool is_array() const { return std::holds_alternative<Array>(value_); }
  bool is_object() const { return std::holds_alternative<Object>(value_); }
  bool is_unsigned() const { return std::holds_alternative<std::uint64_t>(value_); }
  bool is_number() const {
    return is_unsigned() || std::holds_alternative<std::int64_t>(value_) ||
           std::holds_alternative<double>(value_);
  }

  // bool, numbers, std::string and vectors of them. Throws JsonError if the value is not one: a whole number
  // has to be one, and in range.
  template <class T>
  T get() const {
    T result;
    get_to(result);
    return result;
  }

  // Members of an object. Throw JsonError if this is not an object, and at(), as the const [], if there is
  // none of this name; the other [] adds it, and makes an object of null.
  const Json& at(std::string_view key) const;
  const Json& operator[](std::string_view key) const { return at(key); }
  Json& operator[](std::string_view key);
  // False if this is not an object.
  bool contains(std::string_view key) const { return find(key) != nullptr; }
  template <class T>
  T value(std::string_view key, T otherwise) const {
    const Json* found = is_object() ? find(key) : &at(key);
    return found ? found->get<T>() : std::move(otherwise);
  }
  void update(const Json& other);  // adds or replaces
  void erase(std::string_view key);
  std::span<const Member> items() const;

  // Elements of an array. Throw JsonError if there is none; push_back makes an array of null.
  template <std::integral Integer>
  const Json& operator[](Integer index) const {
    return at_index(static_cast<std::size_t>(index));
  }
  template <std::integral Integer>
  Json& operator[](Integer index) {
    return const_cast<Json&>(at_index(static_cast<std::size_t>(index)));
  }
  Json& push_back(Json value);
  const Json& back() const { return at_index(size() - 1); }
  const Json* begin() const;
  const Json* end() const;

  std::size_t size() const;  // of an array or object; null has 0, anything else 1
  bool empty() const { return size() == 0; }

  // Numbers are equal by value, objects if they have the same members in the same order.
  friend bool operator==(const Json& a, const Json& b) { return a.equals(b); }
  friend std::ostream& operator<<(std::ostream& stream, const Json& json);

 private:
  // Whole numbers from 0 on are always unsigned.
  using Value =
      std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, Array, Object>;

  void set(bool value);
  void set(std::int64_t value);  // negative
  void set(std::uint64_t value);
  void set(double value);
  void get_to(Json& result) const { result = *this; }
  void get_to(bool& result) const;
  void get_to(std::string& result) const;
  template <std::floating_point Float>
  void get_to(Float& result) const {
    result = static_cast<Float>(number());
  }
  template <std::integral Integer>
  void get_to(Integer& result) const {
    using Limits = std::numeric_limits<Integer>;
    const auto [magnitude, negative] =
        whole(static_cast<std::uint64_t>(Limits::max()), std::signed_integral<Integer>);
    result = static_cast<Integer>(negative ? std::uint64_t{0} - magnitude : magnitude);
  }
  template <class T>
  void get_to(std::vector<T>& result) const {
    for (const Json& element : elements()) result.push_back(element.get<T>());
  }
  double number() const;
  std::pair<std::uint64_t, bool> whole(std::uint64_t max, bool may_be_negative) const;
  std::span<const Json> elements() const;
  const Json* find(std::string_view key) const;
  const Json& at_index(std::size_t index) const;
  bool equals(const Json& other) const;
  void write(std::string& text) const;
  // For who reads a text: a member behind all others, whatever they are called; then of members of one name
  // the last one takes the place of the first.
  Json& add_member(std::string key, Json value);
  void drop_repeated();
  class Builder;
  [[noreturn]] void fail_type(const char* expected) const;

  Value value_;
};

struct Json::Member {
  std::string key;
  Json value;

  friend bool operator==(const Member&, const Member&) = default;
};

}  // namespace espalier
