// The extension module bloomery._core: the C interface as one Python type.
//
// Written against Python's limited API without a binding generator: a generated `in` takes five
// times as long as the slot of a type (173 ns and 33 ns for a million keys of Python 3.11). The
// classes that users see are in bloomery/__init__.py; names that begin with _ are for them.
//
// Threads. Python's lock is held by whoever looks at one key, and given up for long work. Who gives
// it up marks the filter as read or written; others that cannot go on beside that wait for it.
#pragma once

#include <Python.h>
#include <bloomery/bloomery.h>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

namespace bloomery::python {

// Where threads wait for a filter that another one works on without Python's lock.
struct waiting_room {
  std::mutex mutex;
  std::condition_variable changed;
};

struct filter_object {
  PyObject_HEAD bloomery_filter* filter;  // null before it is made and after it is closed
  waiting_room* room;
  unsigned reading;  // threads at work without Python's lock; changed with it, and with the mutex
  unsigned writing;
};

// A strong reference, given back at the end.
class reference {
 public:
  explicit reference(PyObject* object = nullptr) noexcept : object_(object) {}
  reference(reference&& other) noexcept : object_(other.release()) {}
  reference(const reference&) = delete;
  reference& operator=(const reference&) = delete;
  reference& operator=(reference&& other) noexcept {
    Py_XDECREF(object_);
    object_ = other.release();
    return *this;
  }
  ~reference() { Py_XDECREF(object_); }

  [[nodiscard]] PyObject* get() const noexcept { return object_; }
  [[nodiscard]] PyObject* release() noexcept {
    PyObject* const object = object_;
    object_ = nullptr;
    return object;
  }
  explicit operator bool() const noexcept { return object_ != nullptr; }

 private:
  PyObject* object_;
};

// ---- errors -----------------------------------------------------------------------------------

// Sets the exception for a status, with the library's message; returns null. What a kind cannot do
// is a TypeError, a file that cannot be read a ValueError.
PyObject* raise(int status, bool opening = false);
PyObject* raise_closed();

// ---- access -----------------------------------------------------------------------------------

// Python's lock is held. Waits until nobody writes, or nobody reads either. False, with an
// exception set, when the filter is closed.
bool wait_to_read(filter_object* f);
bool wait_to_write(filter_object* f);

// A stretch of work on one filter or two, marked on them and, when it is long, without Python's
// lock. Whoever makes one has waited.
class work_on {
 public:
  work_on(filter_object* written, filter_object* read, filter_object* also_read, bool unlocked);
  work_on(const work_on&) = delete;
  work_on& operator=(const work_on&) = delete;
  ~work_on();

 private:
  static void mark(filter_object* f, unsigned filter_object::*field, int by);

  filter_object* written_;
  filter_object* read_;
  filter_object* also_read_;
  PyThreadState* state_ = nullptr;
};

// ---- keys -------------------------------------------------------------------------------------

// One object as a key.
struct key_view {
  const char* data = nullptr;
  Py_ssize_t bytes = 0;
  std::uint64_t integer = 0;
  bool is_integer = false;
  reference held{};  // what the bytes belong to, where that is not the object itself
};

// False, with a TypeError or ValueError set, when the object is no key.
bool look_at(PyObject* object, key_view& key);

// Many keys: a list or tuple, an array of integers, or a column of Arrow; made from any iterable.
class key_source {
 public:
  // Throws nothing; `valid` is false, with an exception set, when there are no keys in the object.
  explicit key_source(PyObject* object);
  key_source(const key_source&) = delete;
  key_source& operator=(const key_source&) = delete;
  ~key_source();

  [[nodiscard]] bool valid() const noexcept { return valid_; }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }

  // What a call does with some keys, the first of which has this place among all; its status.
  class call {
   public:
    virtual ~call() = default;
    virtual int operator()(const bloomery_keys& keys, std::size_t first) = 0;
  };
  // Calls it for all keys in order; they are written to the filter, or asked for. False with an
  // exception set when a key is none or a status is an error.
  bool for_each(filter_object* f, bool writes, call& work);
  // Calls it once for all, which must be of one sort.
  bool at_once(call& work);

 private:
  struct numbers {  // integers of any size, and how far apart
    const char* data = nullptr;
    std::ptrdiff_t stride = 0;
    std::size_t size = 0;
    bool is_signed = false;
  };

  // It may be converted so many times before it is keys.
  bool take(PyObject* object, int conversions);
  bool take_sequence(PyObject* object);
  bool take_buffer(PyObject* object, bool& other);
  bool take_arrow(PyObject* object);
  [[nodiscard]] std::vector<std::uint64_t> widened(std::size_t first, std::size_t count) const;
  bool run(filter_object* f, bool writes, const bloomery_keys& keys, std::size_t first, call& work);
  bool items_for_each(filter_object* f, bool writes, call& work);
  [[nodiscard]] PyObject* item(std::size_t i) const;

  bool valid_ = false;
  std::size_t count_ = 0;
  reference sequence_{};  // a list or tuple, or the capsules of Arrow
  bool has_buffer_ = false;
  Py_buffer buffer_{};
  bool is_column_ = false;
  bloomery_keys column_{};  // strings of Arrow
  numbers numbers_{};
};

template <class Work>
class call_of final : public key_source::call {
 public:
  explicit call_of(Work work) : work_(work) {}
  int operator()(const bloomery_keys& keys, std::size_t first) override {
    return work_(keys, first);
  }

 private:
  Work work_;
};

// ---- what the type does with keys (filter_keys.cpp) -------------------------------------------

int contains(PyObject* self, PyObject* object);
PyObject* add(PyObject* self, PyObject* object);
PyObject* update(PyObject* self, PyObject* keys);
// Answers come as bytearrays: a byte or eight for each key.
PyObject* contains_many(PyObject* self, PyObject* keys);
PyObject* counts(PyObject* self, PyObject* keys);
PyObject* values_of(PyObject* self, PyObject* keys);
PyObject* remove_many(PyObject* self, PyObject* keys);
PyObject* add_counts(PyObject* self, PyObject* args);
PyObject* set_values(PyObject* self, PyObject* args);
PyObject* top(PyObject* self, PyObject* nothing);
// Python numbers as 64-bit ones: counts and values that go with keys.
bool plain_numbers(PyObject* object, std::size_t count, std::vector<std::uint64_t>& out);

// ---- the module -------------------------------------------------------------------------------

inline filter_object* as_filter(PyObject* object) noexcept {
  return reinterpret_cast<filter_object*>(object);
}
bool is_filter(PyObject* object);
// The class for a kind, registered by the package; wraps a handle in it. Takes the handle.
PyObject* wrap(bloomery_filter* made);
// Fills in what a dictionary of options says; false with an exception set.
bool options_from(PyObject* dictionary, bloomery_options& o);
// An int from `least`, 0 or 1, to 2**bits - 1; false with an exception set, which has its name.
bool take_number(PyObject* value, const char* name, int least, int bits, std::uint64_t& number);
PyObject* make_filter_type(PyObject* module);
// Moves what the C interface has made into bytes or text.
PyObject* as_bytes(bloomery_buffer& made);
PyObject* as_text(bloomery_buffer& made);

}  // namespace bloomery::python
