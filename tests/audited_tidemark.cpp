// SPDX-License-Identifier: Apache-2.0
// The tidemark executable with workloads that also count, in shared memory of the test's own, every
// record that was accepted: one word per lane in the file TIDEMARK_AUDIT names. The count outlives
// every process of the run and knows nothing of pages, capture or ledger.
#include <fcntl.h>
#include <sys/mman.h>

#include <cstdlib>

#include "tests/audit_words.h"
#include "tidemark/base/unique_fd.h"
#include "tidemark/cli/command_line.h"
#include "workloads/bgemm.h"
#include "workloads/hang_programs.h"
#include "workloads/mixed_example.h"
#include "workloads/paged_attention.h"
#include "workloads/spmd_blocks.h"

namespace tidemark {
namespace {

std::uint64_t* audit_words = nullptr;

// A lane has one writer; a count is one store behind its record.
struct AuditedEnv : SimEnv {
  static void accepted(LaneIndex lane) {
    if (audit_words == nullptr || lane >= kAuditLanes) return;
    SharedWord<std::uint64_t>& word =
        reinterpret_cast<SharedWord<std::uint64_t>*>(audit_words)[lane];
    word.store_release(word.load_own() + 1);
  }
};

void register_audited() {
  register_workload<VectorExample, AuditedEnv>();
  register_workload<PagedAttention, AuditedEnv>();
  register_workload<Bgemm, AuditedEnv>();
  register_workload<MixedExample, AuditedEnv>();
  register_workload<SpmdBlocks, AuditedEnv>();
  register_workload<HangKernel, AuditedEnv>();
  register_workload<HangOrchestration, AuditedEnv>();
  register_workload<HangScheduler, AuditedEnv>();
  register_workload<CrashKernel, AuditedEnv>();
}

}  // namespace
}  // namespace tidemark

int main(int argc, char** argv) {
  using namespace tidemark;
  if (const char* path = std::getenv("TIDEMARK_AUDIT")) {
    const UniqueFd file(::open(path, O_RDWR | O_CLOEXEC));
    void* base = file.valid() ? ::mmap(nullptr, kAuditLanes * 8, PROT_READ | PROT_WRITE, MAP_SHARED,
                                       file.get(), 0)
                              : MAP_FAILED;
    CHECK(base != MAP_FAILED);
    audit_words = static_cast<std::uint64_t*>(base);
  }
  return cli::run_command_line(argc, argv, &register_audited);
}
