// SPDX-License-Identifier: Apache-2.0
// Test support: a program for the task runtime as plain data. It is made from a seed
// (random_program_generator.h), run serially by a reference (random_program_reference.h) and run by
// the runtime (random_program_machine.h). All three agree here on what a kernel computes.
#pragma once

#include <algorithm>
#include <bitset>
#include <cstdint>
#include <vector>

#include "tidemark/base/mix.h"
#include "tidemark/runtime/kernel_info.h"
#include "tidemark/runtime/runtime_status.h"
#include "tidemark/runtime/tensor/tensor_view.h"
#include "tidemark/schema/task_id.h"

namespace tidemark::random_program {

inline constexpr std::uint32_t kElementsMax = 256;  // of one buffer
inline constexpr std::uint32_t kTasksMax = 512;
using Elements = std::bitset<kElementsMax>;
using TaskSet = std::bitset<kTasksMax>;

// Who says in which order conflicting tasks run.
enum class Edges {
  kTracked,      // the runtime, with --track-war
  kWarExplicit,  // the runtime, but a writer names the readers before it
  kAllExplicit,  // the program names every conflicting task
};

struct ViewStep {
  enum class Kind { kSlice, kTranspose, kReshape } kind;
  std::uint32_t one = 0, other = 0;  // dimensions
  std::uint64_t first = 0, count = 0;
  TensorShape shape;
};

inline constexpr std::uint32_t kExternal = ~0u;

struct Base {
  DType dtype = DType::kInt64;
  TensorShape shape;
  std::uint32_t owner = kExternal;  // task
  std::uint32_t output = 0;         // which one of the owner
  std::uint32_t scope = 0;
  bool rewritten = false;  // by others than its owner
  bool frozen = false;     // nobody writes it any more: no_dep readers look at it
};

struct Arg {
  Access access = Access::kInput;
  std::uint32_t base = 0;
  std::vector<ViewStep> steps;
  TensorView view;          // its buffer is the number of the base
  bool sliced_only = true;  // of the whole: overlap is decided exactly
  bool looked_at = true;    // a no_dep argument may be there for its creator only
  Elements elements;

  [[nodiscard]] bool writes() const {
    return access == Access::kOutput || access == Access::kOutputExisting ||
           access == Access::kInout;
  }
  [[nodiscard]] bool reads() const {
    return access == Access::kInput || access == Access::kInout ||
           (access == Access::kNoDep && looked_at);
  }
};

enum class Cores { kAic, kAiv, kAicAiv, kAicAivAiv, kAivAiv, kAicAiv1, kDummy, kAllocate };
inline constexpr std::uint32_t kCoresWithKernels = 6;

// Bit p: there is a kernel for core p of a cluster.
constexpr std::uint32_t parts_of(Cores cores) {
  constexpr std::uint32_t kParts[] = {1, 2, 3, 7, 6, 5, 0, 0};
  return kParts[static_cast<std::uint32_t>(cores)];
}

// What the tensors of a kernel are for; the kernels of the machine come in these.
inline constexpr std::uint32_t kSignatureCount = 8;
inline const std::vector<ArgRole> kSignatures[kSignatureCount] = {
    {ArgRole::kIn},
    {ArgRole::kOut},
    {ArgRole::kInout},
    {ArgRole::kIn, ArgRole::kOut},
    {ArgRole::kIn, ArgRole::kIn, ArgRole::kOut},
    {ArgRole::kIn, ArgRole::kInout, ArgRole::kOut},
    {ArgRole::kIn, ArgRole::kIn, ArgRole::kIn, ArgRole::kInout},
    {ArgRole::kIn, ArgRole::kIn, ArgRole::kInout, ArgRole::kInout, ArgRole::kOut, ArgRole::kOut},
};

struct Task {
  std::uint32_t signature = 0;  // for tasks with kernels
  Cores cores = Cores::kAiv;
  std::vector<Arg> args;
  std::uint32_t blocks = 1;
  bool together = false;  // all blocks at the same time
  std::vector<std::uint32_t> afters;
  std::uint32_t scope = 0;
  TaskId id;

  [[nodiscard]] std::uint32_t part_count() const {
    return static_cast<std::uint32_t>(std::bitset<3>(parts_of(cores)).count());
  }
  // (block, kernel) pairs.
  [[nodiscard]] std::uint32_t unit_count() const { return blocks * part_count(); }
  [[nodiscard]] bool has_kernel() const { return part_count() > 0; }
};

// The orchestration reads an element while tasks run.
struct Look {
  Arg arg;
  std::uint64_t index = 0;
};

struct Step {
  enum class Kind { kOpen, kClose, kSubmit, kLook } kind;
  std::uint32_t index = 0;  // scope, task or look
};

struct Program {
  std::uint64_t seed = 0;
  Edges edges = Edges::kTracked;
  std::vector<Base> bases;  // external ones first
  std::uint32_t external_count = 0;
  std::vector<Task> tasks;
  std::vector<Look> looks;
  std::vector<Step> steps;
  std::uint32_t scope_count = 0;
};

inline TensorView apply(const ViewStep& step, const TensorView& view) {
  switch (step.kind) {
    case ViewStep::Kind::kSlice:
      return view.slice(step.one, step.first, step.count);
    case ViewStep::Kind::kTranspose:
      return view.transpose(step.one, step.other);
    case ViewStep::Kind::kReshape:
      return view.reshape(step.shape);
  }
  return view;
}

// The places of a view's elements in its buffer, in row-major order of the view.
inline std::vector<std::uint64_t> places_of(const TensorView& view) {
  std::vector<std::uint64_t> places;
  std::uint64_t at[kRankMax] = {};
  for (std::uint64_t n = view.element_count(); n > 0; --n) {
    std::uint64_t place = view.offset;
    for (std::uint32_t i = 0; i < view.shape.rank; ++i) place += at[i] * view.stride[i];
    places.push_back(place);
    for (std::uint32_t i = view.shape.rank; i-- > 0;) {
      if (++at[i] < view.shape.extent[i]) break;
      at[i] = 0;
    }
  }
  return places;
}

enum class Conflict { kNone, kReadAfterWrite, kWriteAfterWrite, kWriteAfterRead };

// Writes first: a pair with two conflicts is ordered by the stronger one.
inline Conflict conflict_of(const Arg& earlier, const Arg& later) {
  if (earlier.base != later.base || (earlier.elements & later.elements).none())
    return Conflict::kNone;
  if (earlier.writes() && later.reads()) return Conflict::kReadAfterWrite;
  if (earlier.writes() && later.writes()) return Conflict::kWriteAfterWrite;
  if (earlier.reads() && later.writes()) return Conflict::kWriteAfterRead;
  return Conflict::kNone;
}
inline Conflict conflict_of(const Task& earlier, const Task& later) {
  Conflict found = Conflict::kNone;
  for (const Arg& one : earlier.args)
    for (const Arg& other : later.args) {
      const Conflict conflict = conflict_of(one, other);
      if (conflict == Conflict::kReadAfterWrite || conflict == Conflict::kWriteAfterWrite)
        return conflict;
      if (conflict != Conflict::kNone) found = conflict;
    }
  return found;
}

// What is written depends on everything that was read, on the task and on the place.
constexpr std::uint64_t first_checksum(std::uint64_t task) { return mix(task + 0x51ED270B); }
constexpr std::uint64_t add_input(std::uint64_t checksum, std::uint64_t value) {
  return mix(checksum * 3 + value);
}
constexpr std::uint64_t old_value_digest(std::uint64_t arg, std::uint64_t index,
                                         std::uint64_t value) {
  return mix(mix(value + arg * 977) + index);
}
constexpr std::uint64_t new_value(std::uint64_t checksum, std::uint64_t arg, std::uint64_t index,
                                  std::uint64_t old) {
  return mix(checksum + mix(old + 7) + arg * 65537 + index);
}
// What a buffer of the type keeps of a value.
constexpr std::uint64_t kept(DType dtype, std::uint64_t value) {
  return dtype == DType::kFloat32 ? value & 0xFFFFFF : value;
}

}  // namespace tidemark::random_program
