// SPDX-License-Identifier: Apache-2.0
// A word that several units of one device change: counters, list heads, flags. The host never
// writes it. Read-modify-write operations are acquire and release, so that whoever sees the new
// value sees what came before it.
#pragma once

#include <cstdint>
#include <type_traits>

#include "tidemark/transport/shared_word.h"

namespace tidemark {

template <class T>
class DeviceWord {
  static_assert(std::is_integral_v<T> || std::is_enum_v<T>);
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);

 public:
  TM_DEVICE T load_relaxed() const { return ref().load(kRelaxed); }
  TM_DEVICE T load_acquire() const { return ref().load(kAcquire); }  // caller's label
  TM_DEVICE void store_relaxed(T value) { ref().store(value, kRelaxed); }
  TM_DEVICE void store_release(T value) { ref().store(value, kRelease); }  // caller's label
  // All of these return the value before. Where nobody looks at that, a thread of a GPU goes on at
  // once after a relaxed one.
  TM_DEVICE T add_relaxed(T value) { return ref().fetch_add(value, kRelaxed); }
  TM_DEVICE T add_acq_rel(T value) { return ref().fetch_add(value, kAcqRel); }  // caller's label
  // caller's label
  TM_DEVICE T subtract_acq_rel(T value) { return ref().fetch_sub(value, kAcqRel); }
  // caller's label
  TM_DEVICE T exchange_acq_rel(T value) { return ref().exchange(value, kAcqRel); }
  // True: the value was `seen` and is `wanted` now. False: `seen` is the value.
  TM_DEVICE bool replace_acq_rel(T& seen, T wanted) {                       // caller's label
    return ref().compare_exchange_strong(seen, wanted, kAcqRel, kAcquire);  // caller's label
  }
  TM_DEVICE bool replace_relaxed(T& seen, T wanted) {
    return ref().compare_exchange_strong(seen, wanted, kRelaxed, kRelaxed);
  }
  // The same for whoever needs nothing of what others stored before, or asks for it by itself: an
  // acquire empties a cache of a GPU.
  TM_DEVICE bool replace_release(T& seen, T wanted) {                        // caller's label
    return ref().compare_exchange_strong(seen, wanted, kRelease, kRelaxed);  // caller's label
  }

 private:
  TM_DEVICE DeviceRef<T> ref() const { return DeviceRef<T>(const_cast<T&>(value_)); }

  alignas(sizeof(T)) T value_;
};
// Four words side by side in 16 bytes, by whoever has them alone: one store on a GPU.
template <class A, class B, class C, class D>
TM_DEVICE TM_INLINE void store_four_relaxed(DeviceWord<A>& a, A a_value, DeviceWord<B>& b,
                                            B b_value, DeviceWord<C>& c, C c_value,
                                            DeviceWord<D>& d, D d_value) {
#if TM_ON_GPU
  asm volatile("st.relaxed.gpu.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(&a),
               "r"(static_cast<std::uint32_t>(a_value)), "r"(static_cast<std::uint32_t>(b_value)),
               "r"(static_cast<std::uint32_t>(c_value)), "r"(static_cast<std::uint32_t>(d_value))
               : "memory");
#else
  a.store_relaxed(a_value);
  b.store_relaxed(b_value);
  c.store_relaxed(c_value);
  d.store_relaxed(d_value);
#endif
}
static_assert(sizeof(DeviceWord<std::uint32_t>) == 4 && sizeof(DeviceWord<std::uint64_t>) == 8);
static_assert(std::is_trivially_copyable_v<DeviceWord<std::uint32_t>>);

}  // namespace tidemark
