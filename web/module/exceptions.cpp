// Exceptions of C++ on those of WebAssembly. Debian's C++ library for it is built without, so that
// throw and catch have nobody who finds the handler; here is as much as the library needs: throw,
// catch by type or of all, throw again. No lists of what a function may throw, no exception_ptr.
//
// A landing pad of the compiler writes to __wasm_lpad_context which one it is and where the table
// of its function lies, and calls _Unwind_CallPersonality, which writes back the number of the
// handler. The table is the one of the Itanium ABI, with a pair of numbers for each landing pad.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <typeinfo>

namespace __cxxabiv1 {

// The base of the type_infos in libc++abi: its virtual functions, in its order.
class __shim_type_info : public std::type_info {
 public:
  ~__shim_type_info() override;
  virtual void noop1() const;
  virtual void noop2() const;
  virtual bool can_catch(const __shim_type_info* thrown, void*& adjusted) const = 0;
};

}  // namespace __cxxabiv1

namespace {

using type_of_object = __cxxabiv1::__shim_type_info;

struct alignas(16) thrown_object {  // before the object itself
  const type_of_object* type;
  void* (*destroy)(void*);  // destructors return what they destroy here
  void* adjusted;           // the object as the handler's type
  thrown_object* below;     // of those that are being handled, the innermost first
  int handlers;             // negative while it is thrown again
};

thrown_object* handled = nullptr;

void* object_of(thrown_object* thrown) { return thrown + 1; }

std::uint64_t read_number(const std::uint8_t*& at) {  // ULEB128
  std::uint64_t value = 0;
  unsigned shift = 0;
  std::uint8_t byte = 0;
  do {
    byte = *at++;
    value |= std::uint64_t{byte & 0x7fU} << shift;
    shift += 7;
  } while ((byte & 0x80U) != 0);
  return value;
}

std::int64_t read_signed(const std::uint8_t*& at) {  // SLEB128
  const std::uint8_t* const first = at;
  std::uint64_t value = read_number(at);
  const auto shift = static_cast<unsigned>(at - first) * 7;
  if ((at[-1] & 0x40U) != 0 && shift < 64) value |= ~std::uint64_t{0} << shift;
  return static_cast<std::int64_t>(value);
}

constexpr std::uint8_t left_out = 0xff;

// The number of the first handler of this landing pad that takes the object; 0: none does.
std::int64_t handler_for(const std::uint8_t* table, std::uint32_t pad, thrown_object& thrown) {
  const std::uint8_t* at = table;
  if (*at++ != left_out) read_number(at);  // where landing pads begin
  const std::uint8_t* types = nullptr;
  if (*at++ != left_out) {  // pointers of four bytes, backwards from there
    const std::uint64_t distance = read_number(at);
    types = at + distance;
  }
  ++at;  // the form of what follows, which the compiler has no choice in
  const std::uint64_t bytes = read_number(at);
  const std::uint8_t* const actions = at + bytes;
  std::uint64_t action = 0;
  for (std::uint32_t i = 0; i <= pad && at < actions; ++i) {
    read_number(at);
    action = read_number(at);
  }
  if (action == 0) return 0;  // nothing but destructors
  for (const std::uint8_t* next = actions + action - 1;;) {
    const std::int64_t number = read_signed(next);
    if (number > 0) {
      const type_of_object* type = nullptr;
      std::memcpy(&type, types - number * 4, sizeof type);
      void* adjusted = object_of(&thrown);
      if (type == nullptr || type->can_catch(thrown.type, adjusted)) {
        thrown.adjusted = adjusted;
        return number;
      }
    }
    const std::uint8_t* const here = next;
    const std::int64_t step = read_signed(next);
    if (step == 0) return 0;
    next = here + step;
  }
}

}  // namespace

extern "C" {

struct landing_pad {
  std::uint32_t index;
  const std::uint8_t* table;
  std::int32_t selector;
};
thread_local landing_pad __wasm_lpad_context{};

int _Unwind_CallPersonality(void* exception) {
  __wasm_lpad_context.selector = 0;
  auto& thrown = *static_cast<thrown_object*>(exception);
  __wasm_lpad_context.selector = static_cast<std::int32_t>(
      handler_for(__wasm_lpad_context.table, __wasm_lpad_context.index, thrown));
  return 0;
}

void __gxx_personality_wasm0() { std::terminate(); }  // named by every table, called by nobody

void* __cxa_allocate_exception(std::size_t bytes) noexcept {
  void* const room = std::malloc(sizeof(thrown_object) + bytes);
  if (room == nullptr) std::terminate();
  return object_of(static_cast<thrown_object*>(room));
}

void __cxa_free_exception(void* object) noexcept {
  std::free(static_cast<thrown_object*>(object) - 1);
}

[[noreturn]] void __cxa_throw(void* object, std::type_info* type, void* (*destroy)(void*)) {
  thrown_object* const thrown = static_cast<thrown_object*>(object) - 1;
  *thrown = {static_cast<const type_of_object*>(type), destroy, object, nullptr, 0};
  __builtin_wasm_throw(0, thrown);
}

void* __cxa_begin_catch(void* exception) noexcept {
  auto* const thrown = static_cast<thrown_object*>(exception);
  thrown->handlers = (thrown->handlers < 0 ? -thrown->handlers : thrown->handlers) + 1;
  if (handled != thrown) {
    thrown->below = handled;
    handled = thrown;
  }
  return thrown->adjusted;
}

void* __cxa_get_exception_ptr(void* exception) noexcept {
  return static_cast<thrown_object*>(exception)->adjusted;
}

void __cxa_end_catch() {
  thrown_object* const thrown = handled;
  if (thrown == nullptr) return;
  if (thrown->handlers < 0) {  // on its way again: the next handler will give it back
    if (++thrown->handlers == 0) handled = thrown->below;
    return;
  }
  if (--thrown->handlers != 0) return;
  handled = thrown->below;
  if (thrown->destroy != nullptr) thrown->destroy(object_of(thrown));
  std::free(thrown);
}

[[noreturn]] void __cxa_rethrow() {
  if (handled == nullptr) std::terminate();
  handled->handlers = -handled->handlers;
  __builtin_wasm_throw(0, handled);
}

}  // extern "C"

// The library's own ends the program when there is no memory.
void* operator new(std::size_t bytes) {
  void* const room = std::malloc(bytes != 0 ? bytes : 1);
  if (room == nullptr) throw std::bad_alloc();
  return room;
}
void* operator new[](std::size_t bytes) { return operator new(bytes); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  const auto unit = static_cast<std::size_t>(alignment);
  void* const room = std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit);
  if (room == nullptr) throw std::bad_alloc();
  return room;
}
void operator delete(void* room) noexcept { std::free(room); }
void operator delete[](void* room) noexcept { std::free(room); }
void operator delete(void* room, std::size_t /*bytes*/) noexcept { std::free(room); }
void operator delete[](void* room, std::size_t /*bytes*/) noexcept { std::free(room); }
void operator delete(void* room, std::align_val_t /*alignment*/) noexcept { std::free(room); }
void operator delete(void* room, std::size_t /*bytes*/, std::align_val_t /*unit*/) noexcept {
  std::free(room);
}
