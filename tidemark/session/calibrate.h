// SPDX-License-Identifier: Apache-2.0
// What one record costs the producer on this machine, now: a short measurement in private memory.
#pragma once

namespace tidemark {

double calibrate_ns_per_record();

}  // namespace tidemark
