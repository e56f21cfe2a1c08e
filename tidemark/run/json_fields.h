// SPDX-License-Identifier: Apache-2.0
// JSON of structs, declared once for both directions. A struct names its members in
//
//   template <class V>
//   void fields(V& v, Of<Culprit> auto& culprit) {
//     v("scope", culprit.scope);
//     TM_FIELDS(v, culprit, ring, resource, used);  // v("ring", culprit.ring), ...
//   }
//
// and can then be written (`put`, `json_text`) and read (`FieldReader::read`). Members are numbers,
// texts, enums (as numbers), optionals, arrays and vectors of such and of structs. A struct that is
// stored as a row of numbers has `numbers` instead of `fields`, with one v.row(...).
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdlib>
#include <limits>
#include <ranges>
#include <type_traits>

#include <fmt/core.h>

#include "tidemark/run/json.h"

namespace tidemark {

// A T to read into, or a const T to write.
template <class U, class T>
concept Of = std::same_as<std::remove_const_t<U>, T>;

template <class Json>
class FieldWriter;

// An object; `fill` puts its members.
template <class Json, class Fill>
void put_object(Json& json, const Fill& fill) {
  json.StartObject();
  fill();
  json.EndObject();
}

// What JSON has no number for becomes a text.
template <class Json>
void put_double(Json& json, double value) {
  if (std::isfinite(value))
    json.Double(value);
  else
    json.String(std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
}

// Writes one value; null for an optional without one.
template <class Json, class Value>
void put_value(Json& json, const Value& value) {
  if constexpr (std::same_as<Value, std::nullptr_t>)
    json.Null();
  else if constexpr (std::same_as<Value, bool>)
    json.Bool(value);
  else if constexpr (std::floating_point<Value>)
    put_double(json, value);
  else if constexpr (std::is_enum_v<Value>)
    put_value(json, static_cast<std::underlying_type_t<Value>>(value));
  else if constexpr (std::signed_integral<Value>)
    json.Int64(value);
  else if constexpr (std::integral<Value>)
    json.Uint64(value);
  else if constexpr (std::convertible_to<const Value&, std::string_view>)
    put_text(json, value);
  else if constexpr (requires { value.has_value(); })
    value ? put_value(json, *value) : put_value(json, nullptr);
  else if constexpr (std::ranges::range<const Value&>) {
    json.StartArray();
    for (const auto& item : value) put_value(json, item);
    json.EndArray();
  } else {
    FieldWriter<Json> v(json);
    if constexpr (requires { numbers(v, value); })
      numbers(v, value);
    else
      put_object(json, [&] { fields(v, value); });
  }
}

template <class Json>
void put_key(Json& json, std::string_view key) {
  json.Key(key.data(), static_cast<rapidjson::SizeType>(key.size()));
}
template <class Json, class Value>
void put(Json& json, std::string_view key, const Value& value) {
  put_key(json, key);
  put_value(json, value);
}
template <class Json, class Fill>
void put_object(Json& json, std::string_view key, const Fill& fill) {
  put_key(json, key);
  put_object(json, fill);
}
// An array of one object per item; `fill(item)` puts the members of one.
template <class Json, class Items, class Fill>
void put_list(Json& json, std::string_view key, const Items& items, const Fill& fill) {
  put_key(json, key);
  json.StartArray();
  for (const auto& item : items) put_object(json, [&] { fill(item); });
  json.EndArray();
}

// A text of JSON: one value, or an object whose members `fill(json)` puts.
template <class Json = CompactJsonWriter, class What>
std::string json_text(const What& what, unsigned indent = 4) {
  rapidjson::StringBuffer buffer;
  Json json(buffer);
  if constexpr (std::derived_from<Json, JsonWriter>) json.SetIndent(' ', indent);
  if constexpr (std::invocable<const What&, Json&>)
    put_object(json, [&] { what(json); });
  else
    put_value(json, what);
  return {buffer.GetString(), buffer.GetSize()};
}

template <class Json>
class FieldWriter {
 public:
  static constexpr bool kReads = false;
  explicit FieldWriter(Json& json) : json_(json) {}
  [[nodiscard]] Json& json() { return json_; }

  void operator()(std::string_view key, const auto& value) { put(json_, key, value); }
  // What no reader here asks for.
  void writes(std::string_view key, const auto& value) { put(json_, key, value); }
  // An enum by its text: to_text(value) and from_text(text, value) are beside it.
  void text(std::string_view key, const auto& value) { put(json_, key, to_text(value)); }
  // 64 bits as a text: many JSON readers have only doubles.
  void decimal(std::string_view key, std::uint64_t value) {
    put(json_, key, std::to_string(value));
  }
  void hex(std::string_view key, std::uint64_t value) {
    put(json_, key, fmt::format("{:016x}", value));
  }
  // 0 or 1.
  void flag(std::string_view key, bool value) { put(json_, key, value ? 1 : 0); }
  void row(const auto&... values) {
    json_.StartArray();
    (put_value(json_, values), ...);
    json_.EndArray();
  }
  void object(std::string_view key, const auto& fn) {
    put_object(json_, key, [&] { fn(*this); });
  }
  // An array of objects: fn(v, item, index) names the members of one.
  void list(std::string_view key, const auto& items, const auto& fn) {
    std::size_t index = 0;
    put_list(json_, key, items, [&](const auto& one) { fn(*this, one, index++); });
  }
  // Members of this same object that are there together, `key` among them, or not at all.
  void part(std::string_view, const auto& optional) {
    if (optional) fields(*this, *optional);
  }

 private:
  Json& json_;
};

// Nothing is trusted: what is absent or of the wrong type reads as 0 or as an empty text, or leaves
// a bool, an optional or a list as it was; what is too large for a number reads as the largest one.
class FieldReader {
 public:
  static constexpr bool kReads = true;
  explicit FieldReader(const rapidjson::Value& json) : json_(json) {}

  void operator()(std::string_view key, auto& value) { read(member_of(json_, key), value); }
  void writes(std::string_view, const auto&) {}
  void text(std::string_view key, auto& value) { from_text(text_of(member_of(json_, key)), value); }
  void decimal(std::string_view key, std::uint64_t& value) { value = number_in(key, 10); }
  void hex(std::string_view key, std::uint64_t& value) { value = number_in(key, 16); }
  void flag(std::string_view key, bool& value) {
    std::uint64_t number = 0;
    read(member_of(json_, key), number);
    value = number != 0;
  }
  void row(auto&... values) {
    rapidjson::SizeType at = 0;
    (read(item(json_, at++), values), ...);
  }
  void object(std::string_view key, const auto& fn) {
    FieldReader inner(member_of(json_, key));
    if (inner.json_.IsObject()) fn(inner);
  }
  void list(std::string_view key, auto& items, const auto& fn) {
    const rapidjson::Value& array = member_of(json_, key);
    for (rapidjson::SizeType i = 0; array.IsArray() && i < array.Size(); ++i) {
      FieldReader inner(array[i]);
      fn(inner, items.emplace_back(), i);
    }
  }
  void part(std::string_view key, auto& optional) {
    if (!member_of(json_, key).IsNull()) fields(*this, optional.emplace());
  }

  template <class Value>
  static void read(const rapidjson::Value& json, Value& value) {
    if constexpr (std::same_as<Value, bool>)
      value = json.IsBool() ? json.GetBool() : value;
    else if constexpr (std::floating_point<Value>)
      value = json.IsNumber() ? json.GetDouble() : 0;
    else if constexpr (std::is_enum_v<Value>)
      value = static_cast<Value>(number_of<std::underlying_type_t<Value>>(json));
    else if constexpr (std::integral<Value>)
      value = number_of<Value>(json);
    else if constexpr (std::same_as<Value, std::string>)
      value = text_of(json);
    else if constexpr (std::is_bounded_array_v<Value>) {
      for (rapidjson::SizeType at = 0; auto& one : value)
        if (json.IsArray()) read(item(json, at++), one);
    } else if constexpr (requires { value.emplace(); }) {
      if (json.IsObject()) read(json, value.emplace());
    } else if constexpr (requires { value.emplace_back(); }) {
      for (rapidjson::SizeType i = 0; json.IsArray() && i < json.Size(); ++i)
        read(json[i], value.emplace_back());
    } else {
      FieldReader v(json);
      if constexpr (requires { numbers(v, value); })
        numbers(v, value);
      else
        fields(v, value);
    }
  }

 private:
  template <class Number>
  static Number number_of(const rapidjson::Value& json) {
    constexpr std::uint64_t kMost = std::numeric_limits<Number>::max();
    return static_cast<Number>(json.IsUint64() ? std::min(json.GetUint64(), kMost) : 0);
  }
  [[nodiscard]] std::uint64_t number_in(std::string_view key, int base) const {
    return std::strtoull(text_of(member_of(json_, key)).c_str(), nullptr, base);
  }
  static const rapidjson::Value& item(const rapidjson::Value& row, rapidjson::SizeType at) {
    return row.IsArray() && at < row.Size() ? row[at] : kJsonNull;
  }

  const rapidjson::Value& json_;
};

}  // namespace tidemark

// Members whose keys are their names, at most 64: v("a", object.a), v("b", object.b), ...
#define TM_FIELDS(v, object, ...) TM_EXPAND(TM_FIELD(v, object, __VA_ARGS__))
#define TM_FIELD(v, object, member, ...) \
  v(#member, (object).member) __VA_OPT__(, TM_FIELD_AGAIN TM_PARENS(v, object, __VA_ARGS__))
// A macro cannot use itself: it puts TM_FIELD_AGAIN there, which becomes TM_FIELD in the next
// round.
#define TM_FIELD_AGAIN() TM_FIELD
#define TM_PARENS ()
#define TM_EXPAND(...) TM_EXPAND2(TM_EXPAND2(TM_EXPAND2(TM_EXPAND2(__VA_ARGS__))))
#define TM_EXPAND2(...) TM_EXPAND1(TM_EXPAND1(TM_EXPAND1(TM_EXPAND1(__VA_ARGS__))))
#define TM_EXPAND1(...) TM_EXPAND0(TM_EXPAND0(TM_EXPAND0(TM_EXPAND0(__VA_ARGS__))))
#define TM_EXPAND0(...) __VA_ARGS__
