// The module bloomery._core: its functions, and what it knows of the classes above it.
#include <cstddef>

#include "core.hpp"

namespace bloomery::python {

namespace {

// One interpreter: the type, and the dictionary of classes by kind.
PyObject* filter_type = nullptr;
PyObject* classes = nullptr;

struct option_field {
  const char* name;
  enum class sort { number64, number32, real } type;
  std::size_t offset;
  bool takes_zero = false;  // else 0 means "not said" in C, which nobody says here
};

constexpr option_field option_fields[] = {
    {"keys", option_field::sort::number64, offsetof(bloomery_options, keys), true},
    {"fpr", option_field::sort::real, offsetof(bloomery_options, fpr)},
    {"bits_per_key", option_field::sort::real, offsetof(bloomery_options, bits_per_key)},
    {"bytes", option_field::sort::number64, offsetof(bloomery_options, bytes)},
    {"seed", option_field::sort::number64, offsetof(bloomery_options, seed), true},
    {"window", option_field::sort::number64, offsetof(bloomery_options, window)},
    {"epsilon", option_field::sort::real, offsetof(bloomery_options, epsilon)},
    {"delta", option_field::sort::real, offsetof(bloomery_options, delta)},
    {"form", option_field::sort::number32, offsetof(bloomery_options, form), true},
    {"hash", option_field::sort::number32, offsetof(bloomery_options, hash), true},
    {"probes", option_field::sort::number32, offsetof(bloomery_options, probes)},
    {"cell_bits", option_field::sort::number32, offsetof(bloomery_options, cell_bits)},
    {"bucket_cells", option_field::sort::number32, offsetof(bloomery_options, bucket_cells)},
    {"layout", option_field::sort::number32, offsetof(bloomery_options, layout)},
    {"update", option_field::sort::number32, offsetof(bloomery_options, update)},
    {"generations", option_field::sort::number32, offsetof(bloomery_options, generations)},
    {"growth", option_field::sort::number32, offsetof(bloomery_options, growth)},
    {"value_bits", option_field::sort::number32, offsetof(bloomery_options, value_bits)},
    {"k", option_field::sort::number32, offsetof(bloomery_options, k)},
};

bool set_field(bloomery_options& o, const option_field& field, PyObject* value) {
  char* const at = reinterpret_cast<char*>(&o) + field.offset;
  if (field.type == option_field::sort::real) {
    const double number = PyFloat_AsDouble(value);
    if (number == -1.0 && PyErr_Occurred() != nullptr) return false;
    if (!(number > 0) || number - number != 0) {
      PyErr_Format(PyExc_ValueError, "%s is %R, but it must be above 0", field.name, value);
      return false;
    }
    *reinterpret_cast<double*>(at) = number;
    return true;
  }
  const bool wide = field.type == option_field::sort::number64;
  std::uint64_t number = 0;
  if (!take_number(value, field.name, field.takes_zero ? 0 : 1, wide ? 64 : 32, number)) {
    return false;
  }
  if (wide) {
    *reinterpret_cast<std::uint64_t*>(at) = number;
  } else {
    *reinterpret_cast<std::uint32_t*>(at) = static_cast<std::uint32_t>(number);
  }
  return true;
}

bool set_kind(bloomery_options& o, PyObject* value) {
  const char* const name = PyUnicode_AsUTF8AndSize(value, nullptr);
  if (name == nullptr) return false;
  o.kind = bloomery_kind_from_name(name);
  if (o.kind == 0) PyErr_Format(PyExc_ValueError, "there is no kind of filter called %R", value);
  return o.kind != 0;
}

PyObject* opened(PyObject* path, int verify, bool mapped) {
  PyObject* encoded = nullptr;
  if (PyUnicode_FSConverter(path, &encoded) == 0) return nullptr;
  const reference held(encoded);
  const char* const name = PyBytes_AsString(encoded);
  bloomery_filter* made = nullptr;
  int status = 0;
  {
    const work_on unlocked(nullptr, nullptr, nullptr, true);
    status = mapped ? bloomery_open(name, verify, &made) : bloomery_load(name, &made);
  }
  return status < 0 ? raise(status, true) : wrap(made);
}

PyObject* open(PyObject*, PyObject* args) {
  PyObject* path = nullptr;
  int verify = 0;
  if (PyArg_ParseTuple(args, "Op", &path, &verify) == 0) return nullptr;
  return opened(path, verify, true);
}

PyObject* load(PyObject*, PyObject* path) { return opened(path, 1, false); }

PyObject* from_bytes(PyObject*, PyObject* object) {
  Py_buffer bytes;
  if (PyObject_GetBuffer(object, &bytes, PyBUF_SIMPLE) != 0) return nullptr;
  bloomery_filter* made = nullptr;
  int status = 0;
  {
    const work_on unlocked(nullptr, nullptr, nullptr, true);
    status = bloomery_from_bytes(bytes.buf, static_cast<std::size_t>(bytes.len), &made);
  }
  PyBuffer_Release(&bytes);
  return status < 0 ? raise(status, true) : wrap(made);
}

PyObject* plan(PyObject*, PyObject* dictionary) {
  bloomery_options o;
  if (!options_from(dictionary, o)) return nullptr;
  bloomery_plan_row rows[32];
  std::size_t count = 0;
  const int status = bloomery_plan(&o, rows, std::size(rows), &count);
  if (status < 0) return raise(status);
  reference list(PyList_New(0));
  for (std::size_t i = 0; list && i < count; ++i) {
    const bloomery_plan_row& r = rows[i];
    const reference row(Py_BuildValue("(sdKIddII)", bloomery_kind_name(r.kind), r.bits_per_key,
                                      static_cast<unsigned long long>(r.bytes), r.probes, r.fpr,
                                      r.times_lower_bound, r.lines, r.can));
    if (!row || PyList_Append(list.get(), row.get()) != 0) return nullptr;
  }
  return list.release();
}

PyObject* use_classes(PyObject*, PyObject* dictionary) {
  Py_INCREF(dictionary);
  Py_XDECREF(classes);
  classes = dictionary;
  Py_RETURN_NONE;
}

PyMethodDef functions[] = {
    {"open", open, METH_VARARGS, nullptr},         {"load", load, METH_O, nullptr},
    {"from_bytes", from_bytes, METH_O, nullptr},   {"plan", plan, METH_O, nullptr},
    {"use_classes", use_classes, METH_O, nullptr}, {nullptr, nullptr, 0, nullptr}};

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "bloomery._core",
                          "The C interface of Bloomery as one type; use the package bloomery.",
                          -1,
                          functions,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

}  // namespace

bool is_filter(PyObject* object) {
  return PyType_IsSubtype(Py_TYPE(object), reinterpret_cast<PyTypeObject*>(filter_type)) != 0;
}

PyObject* wrap(bloomery_filter* made) {
  PyObject* type = filter_type;
  if (classes != nullptr) {
    PyObject* const known =
        PyDict_GetItemString(classes, bloomery_kind_name(bloomery_kind_of(made)));
    if (known != nullptr) type = known;
  }
  auto* const as_type = reinterpret_cast<PyTypeObject*>(type);
  const auto create = reinterpret_cast<newfunc>(PyType_GetSlot(as_type, Py_tp_new));
  const reference nothing(PyTuple_New(0));
  PyObject* const self = nothing ? create(as_type, nothing.get(), nullptr) : nullptr;
  if (self == nullptr) {
    bloomery_free(made);
    return nullptr;
  }
  as_filter(self)->filter = made;
  return self;
}

bool options_from(PyObject* dictionary, bloomery_options& o) {
  bloomery_options_init(&o);
  PyObject* name = nullptr;
  PyObject* value = nullptr;
  Py_ssize_t position = 0;
  while (PyDict_Next(dictionary, &position, &name, &value) != 0) {
    if (value == Py_None) continue;
    if (PyUnicode_CompareWithASCIIString(name, "kind") == 0) {
      if (!set_kind(o, value)) return false;
      continue;
    }
    bool known = false;
    for (const option_field& field : option_fields) {
      if (PyUnicode_CompareWithASCIIString(name, field.name) != 0) continue;
      known = true;
      if (!set_field(o, field, value)) return false;
    }
    if (!known) {
      PyErr_Format(PyExc_TypeError, "there is no option %R", name);
      return false;
    }
  }
  return true;
}

bool take_number(PyObject* value, const char* name, int least, int bits, std::uint64_t& number) {
  const reference index(PyNumber_Index(value));
  if (!index) return false;
  number = PyLong_AsUnsignedLongLong(index.get());
  const bool bad = number == ~0ULL && PyErr_Occurred() != nullptr;
  if (!bad && number >= static_cast<unsigned>(least) && number >> (bits - 1) <= 1) return true;
  PyErr_Clear();
  PyErr_Format(PyExc_ValueError, "%s is %R, but it must be from %d to 2**%d - 1", name, value,
               least, bits);
  return false;
}

PyObject* as_bytes(bloomery_buffer& made) {
  PyObject* const bytes = PyBytes_FromStringAndSize(static_cast<const char*>(made.data),
                                                    static_cast<Py_ssize_t>(made.bytes));
  bloomery_buffer_free(&made);
  return bytes;
}

PyObject* as_text(bloomery_buffer& made) {
  PyObject* const text = PyUnicode_FromStringAndSize(static_cast<const char*>(made.data),
                                                     static_cast<Py_ssize_t>(made.bytes));
  bloomery_buffer_free(&made);
  return text;
}

PyObject* make_module() {
  reference module(PyModule_Create(&definition));
  if (!module) return nullptr;
  filter_type = make_filter_type(module.get());
  if (filter_type == nullptr) return nullptr;
  if (PyModule_AddObjectRef(module.get(), "Filter", filter_type) != 0 ||
      PyModule_AddStringConstant(module.get(), "version", bloomery_version()) != 0) {
    return nullptr;
  }
  return module.release();
}

}  // namespace bloomery::python

PyMODINIT_FUNC PyInit__core(void) { return bloomery::python::make_module(); }
