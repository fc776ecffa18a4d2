#include "espalier/base/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>
#include <unordered_map>

#include "espalier/base/error.h"

namespace espalier {
namespace {

template <class T>
std::string library_text(const T& value) {
  return nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void write_string(std::string_view value, std::string& text) {
  const bool plain = std::all_of(value.begin(), value.end(),
                                 [](char c) { return c >= ' ' && c < 127 && c != '"' && c != '\\'; });
  if (plain) {
    text += '"';
    text += value;
    text += '"';
  } else {
    text += library_text(value);
  }
}

}  // namespace

// Builds a value from what the parser meets.
class Json::Builder final : public nlohmann::json_sax<nlohmann::json> {
 public:
  Json take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_array() override { return close(); }
  bool key(string_t& value) override {
    key_ = std::move(value);
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& e) override {
    constexpr int kOutOfRange = 406;
    if (e.id == kOutOfRange)
      throw JsonLimitError("a number out of range", "expected numbers that a double holds");
    throw JsonSyntaxError(e.what(), position);
  }

 private:
  Json* place(Json value) {
    if (open_.empty()) return &(root_ = std::move(value));
    if (open_.back()->is_array()) return &open_.back()->push_back(std::move(value));
    return &open_.back()->add_member(std::move(key_), std::move(value));
  }
  bool add(Json value) {
    place(std::move(value));
    return true;
  }
  bool open(Json value) {
    if (open_.size() == kDeepest)
      throw JsonLimitError(fmt::format("lists and objects nested more than {} deep", kDeepest),
                           "expected shallower ones");
    open_.push_back(place(std::move(value)));
    return true;
  }
  bool close() {
    open_.back()->drop_repeated();
    open_.pop_back();
    return true;
  }

  Json root_;
  std::vector<Json*> open_;  // stay where they are: only the innermost grows
  std::string key_;
};

Json::Json() noexcept = default;
Json::Json(std::string value) : value_(std::move(value)) {}
Json::Json(std::string_view value) : value_(std::string(value)) {}
// A copy is made and then moved in: std::variant of libstdc++ 12 takes a value whose types are all safe to
// move for one that is always there, and destroys what was never made where its copy runs out of memory.
Json::Json(const Json& other) {
  std::visit([this](auto value) { value_ = std::move(value); }, other.value_);
}
Json::Json(Json&&) noexcept = default;
Json& Json::operator=(Json other) noexcept {
  value_.swap(other.value_);
  return *this;
}
Json::~Json() = default;

Json::Json(std::initializer_list<Json> values) {
  const bool pairs = std::all_of(values.begin(), values.end(), [](const Json& value) {
    return value.is_array() && value.size() == 2 && value[0].is_string();
  });
  if (!pairs) {
    value_ = Array(values);
    return;
  }
  value_ = Object();
  for (const Json& pair : values) (*this)[std::get<std::string>(pair[0].value_)] = pair[1];
}

void Json::set(bool value) { value_ = value; }
void Json::set(std::int64_t value) { value_ = value; }
void Json::set(std::uint64_t value) { value_ = value; }
void Json::set(double value) { value_ = value; }

Json Json::array(std::initializer_list<Json> values) {
  Json json;
  json.value_ = Array(values);
  return json;
}

Json Json::object() {
  Json json;
  json.value_ = Object();
  return json;
}

Json Json::parse(std::string_view text) {
  Builder builder;
  nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

std::string Json::dump() const {
  std::string text;
  write(text);
  return text;
}

void Json::write(std::string& text) const {
  if (is_null()) {
    text += "null";
  } else if (const auto* flag = std::get_if<bool>(&value_)) {
    text += *flag ? "true" : "false";
  } else if (const auto* negative = std::get_if<std::int64_t>(&value_)) {
    text += fmt::to_string(*negative);
  } else if (const auto* whole = std::get_if<std::uint64_t>(&value_)) {
    text += fmt::to_string(*whole);
  } else if (const auto* real = std::get_if<double>(&value_)) {
    text += library_text(*real);
  } else if (const auto* string = std::get_if<std::string>(&value_)) {
    write_string(*string, text);
  } else if (const auto* array = std::get_if<Array>(&value_)) {
    text += '[';
    for (const Json& element : *array) {
      if (&element != array->data()) text += ',';
      element.write(text);
    }
    text += ']';
  } else {
    text += '{';
    const auto& members = std::get<Object>(value_);
    for (const Member& member : members) {
      if (&member != members.data()) text += ',';
      write_string(member.key, text);
      text += ':';
      member.value.write(text);
    }
    text += '}';
  }
}

std::ostream& operator<<(std::ostream& stream, const Json& json) { return stream << json.dump(); }

void Json::fail_type(const char* expected) const {
  throw JsonError(fmt::format("{} where {} was expected", in_quotes(dump()), expected));
}

void Json::get_to(bool& result) const {
  if (!is_bool()) fail_type("true or false");
  result = std::get<bool>(value_);
}

void Json::get_to(std::string& result) const {
  if (!is_string()) fail_type("a string");
  result = std::get<std::string>(value_);
}

double Json::number() const {
  if (const auto* negative = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*negative);
  if (const auto* whole = std::get_if<std::uint64_t>(&value_)) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&value_)) return *real;
  fail_type("a number");
}

std::pair<std::uint64_t, bool> Json::whole(std::uint64_t max, bool may_be_negative) const {
  if (const auto* whole = std::get_if<std::uint64_t>(&value_); whole && *whole <= max) return {*whole, false};
  if (const auto* negative = std::get_if<std::int64_t>(&value_); negative && may_be_negative) {
    const std::uint64_t magnitude = std::uint64_t{0} - static_cast<std::uint64_t>(*negative);
    if (magnitude <= max + 1) return {magnitude, true};
  }
  fail_type(may_be_negative ? "a whole number in range" : "a whole number >= 0, in range");
}

const Json* Json::find(std::string_view key) const {
  const auto* members = std::get_if<Object>(&value_);
  if (members == nullptr) return nullptr;
  const auto found = std::find_if(members->begin(), members->end(),
                                  [key](const Member& member) { return member.key == key; });
  return found == members->end() ? nullptr : &found->value;
}

const Json& Json::at(std::string_view key) const {
  if (!is_object()) fail_type("an object");
  const Json* found = find(key);
  if (found == nullptr) throw JsonError(fmt::format("no entry {}", in_quotes(key)));
  return *found;
}

Json& Json::operator[](std::string_view key) {
  if (is_null()) value_ = Object();
  if (!is_object()) fail_type("an object");
  if (const Json* found = find(key)) return const_cast<Json&>(*found);
  return std::get<Object>(value_).emplace_back(Member{std::string(key), {}}).value;
}

Json& Json::add_member(std::string key, Json value) {
  return std::get<Object>(value_).emplace_back(Member{std::move(key), std::move(value)}).value;
}

// An object may have millions of members, and each is looked up once.
void Json::drop_repeated() {
  auto* const members = std::get_if<Object>(&value_);
  if (members == nullptr || members->size() < 2) return;
  std::unordered_map<std::string_view, std::size_t> first;
  std::vector<std::size_t> last(members->size());
  for (std::size_t i = 0; i < members->size(); ++i) {
    const std::size_t place = first.try_emplace((*members)[i].key, i).first->second;
    last[place] = i;
    if (place != i) last[i] = members->size();
  }
  if (first.size() == members->size()) return;
  Object kept;
  for (std::size_t i = 0; i < members->size(); ++i) {
    if (last[i] == members->size()) continue;
    // Before its key goes: the map has a view of it.
    kept.push_back({(*members)[i].key, std::move((*members)[last[i]].value)});
  }
  *members = std::move(kept);
}

void Json::update(const Json& other) {
  if (is_null()) value_ = Object();
  for (const Member& member : other.items()) (*this)[member.key] = member.value;
}

void Json::erase(std::string_view key) {
  if (auto* members = std::get_if<Object>(&value_))
    std::erase_if(*members, [key](const Member& member) { return member.key == key; });
}

std::span<const Json::Member> Json::items() const {
  if (is_null()) return {};
  if (!is_object()) fail_type("an object");
  return std::get<Object>(value_);
}

std::span<const Json> Json::elements() const {
  if (!is_array()) fail_type("a list");
  return std::get<Array>(value_);
}

const Json& Json::at_index(std::size_t index) const {
  const std::span<const Json> all = elements();
  if (index >= all.size()) throw JsonError(fmt::format("element {} of a list of {}", index, all.size()));
  return all[index];
}

Json& Json::push_back(Json value) {
  if (is_null()) value_ = Array();
  if (!is_array()) fail_type("a list");
  return std::get<Array>(value_).emplace_back(std::move(value));
}

const Json* Json::begin() const { return is_null() ? nullptr : elements().data(); }
const Json* Json::end() const { return is_null() ? nullptr : elements().data() + elements().size(); }

std::size_t Json::size() const {
  if (is_null()) return 0;
  if (const auto* array = std::get_if<Array>(&value_)) return array->size();
  if (const auto* members = std::get_if<Object>(&value_)) return members->size();
  return 1;
}

bool Json::equals(const Json& other) const {
  if (is_number() && other.is_number() && value_.index() != other.value_.index())
    return number() == other.number();
  return value_ == other.value_;
}

}  // namespace espalier
