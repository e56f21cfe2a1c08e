// SPDX-License-Identifier: Apache-2.0
// A word that two sides of the region see. Each word has exactly one writer, named where it is
// declared; the other side only loads. Host and simulated device use std::atomic_ref, CUDA uses
// cuda::atomic_ref at system scope (claims: at device scope). SharedQuantum is 16 bytes of a
// record.
#pragma once

#include <cstdint>
#include <type_traits>

#include "tidemark/base/host_device.h"

#if defined(__CUDACC__)
#include <cuda/atomic>
#else
#include <atomic>
#endif

namespace tidemark {

#if defined(__CUDACC__)
template <class T>
using SharedRef = cuda::atomic_ref<T, cuda::thread_scope_system>;
template <class T>
using DeviceRef = cuda::atomic_ref<T, cuda::thread_scope_device>;
inline constexpr auto kRelaxed = cuda::memory_order_relaxed;
inline constexpr auto kAcquire = cuda::memory_order_acquire;
inline constexpr auto kRelease = cuda::memory_order_release;
inline constexpr auto kAcqRel = cuda::memory_order_acq_rel;
#else
template <class T>
using SharedRef = std::atomic_ref<T>;
template <class T>
using DeviceRef = std::atomic_ref<T>;
inline constexpr auto kRelaxed = std::memory_order_relaxed;
inline constexpr auto kAcquire = std::memory_order_acquire;
inline constexpr auto kRelease = std::memory_order_release;
inline constexpr auto kAcqRel = std::memory_order_acq_rel;
#endif

// A test may watch a producer's stores, to end it between any two of them: the one source that
// defines TIDEMARK_TEST_STORE_HOOK also defines this function. Nothing is compiled otherwise.
#if defined(TIDEMARK_TEST_STORE_HOOK)
void before_shared_store();
#else
TM_DEVICE TM_INLINE constexpr void before_shared_store() {}
#endif

template <class T>
class SharedWord {
  static_assert(std::is_integral_v<T> || std::is_enum_v<T>);
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);

 public:
  // For the word's writer: nobody else changes it.
  TM_DEVICE T load_own() const { return ref().load(kRelaxed); }
  TM_DEVICE T load_relaxed() const { return ref().load(kRelaxed); }
  TM_DEVICE T load_acquire() const { return ref().load(kAcquire); }  // caller's label
  TM_DEVICE void store_relaxed(T value) {
    before_shared_store();
    ref().store(value, kRelaxed);
  }
  TM_DEVICE void store_release(T value) {  // caller's label
    before_shared_store();
    ref().store(value, kRelease);  // caller's label
  }
  // For the words of a page header between the page's fence and its release: stays behind what was
  // stored before the fence. A release per word would cost a fence each on CUDA.
  TM_DEVICE void store_after_fence(T value) {  // caller's label
    before_shared_store();
#if defined(__CUDA_ARCH__)
    ref().store(value, kRelaxed);
#else
    ref().store(value, kRelease);                                           // caller's label
#endif
  }

  // For slots that several writers of one device may claim (the name table): true for the one that
  // got it; otherwise `seen` holds what is there. At the scope of the device: over PCIe, a GPU
  // and a host cannot exclude each other.
  TM_DEVICE bool claim_acq_rel(T& seen, T wanted) {  // caller's label
#if defined(__CUDA_ARCH__)
    cuda::atomic_ref<T, cuda::thread_scope_device> word(value_);
    return word.compare_exchange_strong(seen, wanted, kAcqRel, kAcquire);  // caller's label
#else
    return ref().compare_exchange_strong(seen, wanted, kAcqRel, kAcquire);  // caller's label
#endif
  }

 private:
  TM_DEVICE SharedRef<T> ref() const { return SharedRef<T>(const_cast<T&>(value_)); }

  alignas(sizeof(T)) T value_;
};
static_assert(sizeof(SharedWord<std::uint64_t>) == 8 && sizeof(SharedWord<std::uint32_t>) == 4);
static_assert(std::is_trivially_copyable_v<SharedWord<std::uint64_t>>);

// In place of SharedWord, for a copy that nobody else changes: a struct of words is written once,
// as a template of the word, for the region and for the host.
template <class T>
using PlainWord = T;

// The unit in which a record becomes visible:
//
//   127           112 111                          64 63                             0
//  ┌─────────────────┬───────────────────────────────┬────────────────────────────────┐
//  │ stamp =         │ payload, 48 bits              │ payload, 64 bits               │
//  │ page generation │                               │                                │
//  └─────────────────┴───────────────────────────────┴────────────────────────────────┘
//   high word, stored last                            low word, stored first
//
// (In a frame it is 16 bytes of the frame, and the commit word takes the place of the stamps.)
// Whoever sees the stamp sees the quantum. On CUDA it is one 16-byte store. On the host it is two
// 8-byte stores, low word first, each a plain mov on x86, and a race with a reader of an
// unpublished page is defined behaviour. (One 16-byte vector store measured slower: the words must
// first be joined.)
class SharedQuantum {
 public:
  TM_DEVICE TM_INLINE void store(std::uint64_t low, std::uint64_t high) {
#if defined(__CUDA_ARCH__)
    // Volatile: it is issued, also in front of a loop that never ends. It changes nothing that the
    // compiler has at hand, so that nothing is read again after it.
    asm volatile("st.v2.u64 [%0], {%1, %2};" ::"l"(words_), "l"(low), "l"(high));
#else
    before_shared_store();
    // [quantum begun]: whoever sees it also sees that the page was emptied, or reopened
    SharedRef<std::uint64_t>(words_[0]).store(low, kRelease);
    before_shared_store();
    SharedRef<std::uint64_t>(words_[1]).store(high, kRelease);  // [quantum stamped]
#endif
  }

  // For whoever stored it.
  TM_DEVICE TM_INLINE void load_own(std::uint64_t& low, std::uint64_t& high) const {
#if defined(__CUDA_ARCH__)
    asm volatile("ld.v2.u64 {%0, %1}, [%2];" : "=l"(low), "=l"(high) : "l"(words_));
#else
    low = SharedRef<std::uint64_t>(const_cast<std::uint64_t&>(words_[0])).load(kRelaxed);
    high = SharedRef<std::uint64_t>(const_cast<std::uint64_t&>(words_[1])).load(kRelaxed);
#endif
  }

  // As store, with the stamp in place of the upper 16 bits of `high`.
  TM_DEVICE TM_INLINE void store_stamped(std::uint64_t low, std::uint64_t high,
                                         std::uint64_t stamp_high) {
    constexpr std::uint64_t kBelowStamp = (std::uint64_t{1} << 48) - 1;
#if defined(__CUDA_ARCH__)
    // A GPU's registers have 32 bits; three of the four words are as they are.
    const auto top = static_cast<std::uint32_t>((high & kBelowStamp) >> 32) |
                     static_cast<std::uint32_t>(stamp_high >> 32);
    store(low, std::uint64_t{top} << 32 | static_cast<std::uint32_t>(high));
#else
    store(low, (high & kBelowStamp) | stamp_high);
#endif
  }

 private:
  alignas(16) std::uint64_t words_[2];
};
static_assert(sizeof(SharedQuantum) == 16 && alignof(SharedQuantum) == 16);

// Two words and a state that are side by side in 16 bytes, for who looks at a producer that may
// never come to its end. On CUDA one store, here and now, whatever the compiler sees behind it, and
// no fence: whoever sees the state sees the other two. On the host also what was stored before.
template <class State>
TM_DEVICE TM_INLINE void quantum_store_release(SharedWord<std::uint64_t>& low,
                                               std::uint64_t low_value, SharedWord<State>& state,
                                               State state_value, SharedWord<std::uint32_t>& last,
                                               std::uint32_t last_value) {  // caller's label
#if defined(__CUDA_ARCH__)
  asm volatile("st.relaxed.sys.v2.u64 [%0], {%1, %2};" ::"l"(&low), "l"(low_value),
               "l"(std::uint64_t{last_value} << 32 | static_cast<std::uint32_t>(state_value))
               : "memory");
#else
  low.store_relaxed(low_value);
  last.store_relaxed(last_value);
  state.store_release(state_value);  // caller's label
#endif
}

// Two words that are side by side in 16 bytes, for the same purpose.
TM_DEVICE TM_INLINE void pair_store_release(SharedWord<std::uint64_t>& low, std::uint64_t low_value,
                                            SharedWord<std::uint64_t>& high,
                                            std::uint64_t high_value) {  // caller's label
#if defined(__CUDA_ARCH__)
  asm volatile("st.relaxed.sys.v2.u64 [%0], {%1, %2};" ::"l"(&low), "l"(low_value),
               "l"(high_value));
#else
  low.store_relaxed(low_value);
  high.store_release(high_value);      // caller's label
#endif
}

// What was stored so far becomes visible before what is stored next: the one fence of a page.
// On the host there is none: the stores after it are release stores.
TM_DEVICE inline void order_page_stores() {
#if defined(__CUDA_ARCH__)
  __threadfence_system();
#endif
}

// Between looks at words of other units and the use of what those stored before: one fence where an
// acquire for each word would be a trip each.
TM_DEVICE TM_INLINE void order_look_before_use_acquire() {  // caller's label
#if defined(__CUDACC__)
  cuda::atomic_thread_fence(kAcquire, cuda::thread_scope_device);  // caller's label
#else
  std::atomic_thread_fence(kAcquire);  // caller's label
#endif
}

// Between a store of one's own and a look at what another one stores before it looks here: at least
// one of the two sees the other's.
TM_DEVICE TM_INLINE void order_store_before_look() {
#if defined(__CUDACC__)
  // alone: no release or acquire keeps a store from moving behind a later look
  cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
#else
  // alone: as above
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

}  // namespace tidemark
