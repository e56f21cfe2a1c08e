// SPDX-License-Identifier: Apache-2.0
// Compiles the leaves of the runtime for a GPU. Nothing here is run by CI.
#include "tidemark/runtime/half.h"
#include "tidemark/runtime/heap_ring.h"
#include "tidemark/runtime/overlap.h"
#include "tidemark/runtime/task_id.h"
#include "tidemark/runtime/task_window.h"

namespace tidemark {

__global__ void use_the_leaves(const TensorView* views, float* values, std::uint64_t* numbers) {
  HeapRing heap(numbers[0]);
  TaskWindow window(64);
  numbers[1] = heap.allocate(numbers[2]).offset;
  numbers[3] = TaskId::make(1, static_cast<std::uint32_t>(window.push())).value;
  numbers[4] = static_cast<std::uint64_t>(overlap_of(views[0], views[1].slice(0, 1, 2)));
  values[1] =
      Bfloat16::from_float(values[0]).to_float() + Float16::from_float(values[0]).to_float();
}

}  // namespace tidemark
