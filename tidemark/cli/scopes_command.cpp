// SPDX-License-Identifier: Apache-2.0
// tidemark scopes: which scope filled which ring, and what sizes would have been enough.
#include <fmt/core.h>

#include "tidemark/analyze/scope_report.h"
#include "tidemark/base/human_text.h"
#include "tidemark/cli/command_line.h"
#include "tidemark/cli/terminal.h"

namespace tidemark::cli {
namespace {

struct ScopesArgs {
  std::string run;
  std::size_t top = 10;
};

void print_sites(const ScopeReport& report, std::size_t top) {
  print("\nScopes, closest to a limit first\n");
  print("  {:<32} {:>9} {:>5} {:>4} {:>12} {:>7}  {}\n", "site", "count", "depth", "ring",
        "longest", "use", "closest to its limit");
  for (std::size_t i = 0; i < report.sites.size() && i < top; ++i) {
    const ScopeSite& site = report.sites[i];
    print("  {:<32} {:>9} {:>5} {:>4} {:>12} {:>6.2f}%  {}\n", site.site, with_commas(site.count),
          site.depth, site.ring, human_ns(site.longest_ns), site.percent,
          site.closest.empty() ? "-" : site.closest);
  }
  if (report.sites.size() > top)
    print("  ... {} more (--top N shows them)\n", report.sites.size() - top);
}

void print_resources(const ScopeReport& report) {
  print("\nResources\n");
  print("  {:<28} {:>14} {:>14} {:>8}  {:<28} {}\n", "resource", "peak", "capacity", "use",
        "reached in", "smallest setting");
  for (const auto& use : report.resources) {
    if (use.peak == 0) continue;
    print("  {:<28} {:>14} {:>14} {:>7.2f}%  {:<28} {} {}\n", place_text(use),
          amount_text(use, use.peak), amount_text(use, use.capacity), use.percent(), use.site,
          use.flag, use.needed);
  }
}

void print_verdict(const RunCapture& run, const ScopeReport& report) {
  if (const auto& outcome = run.outcome(); outcome && outcome->error) {
    print("\n{} {}: {}\n  hint: {}\n", outcome->error->code, outcome->error->name,
          outcome->error->message, outcome->error->hint);
    if (const auto& culprit = outcome->error->culprit)
      print("  the scope at {} filled the {} of ring {}: {} of {}; {} lets this run pass\n",
            culprit->scope, culprit->resource, culprit->ring, culprit->used, culprit->capacity,
            culprit->setting);
  }
  if (const ResourceUse* worst = report.closest_to_limit())
    print("\nClosest to its limit: {}\n", limit_text(*worst));
  print("The smallest sizes this run would have needed:\n  {}\n", report.smallest_settings());
  if (report.fatal)
    print("  (the run did not come to its end: it may have needed more)\n");
  else
    print("  (how many dependency entries are needed depends on how fast producers are)\n");
}

Expected<int> show(const ScopesArgs& args) {
  TM_TRY(const auto directory, resolve_run(args.run));
  TM_TRY(auto run, RunCapture::open(directory));
  TM_TRY(const auto report, report_scopes(run));
  std::uint64_t scopes = 0;
  for (const auto& site : report.sites) scopes += site.count;
  print("{}: {} on {}, {} scope{} from {} site{}\n", directory, run.description().run.workload,
        run.description().run.platform, with_commas(scopes), scopes == 1 ? "" : "s",
        report.sites.size(), report.sites.size() == 1 ? "" : "s");
  if (report.dropped > 0)
    print("  {} boundaries are missing; the figures are of what is there\n",
          with_commas(report.dropped));
  if (report.unfinished > 0)
    print("  {} scope{} had begun and not ended\n", report.unfinished,
          report.unfinished == 1 ? "" : "s");
  print_sites(report, args.top);
  print_resources(report);
  print_verdict(run, report);
  return 0;
}

}  // namespace

void add_scopes_command(Command& program) {
  Command& command = program.command(
      "scopes", "Which scope filled which ring, and which sizes would have been enough");
  auto& args = add_run_arguments<ScopesArgs>(command, show);
  command.option("--top", &args.top, "How many scope sites to list", kShowsDefault);
}

}  // namespace tidemark::cli
