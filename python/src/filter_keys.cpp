// What the type does with keys: one of them, and many.
#include <string>

#include "core.hpp"

namespace bloomery::python {

namespace {

// ---- one key ----------------------------------------------------------------------------------

// Any key but a plain str, which has a short way below.
[[gnu::noinline]] int contains_any(filter_object* f, PyObject* object) {
  key_view key;
  if (!wait_to_read(f) || !look_at(object, key)) return -1;
  // Looking at an object may have run code that closed the filter.
  if (!wait_to_read(f)) return -1;
  const int answer =
      key.is_integer ? bloomery_contains_integer(f->filter, key.integer)
                     : bloomery_contains(f->filter, key.data, static_cast<std::size_t>(key.bytes));
  if (answer < 0) raise(answer);
  return answer < 0 ? -1 : answer;
}

[[gnu::noinline]] PyObject* add_any(filter_object* f, PyObject* object) {
  key_view key;
  if (!wait_to_write(f) || !look_at(object, key) || !wait_to_write(f)) return nullptr;
  const int status = key.is_integer
                         ? bloomery_add_integer(f->filter, key.integer)
                         : bloomery_add(f->filter, key.data, static_cast<std::size_t>(key.bytes));
  if (status < 0) return raise(status);
  Py_RETURN_NONE;
}

}  // namespace

// A str is told by its exact type, which takes no call.
int contains(PyObject* self, PyObject* object) {
  filter_object* const f = as_filter(self);
  const bool busy = f->writing != 0 || f->filter == nullptr;
  if (busy || Py_TYPE(object) != &PyUnicode_Type) [[unlikely]]
    return contains_any(f, object);
  Py_ssize_t bytes = 0;
  const char* const text = PyUnicode_AsUTF8AndSize(object, &bytes);
  if (text == nullptr) return -1;
  const int answer = bloomery_contains(f->filter, text, static_cast<std::size_t>(bytes));
  if (answer >= 0) [[likely]]
    return answer;
  raise(answer);
  return -1;
}

PyObject* add(PyObject* self, PyObject* object) {
  filter_object* const f = as_filter(self);
  const bool busy = f->writing != 0 || f->reading != 0 || f->filter == nullptr;
  if (busy || Py_TYPE(object) != &PyUnicode_Type) [[unlikely]]
    return add_any(f, object);
  Py_ssize_t bytes = 0;
  const char* const text = PyUnicode_AsUTF8AndSize(object, &bytes);
  if (text == nullptr) return nullptr;
  const int status = bloomery_add(f->filter, text, static_cast<std::size_t>(bytes));
  if (status < 0) return raise(status);
  Py_RETURN_NONE;
}

// ---- many keys --------------------------------------------------------------------------------

namespace {

// Where keys come one by one, from code that may look at the filter itself, each is added before
// the next is asked for.
PyObject* update_from_iterator(PyObject* self, PyObject* iterator) {
  for (;;) {
    const reference object(PyIter_Next(iterator));
    if (!object) break;
    const reference done(add(self, object.get()));
    if (!done) return nullptr;
  }
  if (PyErr_Occurred() != nullptr) return nullptr;
  Py_RETURN_NONE;
}

// New bytes for so many answers, and where they are.
reference room_for(std::size_t count, std::size_t answer_bytes, char*& data) {
  if (count > static_cast<std::size_t>(PY_SSIZE_T_MAX) / answer_bytes) {
    PyErr_NoMemory();
    return reference();
  }
  const auto bytes = static_cast<Py_ssize_t>(count * answer_bytes);
  reference room(PyByteArray_FromStringAndSize(nullptr, bytes));
  data = room ? PyByteArray_AsString(room.get()) : nullptr;
  return room;
}
template <class Number>
Number* numbers_in(char* data) {  // Python aligns what it allocates
  return reinterpret_cast<Number*>(data);
}

}  // namespace

PyObject* update(PyObject* self, PyObject* keys) {
  filter_object* const f = as_filter(self);
  if (!wait_to_write(f)) return nullptr;
  if (PyIter_Check(keys) != 0) return update_from_iterator(self, keys);
  key_source source(keys);
  if (!source.valid()) return nullptr;
  call_of work(
      [f](const bloomery_keys& some, std::size_t) { return bloomery_add_batch(f->filter, &some); });
  if (!source.for_each(f, true, work)) return nullptr;
  Py_RETURN_NONE;
}

// A buffer with a number for each key, which `ask` writes for some of them at a time.
template <class Number, class Ask>
PyObject* answers_to(PyObject* self, PyObject* keys, Ask ask) {
  filter_object* const f = as_filter(self);
  key_source source(keys);
  if (!source.valid()) return nullptr;
  char* data = nullptr;
  reference out = room_for(source.count(), sizeof(Number), data);
  if (!out) return nullptr;
  call_of work([f, data, ask](const bloomery_keys& some, std::size_t first) {
    return ask(f->filter, &some, numbers_in<Number>(data) + first);
  });
  return source.for_each(f, false, work) ? out.release() : nullptr;
}

PyObject* contains_many(PyObject* self, PyObject* keys) {
  return answers_to<std::uint8_t>(self, keys, bloomery_contains_batch);
}

PyObject* counts(PyObject* self, PyObject* keys) {
  return answers_to<std::uint64_t>(self, keys, bloomery_count);
}

PyObject* remove_many(PyObject* self, PyObject* keys) {
  filter_object* const f = as_filter(self);
  key_source source(keys);
  if (!source.valid()) return nullptr;
  std::uint64_t all = 0;
  call_of work([f, &all](const bloomery_keys& some, std::size_t) {
    std::uint64_t removed = 0;
    const int status = bloomery_remove(f->filter, &some, &removed);
    all += removed;
    return status;
  });
  if (!source.for_each(f, true, work)) return nullptr;
  return PyLong_FromUnsignedLongLong(all);
}

PyObject* values_of(PyObject* self, PyObject* keys) {
  filter_object* const f = as_filter(self);
  key_source source(keys);
  if (!source.valid()) return nullptr;
  char* data = nullptr;
  char* there = nullptr;
  const reference values = room_for(source.count(), sizeof(std::uint64_t), data);
  const reference found = room_for(source.count(), sizeof(std::uint8_t), there);
  if (!values || !found) return nullptr;
  call_of work([&](const bloomery_keys& some, std::size_t first) {
    return bloomery_value(f->filter, &some, numbers_in<std::uint64_t>(data) + first,
                          numbers_in<std::uint8_t>(there) + first);
  });
  if (!source.for_each(f, false, work)) return nullptr;
  return PyTuple_Pack(2, values.get(), found.get());
}

bool plain_numbers(PyObject* object, std::size_t count, std::vector<std::uint64_t>& out) {
  const reference list(PySequence_List(object));
  if (!list) return false;
  if (static_cast<std::size_t>(PyList_Size(list.get())) != count) {
    PyErr_SetString(PyExc_ValueError, "there must be one number for each key");
    return false;
  }
  out.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    PyObject* const item = PyList_GetItem(list.get(), static_cast<Py_ssize_t>(i));
    std::uint64_t value = 0;
    if (!take_number(item, "a count or value", 0, 64, value)) return false;
    out.push_back(value);
  }
  return true;
}

PyObject* add_counts(PyObject* self, PyObject* args) {
  filter_object* const f = as_filter(self);
  PyObject* keys = nullptr;
  PyObject* given = nullptr;
  if (PyArg_ParseTuple(args, "OO", &keys, &given) == 0) return nullptr;
  key_source source(keys);
  std::vector<std::uint64_t> numbers;
  if (!source.valid() || !plain_numbers(given, source.count(), numbers)) return nullptr;
  call_of work([&](const bloomery_keys& some, std::size_t first) {
    return bloomery_add_counts(f->filter, &some, numbers.data() + first);
  });
  if (!source.for_each(f, true, work)) return nullptr;
  Py_RETURN_NONE;
}

PyObject* set_values(PyObject* self, PyObject* args) {
  filter_object* const f = as_filter(self);
  PyObject* keys = nullptr;
  PyObject* given = nullptr;
  if (PyArg_ParseTuple(args, "OO", &keys, &given) == 0) return nullptr;
  key_source source(keys);
  std::vector<std::uint64_t> numbers;
  if (!source.valid() || !plain_numbers(given, source.count(), numbers)) return nullptr;
  std::uint64_t all = 0;
  call_of work([&](const bloomery_keys& some, std::size_t first) {
    std::uint64_t updated = 0;
    const int status = bloomery_set_values(f->filter, &some, numbers.data() + first, &updated);
    all += updated;
    return status;
  });
  if (!source.for_each(f, true, work)) return nullptr;
  return PyLong_FromUnsignedLongLong(all);
}

PyObject* top(PyObject* self, PyObject* /*nothing*/) {
  filter_object* const f = as_filter(self);
  if (!wait_to_write(f)) return nullptr;  // a sketch makes its words when they are asked for
  std::size_t count = 0;
  int status = bloomery_top(f->filter, nullptr, 0, &count);
  std::vector<bloomery_counted_key> entries(count);
  if (status == 0) status = bloomery_top(f->filter, entries.data(), count, &count);
  if (status < 0) return raise(status);
  // The keys lie in the filter, and making objects may run somebody's code, which may change it.
  std::string keys;
  for (const bloomery_counted_key& entry : entries) {
    keys.append(static_cast<const char*>(entry.data), entry.bytes);
  }
  std::size_t at = 0;
  reference list(PyList_New(0));
  if (!list) return nullptr;
  for (const bloomery_counted_key& entry : entries) {
    const reference pair(Py_BuildValue("(y#K)", keys.data() + at,
                                       static_cast<Py_ssize_t>(entry.bytes),
                                       static_cast<unsigned long long>(entry.count)));
    at += entry.bytes;
    if (!pair || PyList_Append(list.get(), pair.get()) != 0) return nullptr;
  }
  return list.release();
}

}  // namespace bloomery::python
