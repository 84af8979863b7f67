// Python objects as keys.
#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>

#include "core.hpp"

namespace bloomery::python {

namespace {

constexpr std::size_t piece_keys = 32768;  // of a list, between two looks at other threads
constexpr std::size_t long_work = 2048;    // keys that are worth giving up Python's lock for

reference type_name(PyObject* object) {
  return reference(
      PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(object)), "__name__"));
}

bool no_key(PyObject* object) {
  const reference type = type_name(object);
  if (!type) return false;
  PyErr_Format(PyExc_TypeError,
               "a key is str, bytes or an int, not %U; convert it, or give update() and "
               "contains_many() key=, a function that makes a key of each",
               type.get());
  return false;
}

// What hands out itself, or another of its sort, would be converted for ever.
bool no_array(PyObject* object) {
  const reference type = type_name(object);
  if (!type) return false;
  PyErr_Format(PyExc_TypeError,
               "to_numpy() or tolist() of %U gives neither an array nor a list of keys",
               type.get());
  return false;
}

// Whether it is an array of dates or spans of time, whose list has integers for some units and
// objects for others.
bool has_dates(PyObject* object) {
  const reference dtype(PyObject_GetAttrString(object, "dtype"));
  const reference kind(dtype ? PyObject_GetAttrString(dtype.get(), "kind") : nullptr);
  PyErr_Clear();
  return kind && PyUnicode_Check(kind.get()) != 0 &&
         (PyUnicode_CompareWithASCIIString(kind.get(), "M") == 0 ||
          PyUnicode_CompareWithASCIIString(kind.get(), "m") == 0);
}

bool look_at_integer(PyObject* object, key_view& key) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
  key.is_integer = true;
  key.integer = static_cast<std::uint64_t>(value);
  if (overflow == 0) return value != -1 || PyErr_Occurred() == nullptr;
  if (overflow > 0) {
    key.integer = PyLong_AsUnsignedLongLong(object);
    if (PyErr_Occurred() == nullptr) return true;
    PyErr_Clear();
  }
  PyErr_SetString(PyExc_ValueError,
                  "an int that is a key has 64 bits, from -2**63 to 2**64 - 1; add str(key) for "
                  "others");
  return false;
}

bool is_one_key(PyObject* object) {
  return PyUnicode_Check(object) != 0 || PyBytes_Check(object) != 0 ||
         PyByteArray_Check(object) != 0;
}

// What a letter of a buffer's format says of an integer; a size of 0 for all else.
struct integer_format {
  std::size_t size = 0;
  bool is_signed = false;
};
integer_format format_of(const char* format, Py_ssize_t item_bytes) {
  std::string_view text(format == nullptr ? "B" : format);
  const char native = std::endian::native == std::endian::little ? '<' : '>';
  if (text.size() == 2 && (text[0] == '@' || text[0] == '=' || text[0] == native)) {
    text.remove_prefix(1);
  }
  if (text.size() != 1) return {};
  const bool is_signed = std::string_view("bhilqn").find(text[0]) != std::string_view::npos;
  const bool is_unsigned = std::string_view("BHILQN").find(text[0]) != std::string_view::npos;
  if (!is_signed && !is_unsigned) return {};
  return {.size = static_cast<std::size_t>(item_bytes), .is_signed = is_signed};
}

// Unsigned, signed, or bytes of length one.
bool is_of_bytes(const char* format) {
  return format == nullptr || std::strpbrk(format, "Bbc") != nullptr;
}

template <class Number>
std::uint64_t number_at(const char* from) {
  Number number{};
  std::memcpy(&number, from, sizeof number);
  return static_cast<std::uint64_t>(number);
}

std::uint64_t widen(const char* from, std::size_t size, bool is_signed) {
  switch (size) {
    case 1: return is_signed ? number_at<std::int8_t>(from) : number_at<std::uint8_t>(from);
    case 2: return is_signed ? number_at<std::int16_t>(from) : number_at<std::uint16_t>(from);
    case 4: return is_signed ? number_at<std::int32_t>(from) : number_at<std::uint32_t>(from);
    default: return number_at<std::uint64_t>(from);
  }
}

// Keys of one sort that follow each other in a list, kept alive while they are used.
struct key_run {
  std::vector<bloomery_string> strings;
  std::vector<std::uint64_t> integers;
  std::vector<PyObject*> held;

  key_run() = default;
  key_run(const key_run&) = delete;
  key_run& operator=(const key_run&) = delete;
  ~key_run() { clear(); }

  void reserve(std::size_t count) { held.reserve(count); }
  [[nodiscard]] std::size_t size() const noexcept { return strings.size() + integers.size(); }
  // Whether a key of this sort goes on with the run.
  [[nodiscard]] bool takes(bool integer) const noexcept {
    return integer ? strings.empty() : integers.empty();
  }
  void add(key_view& key, PyObject* object) {
    if (key.is_integer) {
      integers.push_back(key.integer);
      return;
    }
    strings.push_back({key.data, static_cast<std::size_t>(key.bytes)});
    if (key.held) {
      held.push_back(key.held.release());
    } else {
      Py_INCREF(object);
      held.push_back(object);
    }
  }
  [[nodiscard]] bloomery_keys keys() const noexcept {
    if (!integers.empty()) return {integers.data(), nullptr, integers.size(), BLOOMERY_INTEGERS};
    return {strings.data(), nullptr, strings.size(), BLOOMERY_STRINGS};
  }
  void clear() {
    for (PyObject* object : held) Py_DECREF(object);
    held.clear();
    strings.clear();
    integers.clear();
  }
};

// Arrow's C data interface.
struct arrow_schema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  arrow_schema** children;
  const arrow_schema* dictionary;  // else null; then the array has places in it
  void (*release)(arrow_schema*);  // null when somebody has taken what was here
  void* private_data;
};
struct arrow_array {
  std::int64_t length;
  std::int64_t null_count;
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  arrow_array** children;
  arrow_array* dictionary;
  void (*release)(arrow_array*);
  void* private_data;
};

// Whether lengths and places are such that no pointer of the array leads astray: without keys the
// buffers may be missing, with them only the data of strings, which are all empty then.
bool is_sound(const arrow_array& array, bool text) {
  constexpr std::int64_t most = std::int64_t{1} << 60;  // bytes of so many keys can be counted
  if (array.length < 0 || array.offset < 0 || array.length > most || array.offset > most ||
      array.n_buffers < (text ? 3 : 2) || array.buffers == nullptr) {
    return false;
  }
  return array.length == 0 || array.buffers[1] != nullptr;
}

bool has_nulls(const arrow_array& array) {
  const auto* const bits = static_cast<const std::uint8_t*>(array.buffers[0]);
  if (bits == nullptr || array.null_count == 0) return false;
  for (std::int64_t i = array.offset; i < array.offset + array.length; ++i) {
    if (((bits[i / 8] >> (i % 8)) & 1U) == 0) return true;
  }
  return false;
}

}  // namespace

bool look_at(PyObject* object, key_view& key) {
  key.is_integer = false;
  if (PyUnicode_Check(object) != 0) {
    key.data = PyUnicode_AsUTF8AndSize(object, &key.bytes);
    return key.data != nullptr;
  }
  if (PyLong_Check(object) != 0) return look_at_integer(object, key);
  if (PyByteArray_Check(object) != 0 || PyMemoryView_Check(object)) {
    key.held = reference(PyBytes_FromObject(object));  // they can change, bytes cannot
    if (!key.held) return false;
    object = key.held.get();
  }
  if (PyBytes_Check(object) != 0) {
    char* data = nullptr;
    if (PyBytes_AsStringAndSize(object, &data, &key.bytes) != 0) return false;
    key.data = data;
    return true;
  }
  // From here on the object's own code runs, which may take it out of the list that holds it.
  Py_INCREF(object);
  const reference kept(object);
  // Scalars of numpy; an array of one number has an index, too, but is none.
  if (PyIndex_Check(object) == 0 || PyObject_HasAttrString(object, "__len__") != 0) {
    return no_key(object);
  }
  const reference number(PyNumber_Index(object));
  if (number) return look_at_integer(number.get(), key);
  if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) return false;
  PyErr_Clear();
  return no_key(object);
}

// ---- many keys --------------------------------------------------------------------------------

key_source::key_source(PyObject* object) {
  // A column of pandas becomes an array, and an array of strings a list.
  constexpr int conversions = 2;
  valid_ = take(object, conversions);
}

key_source::~key_source() {
  if (has_buffer_) PyBuffer_Release(&buffer_);
}

bool key_source::take(PyObject* object, int conversions) {
  if (is_one_key(object)) {
    PyErr_SetString(PyExc_TypeError,
                    "this takes many keys, and a str or bytes is one: use add() or `in`, or put it "
                    "into a list");
    return false;
  }
  if (PyList_Check(object) != 0 || PyTuple_Check(object) != 0) {
    Py_INCREF(object);
    sequence_ = reference(object);
    // Its items, and not what the __len__ of a class over it says.
    const bool is_list = PyList_Check(object) != 0;
    count_ = static_cast<std::size_t>(is_list ? PyList_Size(object) : PyTuple_Size(object));
    return true;
  }
  // The buffer of a masked array has the values that are masked as well.
  if (PyObject_HasAttrString(object, "mask") != 0 &&
      PyObject_HasAttrString(object, "compressed") != 0) {
    PyErr_SetString(PyExc_TypeError,
                    "this is a masked array: give its compressed(), the keys that are not masked");
    return false;
  }
  if (PyObject_HasAttrString(object, "__arrow_c_array__") != 0) return take_arrow(object);
  if (PyObject_CheckBuffer(object) != 0) {
    bool other = false;
    if (take_buffer(object, other)) return true;
    if (!other) return false;
  }
  if (has_dates(object)) {
    PyErr_SetString(PyExc_TypeError,
                    "dates are no keys: give their integers, astype('int64'), or text of them");
    return false;
  }
  for (const char* method : {"to_numpy", "tolist"}) {  // columns of pandas; arrays of strings
    if (PyObject_HasAttrString(object, method) == 0) continue;
    const reference converted(PyObject_CallMethod(object, method, nullptr));
    if (!converted) return false;
    if (PyList_Check(converted.get()) == 0 && std::string_view(method) == "tolist") break;
    if (conversions == 0) return no_array(object);
    return take(converted.get(), conversions - 1);
  }
  return take_sequence(object);
}

bool key_source::take_sequence(PyObject* object) {
  sequence_ = reference(PySequence_List(object));
  if (!sequence_) return false;
  count_ = static_cast<std::size_t>(PyList_Size(sequence_.get()));
  return true;
}

// An array of integers. `other` is set when it is one of something else, without an exception.
bool key_source::take_buffer(PyObject* object, bool& other) {
  if (PyObject_GetBuffer(object, &buffer_, PyBUF_RECORDS_RO) != 0) {
    PyErr_Clear();  // numpy has no buffers of dates
    other = true;
    return false;
  }
  has_buffer_ = true;
  if (PyMemoryView_Check(object) && buffer_.itemsize == 1 && is_of_bytes(buffer_.format)) {
    PyErr_SetString(PyExc_TypeError,
                    "a memoryview of bytes is one key, and this takes many: put it into a list, or "
                    "give its tolist() when its numbers are the keys");
    return false;
  }
  const integer_format format = format_of(buffer_.format, buffer_.itemsize);
  if (format.size == 0 || buffer_.ndim == 0) {
    PyBuffer_Release(&buffer_);
    has_buffer_ = false;
    other = true;
    return false;
  }
  if (buffer_.ndim != 1) {
    PyErr_Format(PyExc_ValueError, "keys are an array of one dimension, not of %d", buffer_.ndim);
    return false;
  }
  count_ = static_cast<std::size_t>(buffer_.shape[0]);
  numbers_ = {static_cast<const char*>(buffer_.buf), buffer_.strides[0], format.size,
              format.is_signed};
  return true;
}

bool key_source::take_arrow(PyObject* object) {
  sequence_ = reference(PyObject_CallMethod(object, "__arrow_c_array__", nullptr));
  if (!sequence_) return false;
  if (PyTuple_Check(sequence_.get()) == 0 || PyTuple_Size(sequence_.get()) != 2) {
    PyErr_SetString(PyExc_TypeError, "__arrow_c_array__() gave no pair of capsules");
    return false;
  }
  const auto* const schema = static_cast<const arrow_schema*>(
      PyCapsule_GetPointer(PyTuple_GetItem(sequence_.get(), 0), "arrow_schema"));
  if (schema == nullptr) return false;
  const auto* const array = static_cast<const arrow_array*>(
      PyCapsule_GetPointer(PyTuple_GetItem(sequence_.get(), 1), "arrow_array"));
  if (array == nullptr) return false;
  if (schema->release == nullptr || array->release == nullptr) {
    PyErr_SetString(PyExc_ValueError,
                    "the Arrow array was released, or somebody has taken it already");
    return false;
  }
  if (schema->dictionary != nullptr) {
    PyErr_SetString(PyExc_TypeError,
                    "the Arrow array has a dictionary and places in it, which are no keys; give "
                    "its values, in pyarrow those of dictionary_decode()");
    return false;
  }
  const std::string_view format(schema->format == nullptr ? "" : schema->format);
  constexpr std::string_view integers = "cCsSiIlL";
  const bool text = format == "u" || format == "z" || format == "U" || format == "Z";
  const std::size_t place = format.size() == 1 ? integers.find(format[0]) : integers.npos;
  if (!text && place == integers.npos) {
    PyErr_Format(PyExc_TypeError,
                 "an Arrow array of keys has strings, bytes or integers, not the format '%s'",
                 schema->format == nullptr ? "" : schema->format);
    return false;
  }
  if (!is_sound(*array, text)) {
    PyErr_SetString(PyExc_ValueError, "the Arrow array lacks the buffers that its length asks for");
    return false;
  }
  if (has_nulls(*array)) {
    PyErr_SetString(PyExc_ValueError, "the Arrow array has nulls, which are no keys; drop them");
    return false;
  }
  count_ = static_cast<std::size_t>(array->length);
  const auto skipped = static_cast<std::size_t>(array->offset);
  if (!text) {
    const std::size_t size = std::size_t{1} << (place / 2);
    numbers_ = {static_cast<const char*>(array->buffers[1]) + skipped * size,
                static_cast<std::ptrdiff_t>(size), size, place % 2 == 0};
    return true;
  }
  const bool wide = format == "U" || format == "Z";
  const std::size_t offset_bytes = wide ? sizeof(std::uint64_t) : sizeof(std::uint32_t);
  const auto* const offsets = static_cast<const char*>(array->buffers[1]);
  is_column_ = true;
  column_ = {array->buffers[2], offsets == nullptr ? nullptr : offsets + skipped * offset_bytes,
             count_, static_cast<std::uint32_t>(wide ? BLOOMERY_OFFSETS64 : BLOOMERY_OFFSETS32)};
  return true;
}

std::vector<std::uint64_t> key_source::widened(std::size_t first, std::size_t count) const {
  std::vector<std::uint64_t> wide(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto at = static_cast<std::ptrdiff_t>(first + i) * numbers_.stride;
    wide[i] = widen(numbers_.data + at, numbers_.size, numbers_.is_signed);
  }
  return wide;
}

bool key_source::run(filter_object* f, bool writes, const bloomery_keys& keys, std::size_t first,
                     call& work) {
  if (keys.count == 0) return true;
  if (!(writes ? wait_to_write(f) : wait_to_read(f))) return false;
  int status = 0;
  {
    const work_on marked(writes ? f : nullptr, writes ? nullptr : f, nullptr,
                         keys.count >= long_work);
    status = work(keys, first);
  }
  if (status < 0) raise(status);
  return status >= 0;
}

PyObject* key_source::item(std::size_t i) const {
  const auto index = static_cast<Py_ssize_t>(i);
  return PyList_Check(sequence_.get()) != 0 ? PyList_GetItem(sequence_.get(), index)
                                            : PyTuple_GetItem(sequence_.get(), index);
}

bool key_source::items_for_each(filter_object* f, bool writes, call& work) {
  key_run together;
  together.reserve(std::min(count_, piece_keys));
  std::size_t first = 0;
  const auto flush = [&] {
    const bool done = run(f, writes, together.keys(), first, work);
    first += together.size();
    together.clear();
    return done;
  };
  for (std::size_t i = 0; i < count_; ++i) {
    PyObject* const object = item(i);  // null when somebody has made the list shorter meanwhile
    if (object == nullptr) return false;
    key_view key;
    if (!look_at(object, key)) {
      // Those before it are in, as with a loop of add().
      PyObject* type = nullptr;
      PyObject* value = nullptr;
      PyObject* trace = nullptr;
      PyErr_Fetch(&type, &value, &trace);
      if (flush()) PyErr_Restore(type, value, trace);
      return false;
    }
    if (!together.takes(key.is_integer) && !flush()) return false;
    together.add(key, object);
    if (together.size() == piece_keys && !flush()) return false;
  }
  return flush();
}

bool key_source::for_each(filter_object* f, bool writes, call& work) {
  if (is_column_) return run(f, writes, column_, 0, work);
  if (numbers_.size == 0) return items_for_each(f, writes, work);
  if (numbers_.size == sizeof(std::uint64_t) && numbers_.stride == sizeof(std::uint64_t) &&
      reinterpret_cast<std::uintptr_t>(numbers_.data) % alignof(std::uint64_t) == 0) {
    return run(f, writes, {numbers_.data, nullptr, count_, BLOOMERY_INTEGERS}, 0, work);
  }
  for (std::size_t first = 0; first < count_; first += piece_keys) {
    const std::vector<std::uint64_t> wide = widened(first, std::min(piece_keys, count_ - first));
    if (!run(f, writes, {wide.data(), nullptr, wide.size(), BLOOMERY_INTEGERS}, first, work)) {
      return false;
    }
  }
  return true;
}

bool key_source::at_once(call& work) {
  key_run together;
  std::vector<std::uint64_t> wide;
  bloomery_keys keys = column_;
  if (numbers_.size != 0) {
    if (count_ > wide.max_size()) {  // an array can be one number again and again
      PyErr_NoMemory();
      return false;
    }
    wide = widened(0, count_);
    keys = {wide.data(), nullptr, wide.size(), BLOOMERY_INTEGERS};
  } else if (!is_column_) {
    for (std::size_t i = 0; i < count_; ++i) {
      PyObject* const object = item(i);
      key_view key;
      if (object == nullptr || !look_at(object, key)) return false;
      if (!together.takes(key.is_integer)) {
        PyErr_SetString(PyExc_TypeError,
                        "the keys of a static filter are all strings or all integers");
        return false;
      }
      together.add(key, object);
    }
    keys = together.keys();
  }
  int status = 0;
  {
    const work_on nothing(nullptr, nullptr, nullptr, keys.count >= long_work);
    status = work(keys, 0);
  }
  if (status < 0) raise(status);
  return status >= 0;
}

}  // namespace bloomery::python
