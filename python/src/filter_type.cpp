// The type bloomery._core.Filter: a handle of the C interface with the slots and methods of Python.
#include <cmath>
#include <new>

#include "core.hpp"

namespace bloomery::python {

namespace {

// ---- making, saving, closing ------------------------------------------------------------------

PyObject* not_a_filter(PyObject* other) {
  const reference type(
      PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(other)), "__name__"));
  if (type) PyErr_Format(PyExc_TypeError, "another filter is expected, not %U", type.get());
  return nullptr;
}

// Puts a new handle into the object, in place of the one that it may have.
PyObject* adopt(filter_object* f, bloomery_filter* made) {
  if (f->filter != nullptr && !wait_to_write(f)) PyErr_Clear();  // closed meanwhile
  bloomery_free(f->filter);
  f->filter = made;
  Py_RETURN_NONE;
}

// What another object has, which is closed by that.
PyObject* take(PyObject* self, PyObject* other) {
  if (!is_filter(other) || self == other) return not_a_filter(other);
  if (!wait_to_write(as_filter(other))) return nullptr;
  bloomery_filter* const made = as_filter(other)->filter;
  as_filter(other)->filter = nullptr;
  return adopt(as_filter(self), made);
}

PyObject* make(PyObject* self, PyObject* dictionary) {
  bloomery_options o;
  if (!options_from(dictionary, o)) return nullptr;
  bloomery_filter* made = nullptr;
  const int status = bloomery_new(&o, &made);
  return status < 0 ? raise(status) : adopt(as_filter(self), made);
}

PyObject* build(PyObject* self, PyObject* args) {
  PyObject* dictionary = nullptr;
  PyObject* keys = nullptr;
  PyObject* given = nullptr;
  if (PyArg_ParseTuple(args, "OOO", &dictionary, &keys, &given) == 0) return nullptr;
  bloomery_options o;
  if (!options_from(dictionary, o)) return nullptr;
  key_source source(keys);
  if (!source.valid()) return nullptr;
  std::vector<std::uint64_t> numbers;
  if (given != Py_None && !plain_numbers(given, source.count(), numbers)) return nullptr;
  bloomery_filter* made = nullptr;
  call_of work([&](const bloomery_keys& all, std::size_t) {
    const std::uint64_t none = 0;
    const std::uint64_t* values = numbers.empty() ? &none : numbers.data();
    return bloomery_build(&o, &all, given == Py_None ? nullptr : values, 0, &made);
  });
  return source.at_once(work) ? adopt(as_filter(self), made) : nullptr;
}

// Work on a whole filter without Python's lock. `work` returns a status.
template <class Work>
int on_whole(filter_object* f, bool writes, Work work, filter_object* other = nullptr) {
  const work_on marked(writes ? f : nullptr, writes ? nullptr : f, other == f ? nullptr : other,
                       true);
  return work();
}

// A sketch that lists keys makes its words when they are asked for, and so is changed by that.
bool wait_for_words(filter_object* f, bool& writes) {
  if (!wait_to_read(f)) return false;
  writes = (bloomery_abilities(bloomery_kind_of(f->filter)) & BLOOMERY_CAN_LIST) != 0;
  return !writes || wait_to_write(f);
}

PyObject* save(PyObject* self, PyObject* path) {
  filter_object* const f = as_filter(self);
  PyObject* encoded = nullptr;
  if (PyUnicode_FSConverter(path, &encoded) == 0) return nullptr;
  const reference held(encoded);
  const char* const name = PyBytes_AsString(encoded);
  bool writes = false;
  if (!wait_for_words(f, writes)) return nullptr;
  const int status = on_whole(f, writes, [&] { return bloomery_save(f->filter, name); });
  if (status < 0) return raise(status);
  Py_RETURN_NONE;
}

using bytes_call = int (*)(const bloomery_filter*, bloomery_buffer*);

template <bytes_call Call, bool Text>
PyObject* make_bytes(PyObject* self, PyObject*) {
  filter_object* const f = as_filter(self);
  bool writes = false;
  if (!wait_for_words(f, writes)) return nullptr;
  bloomery_buffer made{};
  const int status = on_whole(f, writes, [&] { return Call(f->filter, &made); });
  if (status < 0) return raise(status);
  return Text ? as_text(made) : as_bytes(made);
}

PyObject* explain(PyObject* self, PyObject* object) {
  filter_object* const f = as_filter(self);
  key_view key;
  if (!wait_to_read(f) || !look_at(object, key) || !wait_to_read(f)) return nullptr;
  const bloomery_string text{key.data, static_cast<std::size_t>(key.bytes)};
  const bloomery_keys one = key.is_integer
                                ? bloomery_keys{&key.integer, nullptr, 1, BLOOMERY_INTEGERS}
                                : bloomery_keys{&text, nullptr, 1, BLOOMERY_STRINGS};
  bloomery_buffer made{};
  const int status = bloomery_explain_json(f->filter, &one, &made);
  return status < 0 ? raise(status) : as_text(made);
}

PyObject* verify(PyObject* self, PyObject*) {
  filter_object* const f = as_filter(self);
  if (!wait_to_read(f)) return nullptr;
  const int status = on_whole(f, false, [&] { return bloomery_verify(f->filter); });
  if (status < 0) return raise(status, true);
  Py_RETURN_NONE;
}

PyObject* clear(PyObject* self, PyObject*) {
  filter_object* const f = as_filter(self);
  if (!wait_to_write(f)) return nullptr;
  const int status = bloomery_clear(f->filter);
  if (status < 0) return raise(status);
  Py_RETURN_NONE;
}

PyObject* advance(PyObject* self, PyObject* now) {
  filter_object* const f = as_filter(self);
  std::uint64_t time = 0;
  if (!take_number(now, "the time", 0, 64, time) || !wait_to_write(f)) return nullptr;
  const int status = bloomery_advance(f->filter, time);
  if (status < 0) return raise(status);
  Py_RETURN_NONE;
}

PyObject* close(PyObject* self, PyObject*) {
  filter_object* const f = as_filter(self);
  if (f->filter != nullptr) {
    if (!wait_to_write(f)) PyErr_Clear();  // another thread has closed it meanwhile
    bloomery_free(f->filter);
    f->filter = nullptr;
  }
  Py_RETURN_NONE;
}

// ---- sets -------------------------------------------------------------------------------------

// Waits for both without holding on to either, so that two threads cannot wait for each other.
bool wait_for_both(filter_object* written, filter_object* a, filter_object* b) {
  for (;;) {
    if (written != nullptr && !wait_to_write(written)) return false;
    if (!wait_to_read(a) || !wait_to_read(b)) return false;
    const bool free = written == nullptr || (written->writing == 0 && written->reading == 0);
    if (free && a->writing == 0 && b->writing == 0) return true;
  }
}

template <class Work>
PyObject* from_two(PyObject* first, PyObject* second, Work work) {
  if (!is_filter(first) || !is_filter(second)) Py_RETURN_NOTIMPLEMENTED;
  filter_object* const a = as_filter(first);
  filter_object* const b = as_filter(second);
  if (!wait_for_both(nullptr, a, b)) return nullptr;
  bloomery_filter* made = nullptr;
  const int status = on_whole(
      a, false, [&] { return work(a->filter, b->filter, &made); }, b);
  return status < 0 ? raise(status) : wrap(made);
}

PyObject* union_of(PyObject* first, PyObject* second) {
  return from_two(first, second,
                  [](const bloomery_filter* a, const bloomery_filter* b, bloomery_filter** made) {
                    int status = bloomery_clone(a, made);
                    if (status == 0) status = bloomery_merge(*made, b);
                    if (status < 0) bloomery_free(*made);
                    return status;
                  });
}

PyObject* intersection_of(PyObject* first, PyObject* second) {
  return from_two(first, second, bloomery_intersect);
}

PyObject* merge_into(PyObject* self, PyObject* other) {
  if (!is_filter(self) || !is_filter(other)) Py_RETURN_NOTIMPLEMENTED;
  filter_object* const f = as_filter(self);
  filter_object* const from = as_filter(other);
  if (f != from) {  // else there is nothing to add
    if (!wait_for_both(f, from, from)) return nullptr;
    const int status = on_whole(
        f, true, [&] { return bloomery_merge(f->filter, from->filter); }, from);
    if (status < 0) return raise(status);
  }
  Py_INCREF(self);
  return self;
}

PyObject* issubset(PyObject* self, PyObject* other) {
  if (!is_filter(other)) return not_a_filter(other);
  filter_object* const f = as_filter(self);
  filter_object* const all = as_filter(other);
  if (!wait_for_both(nullptr, f, all)) return nullptr;
  const int answer = on_whole(
      f, false, [&] { return bloomery_covers(all->filter, f->filter); }, all);
  if (answer < 0) return raise(answer);
  return PyBool_FromLong(answer);
}

PyObject* compared(PyObject* self, PyObject* other, int operation) {
  if ((operation != Py_EQ && operation != Py_NE) || !is_filter(other)) Py_RETURN_NOTIMPLEMENTED;
  filter_object* const a = as_filter(self);
  filter_object* const b = as_filter(other);
  if (a == b) return PyBool_FromLong(operation == Py_EQ ? 1 : 0);
  if (a->filter == nullptr || b->filter == nullptr) {
    return PyBool_FromLong(operation == Py_NE ? 1 : 0);
  }
  bool writes = false;
  if (!wait_for_words(a, writes) || !wait_for_words(b, writes)) return nullptr;
  if (!wait_for_both(writes ? a : nullptr, a, b)) return nullptr;
  const int answer = writes
                         ? bloomery_equal(a->filter, b->filter)
                         : on_whole(
                               a, false, [&] { return bloomery_equal(a->filter, b->filter); }, b);
  if (answer < 0) return raise(answer);
  return PyBool_FromLong((answer == 1) == (operation == Py_EQ) ? 1 : 0);
}

PyObject* copy(PyObject* self, PyObject*) {
  filter_object* const f = as_filter(self);
  bool writes = false;
  if (!wait_for_words(f, writes)) return nullptr;
  bloomery_filter* made = nullptr;
  const int status = on_whole(f, writes, [&] { return bloomery_clone(f->filter, &made); });
  return status < 0 ? raise(status) : wrap(made);
}

PyObject* fold(PyObject* self, PyObject* divisor) {
  filter_object* const f = as_filter(self);
  std::uint64_t by = 0;
  if (!take_number(divisor, "the divisor", 1, 64, by) || !wait_to_read(f)) return nullptr;
  bloomery_filter* made = nullptr;
  const int status = on_whole(f, false, [&] { return bloomery_fold(f->filter, by, &made); });
  return status < 0 ? raise(status) : wrap(made);
}

PyObject* compare(PyObject* self, PyObject* other) {
  if (!is_filter(other)) return not_a_filter(other);
  filter_object* const a = as_filter(self);
  filter_object* const b = as_filter(other);
  if (!wait_for_both(nullptr, a, b)) return nullptr;
  bloomery_comparison c;
  const int status = on_whole(
      a, false, [&] { return bloomery_compare(a->filter, b->filter, &c); }, b);
  if (status < 0) return raise(status);
  return Py_BuildValue("{s:d,s:d,s:d,s:d,s:d,s:d,s:d,s:K}", "keys_a", c.keys_a.value, "keys_b",
                       c.keys_b.value, "keys_union", c.keys_union.value, "keys_intersection",
                       c.keys_intersection.value, "only_a", c.only_a.value, "only_b",
                       c.only_b.value, "jaccard", c.jaccard.value, "shared_bits",
                       static_cast<unsigned long long>(c.shared_bits));
}

PyObject* diff(PyObject* self, PyObject* other) {
  if (!is_filter(other)) return not_a_filter(other);
  filter_object* const from = as_filter(self);
  filter_object* const to = as_filter(other);
  bool writes = false;
  if (!wait_for_words(from, writes) || !wait_for_words(to, writes)) return nullptr;
  if (!wait_for_both(nullptr, from, to)) return nullptr;
  bloomery_buffer made{};
  const int status =
      writes ? bloomery_diff(from->filter, to->filter, &made)
             : on_whole(
                   from, false, [&] { return bloomery_diff(from->filter, to->filter, &made); }, to);
  return status < 0 ? raise(status) : as_bytes(made);
}

PyObject* patch(PyObject* self, PyObject* delta) {
  filter_object* const f = as_filter(self);
  Py_buffer bytes;
  if (PyObject_GetBuffer(delta, &bytes, PyBUF_SIMPLE) != 0) return nullptr;
  bool writes = false;
  bloomery_filter* made = nullptr;
  int status = -1;
  const bool ready = wait_for_words(f, writes);
  if (ready) {
    status = on_whole(f, writes, [&] {
      return bloomery_patch(f->filter, bytes.buf, static_cast<std::size_t>(bytes.len), &made);
    });
  }
  PyBuffer_Release(&bytes);
  if (!ready) return nullptr;
  return status < 0 ? raise(status, true) : wrap(made);
}

// ---- what it tells ----------------------------------------------------------------------------

bool info_of(PyObject* self, bloomery_filter_info& info) {
  filter_object* const f = as_filter(self);
  if (!wait_to_read(f)) return false;
  info.struct_bytes = sizeof info;
  const int status = on_whole(f, false, [&] { return bloomery_info(f->filter, &info); });
  if (status < 0) raise(status);
  return status >= 0;
}

Py_ssize_t length(PyObject* self) {
  bloomery_filter_info info;
  if (!info_of(self, info)) return -1;
  double keys = info.keys_estimated;
  if (std::isnan(keys)) keys = static_cast<double>(info.keys);  // a kind that cannot tell
  if (!(keys < 9e18)) {
    PyErr_SetString(PyExc_ValueError, "every bit of the filter is set: no estimate of its keys");
    return -1;
  }
  return static_cast<Py_ssize_t>(std::llround(keys));
}

int is_used(PyObject* self) {
  filter_object* const f = as_filter(self);
  if (!wait_to_read(f)) return -1;
  return bloomery_keys_added(f->filter) != 0 ? 1 : 0;
}

enum class property { keys, kind, fpr, bytes, closed, mapped, probes, seed, most };

PyObject* told(PyObject* self, void* which) {
  const property asked = *static_cast<const property*>(which);
  filter_object* const f = as_filter(self);
  if (asked == property::closed) return PyBool_FromLong(f->filter == nullptr ? 1 : 0);
  if (!wait_to_read(f)) return nullptr;
  if (asked == property::keys) {
    return PyLong_FromUnsignedLongLong(bloomery_keys_added(f->filter));
  }
  if (asked == property::kind) {
    return PyUnicode_FromString(bloomery_kind_name(bloomery_kind_of(f->filter)));
  }
  bloomery_filter_info info;
  info.struct_bytes = sizeof info;
  if (asked == property::fpr) {
    return info_of(self, info) ? PyFloat_FromDouble(info.fpr_now) : nullptr;
  }
  if (const int status = bloomery_info_header(f->filter, &info); status < 0) return raise(status);
  switch (asked) {
    case property::bytes: return PyLong_FromUnsignedLongLong((info.bits + 63) / 64 * 8);
    case property::mapped: return PyBool_FromLong(info.mapped == 1 ? 1 : 0);
    case property::probes: return PyLong_FromUnsignedLong(info.probes);
    case property::most: return PyLong_FromUnsignedLongLong(info.most_count);
    default: return PyLong_FromUnsignedLongLong(info.seed);
  }
}

void destroy(PyObject* self) {
  filter_object* const f = as_filter(self);
  PyTypeObject* const type = Py_TYPE(self);
  bloomery_free(f->filter);
  delete f->room;
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(reinterpret_cast<PyObject*>(type));
}

PyObject* create(PyTypeObject* type, PyObject*, PyObject*) {
  PyObject* const self = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc))(type, 0);
  if (self == nullptr) return nullptr;
  as_filter(self)->room = new (std::nothrow) waiting_room;
  if (as_filter(self)->room != nullptr) return self;
  Py_DECREF(self);
  return PyErr_NoMemory();
}

// Nothing that C++ throws may reach Python; what is thrown here is the want of memory.
template <PyObject* (*Call)(PyObject*, PyObject*)>
PyObject* safe(PyObject* self, PyObject* argument) noexcept {
  try {
    return Call(self, argument);
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  }
}

PyMethodDef methods[] = {
    {"add", safe<add>, METH_O, "add(key): adds one key"},
    {"_update", safe<update>, METH_O, nullptr},
    {"_contains_many", safe<contains_many>, METH_O, nullptr},
    {"_counts", safe<counts>, METH_O, nullptr},
    {"_remove", safe<remove_many>, METH_O, nullptr},
    {"_values", safe<values_of>, METH_O, nullptr},
    {"_add_counts", safe<add_counts>, METH_VARARGS, nullptr},
    {"_set_values", safe<set_values>, METH_VARARGS, nullptr},
    {"_top", safe<top>, METH_NOARGS, nullptr},
    {"_take", safe<take>, METH_O, nullptr},
    {"_make", safe<make>, METH_O, nullptr},
    {"_build", safe<build>, METH_VARARGS, nullptr},
    {"_info", safe<make_bytes<bloomery_info_json, true>>, METH_NOARGS, nullptr},
    {"_explain", safe<explain>, METH_O, nullptr},
    {"_advance", safe<advance>, METH_O, nullptr},
    {"save", safe<save>, METH_O, "save(path): replaces the file atomically"},
    {"to_bytes", safe<make_bytes<bloomery_to_bytes, false>>, METH_NOARGS,
     "to_bytes(): the bytes of a file"},
    {"pack", safe<make_bytes<bloomery_pack, false>>, METH_NOARGS,
     "pack(): the compressed bytes, for the wire; from_bytes() takes them"},
    {"verify", safe<verify>, METH_NOARGS, "verify(): compares every checksum of a mapped file"},
    {"clear", safe<clear>, METH_NOARGS, "clear(): takes all keys out"},
    {"close", safe<close>, METH_NOARGS, "close(): gives memory and mapping back"},
    {"issubset", safe<issubset>, METH_O,
     "issubset(other): False when surely not; True when every bit is in the other"},
    {"copy", safe<copy>, METH_NOARGS, "copy(): another with the same content, in memory"},
    {"fold", safe<fold>, METH_O, "fold(divisor): one of 1/divisor of the size"},
    {"compare", safe<compare>, METH_O, "compare(other): estimates of keys in common, by the bits"},
    {"diff", safe<diff>, METH_O, "diff(newer): bytes that lead from this version to a newer one"},
    {"patch", safe<patch>, METH_O, "patch(delta): the version that the bytes of diff() lead to"},
    {nullptr, nullptr, 0, nullptr}};

// What Python hands to told().
void* closure(property which) {
  using enum property;
  static property all[] = {keys, kind, fpr, bytes, closed, mapped, probes, seed, most};
  return &all[static_cast<std::size_t>(which)];
}

PyGetSetDef properties[] = {
    {"keys", told, nullptr, "calls of add", closure(property::keys)},
    {"kind", told, nullptr, "the kind of the filter", closure(property::kind)},
    {"fpr", told, nullptr, "the false-positive rate of the bits as they are",
     closure(property::fpr)},
    {"bytes", told, nullptr, "what the filter occupies", closure(property::bytes)},
    {"closed", told, nullptr, "whether it was closed", closure(property::closed)},
    {"mapped", told, nullptr, "whether it looks at a file", closure(property::mapped)},
    {"probes", told, nullptr, "positions a key", closure(property::probes)},
    {"seed", told, nullptr, "of the hash function", closure(property::seed)},
    {"_most_count", told, nullptr, nullptr, closure(property::most)},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

template <class Function>
void* slot(Function* function) {
  return reinterpret_cast<void*>(function);
}

PyType_Slot slots[] = {{Py_tp_new, slot(create)},
                       {Py_tp_dealloc, slot(destroy)},
                       {Py_tp_methods, methods},
                       {Py_tp_getset, properties},
                       {Py_tp_richcompare, slot(compared)},
                       {Py_tp_hash, slot(PyObject_HashNotImplemented)},
                       {Py_sq_contains, slot(contains)},
                       {Py_sq_length, slot(length)},
                       {Py_nb_bool, slot(is_used)},
                       {Py_nb_or, slot(union_of)},
                       {Py_nb_and, slot(intersection_of)},
                       {Py_nb_inplace_or, slot(merge_into)},
                       {0, nullptr}};

}  // namespace

PyObject* make_filter_type(PyObject* module) {
  static PyType_Spec spec = {"bloomery._core.Filter", sizeof(filter_object), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
  return PyType_FromModuleAndSpec(module, &spec, nullptr);
}

}  // namespace bloomery::python
