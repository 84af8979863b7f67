// Errors, and who may touch a filter.
#include "core.hpp"

namespace bloomery::python {

PyObject* raise(int status, bool opening) {
  PyObject* type = PyExc_ValueError;
  switch (status) {
    case BLOOMERY_NO_MEMORY: type = PyExc_MemoryError; break;
    case BLOOMERY_IO: type = PyExc_OSError; break;
    case BLOOMERY_UNSUPPORTED: type = opening ? PyExc_ValueError : PyExc_TypeError; break;
    case BLOOMERY_INTERNAL: type = PyExc_RuntimeError; break;
    default: break;
  }
  // The message may name a file, whose name may be any bytes.
  const reference text(PyUnicode_DecodeFSDefault(bloomery_error_message()));
  if (text) PyErr_SetObject(type, text.get());
  return nullptr;
}

PyObject* raise_closed() {
  PyErr_SetString(PyExc_ValueError, "the filter is closed");
  return nullptr;
}

namespace {

// Waits once, without Python's lock, until `busy` is over.
template <class Busy>
void wait_while(filter_object* f, Busy busy) {
  while (busy()) {
    PyThreadState* const state = PyEval_SaveThread();
    {
      std::unique_lock lock(f->room->mutex);
      f->room->changed.wait(lock, [&] { return !busy(); });
    }
    PyEval_RestoreThread(state);
  }
}

}  // namespace

bool wait_to_read(filter_object* f) {
  wait_while(f, [f] { return f->writing != 0; });
  if (f->filter == nullptr) raise_closed();
  return f->filter != nullptr;
}

bool wait_to_write(filter_object* f) {
  wait_while(f, [f] { return f->writing != 0 || f->reading != 0; });
  if (f->filter == nullptr) raise_closed();
  return f->filter != nullptr;
}

void work_on::mark(filter_object* f, unsigned filter_object::*field, int by) {
  if (f == nullptr) return;
  {
    const std::lock_guard lock(f->room->mutex);
    f->*field += static_cast<unsigned>(by);
  }
  if (by < 0) f->room->changed.notify_all();
}

work_on::work_on(filter_object* written, filter_object* read, filter_object* also_read,
                 bool unlocked)
    : written_(written), read_(read), also_read_(also_read) {
  if (!unlocked) {
    written_ = read_ = also_read_ = nullptr;
    return;
  }
  mark(written_, &filter_object::writing, 1);
  mark(read_, &filter_object::reading, 1);
  mark(also_read_, &filter_object::reading, 1);
  state_ = PyEval_SaveThread();
}

work_on::~work_on() {
  if (state_ == nullptr) return;
  PyEval_RestoreThread(state_);
  mark(written_, &filter_object::writing, -1);
  mark(read_, &filter_object::reading, -1);
  mark(also_read_, &filter_object::reading, -1);
}

}  // namespace bloomery::python
