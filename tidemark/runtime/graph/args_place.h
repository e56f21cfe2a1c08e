// SPDX-License-Identifier: Apache-2.0
// Where the arguments of a submit are put together. They take kilobytes. A host keeps them where it
// keeps any object; a GPU reserves stack for every thread that it could hold, so there they are in
// the shared memory of the block that the orchestrator runs in.
#pragma once

#include <cstdint>
#include <new>

#include "tidemark/base/host_device.h"

namespace tidemark {

// How many an orchestration can have in its hands at a time on a GPU. One place more takes what is
// one too many, and is never submitted.
inline constexpr std::uint32_t kArgsPlaces = 4;

#if TM_ON_GPU

// As much as the launch gives. By this name, an address in it is a constant.
extern __shared__ __align__(1024) unsigned char cta_shared_memory[];

struct ArgsPlaces {
  std::uint32_t free;  // bit per place

  __device__ static ArgsPlaces& of_block() {
    __shared__ ArgsPlaces places;
    return places;
  }
};

template <class T>
class ArgsPlace {
 public:
  __device__ ArgsPlace() {
    ArgsPlaces& places = ArgsPlaces::of_block();
    number_ = places.free != 0 ? lowest_bit(places.free) : kArgsPlaces;
    places.free &= ~(1u << number_);
    new (&**this) T;
  }
  __device__ ArgsPlace(const ArgsPlace& from) : ArgsPlace() { **this = *from; }
  __device__ ArgsPlace& operator=(const ArgsPlace& from) {
    **this = *from;
    return *this;
  }
  __device__ ~ArgsPlace() {
    if (number_ < kArgsPlaces) ArgsPlaces::of_block().free |= 1u << number_;
  }

  __device__ T& operator*() const { return *reference(); }
  __device__ T* operator->() const { return &**this; }
  // False: all places were taken.
  __device__ bool own() const { return number_ < kArgsPlaces; }

  // By its number: the address is made of a constant wherever it is used.
  class Reference {
   public:
    __device__ explicit Reference(std::uint32_t number) : number_(number) {}
    __device__ T& operator*() const {
      return *reinterpret_cast<T*>(cta_shared_memory + number_ * sizeof(T));
    }

   private:
    std::uint32_t number_;
  };
  __device__ Reference reference() const { return Reference(number_); }

 private:
  std::uint32_t number_;
};

#else

template <class T>
class ArgsPlace {
 public:
  TM_DEVICE ArgsPlace() {}  // NOLINT(modernize-use-equals-default): that would clear kilobytes

  TM_DEVICE T& operator*() { return data_; }
  TM_DEVICE const T& operator*() const { return data_; }
  TM_DEVICE T* operator->() { return &data_; }
  TM_DEVICE const T* operator->() const { return &data_; }
  TM_DEVICE static constexpr bool own() { return true; }

  using Reference = T*;
  TM_DEVICE Reference reference() const { return const_cast<T*>(&data_); }

 private:
  T data_;
};

#endif

// Of a GPU's block, by one thread of it, which is then the only one that has arguments.
TM_DEVICE inline void open_args_places() {
#if TM_ON_GPU
  ArgsPlaces::of_block() = {(1u << kArgsPlaces) - 1};
#endif
}

}  // namespace tidemark
