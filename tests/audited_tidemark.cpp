// SPDX-License-Identifier: Apache-2.0
// The tidemark executable with workloads that also write down, in shared memory of the test's own
// (the file TIDEMARK_AUDIT names, see audit_words.h), every record and frame that was accepted, and
// with a fault plan that writes down there what became of it.
#include <fcntl.h>
#include <sys/mman.h>

#include <cstdlib>

#include "tests/audit_words.h"
#include "tidemark/base/unique_fd.h"
#include "tidemark/cli/command_line.h"
#include "tidemark/device/sim/sim_threads.h"
#include "tidemark/session/register_workload.h"
#include "workloads/bgemm.h"
#include "workloads/hang_programs.h"
#include "workloads/mixed_example.h"
#include "workloads/paged_attention.h"
#include "workloads/spmd_blocks.h"

namespace tidemark {
namespace {

AuditImage* audit = nullptr;

// A lane has one writer. The count is the last store behind a record.
struct AuditedEnv : SimEnv {
  static void accepted(const AcceptedWrite& written) {
    if (audit == nullptr || written.lane >= kAuditLanes) return;
    audit->slots[written.lane][written.number % kAuditSlots].store(
        written.record == nullptr ? written.bytes : record_digest(written.record, written.bytes),
        std::memory_order_relaxed);
    auto& count = audit->accepted[written.lane];
    count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_release);
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
    void* base = file.valid() ? ::mmap(nullptr, sizeof(AuditImage), PROT_READ | PROT_WRITE,
                                       MAP_SHARED, file.get(), 0)
                              : MAP_FAILED;
    TM_CHECK(base != MAP_FAILED);
    audit = static_cast<AuditImage*>(base);
    fault_plan.tell(&audit->faults);
  }
  return cli::run_command_line(argc, argv, &register_audited);
}
