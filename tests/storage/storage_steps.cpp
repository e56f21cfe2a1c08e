// SPDX-License-Identifier: Apache-2.0
#include "tests/storage/storage_steps.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <utility>

#include "tidemark/base/check.h"

namespace tidemark::storage {
namespace {

constexpr std::uintptr_t kPage = 4096;
constexpr std::uintptr_t kLine = 64;
constexpr long long kTrapFlag = 0x100;

struct Mapping {
  std::uintptr_t base = 0;
  std::uint64_t bytes = 0;
  std::string path;
};

// The one watch of the process. A process that is forked takes none over.
struct State {
  std::vector<std::string> prefixes;
  Watch watch;
  std::recursive_mutex mutex;  // steps of several threads come one after the other
  std::uint64_t steps = 0;
  pid_t owner = 0;
  std::vector<Mapping> mappings;
  struct sigaction old_segv {};
  struct sigaction old_trap {};
};
State* state = nullptr;
thread_local bool inside = false;  // the watch's own calls

// The pages that are open for the instruction that is being stepped over.
thread_local std::array<std::uintptr_t, 4> open_pages{};
thread_local std::size_t open_count = 0;

bool is_watched(const std::string& path) {
  return std::any_of(state->prefixes.begin(), state->prefixes.end(),
                     [&](const std::string& prefix) { return path.starts_with(prefix); });
}

bool active() { return state != nullptr && !inside && ::getpid() == state->owner; }

std::string path_of(int fd) {
  char name[32];
  char path[512];
  std::snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
  const ssize_t size = ::readlink(name, path, sizeof(path));
  return size > 0 ? std::string(path, static_cast<std::size_t>(size)) : std::string();
}

Answer ask(Call call, const std::string& path, std::uint64_t offset = 0, std::uint64_t bytes = 0) {
  if (!is_watched(path)) return {};
  const std::lock_guard lock(state->mutex);
  inside = true;
  const Answer answer = state->watch(
      {.number = state->steps++, .call = call, .path = path, .offset = offset, .bytes = bytes});
  inside = false;
  return answer;
}

void protect(std::uintptr_t page, int access) {
  TM_CHECK(::mprotect(reinterpret_cast<void*>(page), kPage, access) == 0);
}

// `rep movsb`, the C library's way to copy much, would be a step for every byte; here it is one for
// every cache line, carried out in its place. False: it is another instruction.
bool step_through_copy(const Mapping& mapping, mcontext_t& machine) {
  const auto* code = reinterpret_cast<const unsigned char*>(machine.gregs[REG_RIP]);
  if (code[0] != 0xF3 || code[1] != 0xA4) return false;
  auto to = static_cast<std::uintptr_t>(machine.gregs[REG_RDI]);
  auto from = static_cast<std::uintptr_t>(machine.gregs[REG_RSI]);
  auto left = static_cast<std::uint64_t>(machine.gregs[REG_RCX]);
  while (left > 0) {
    const std::uint64_t piece = std::min<std::uint64_t>(left, kLine - to % kLine);
    static_cast<void>(ask(Call::kStore, mapping.path, to - mapping.base));
    protect(to / kPage * kPage, PROT_READ | PROT_WRITE);
    std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), piece);
    protect(to / kPage * kPage, PROT_READ);
    to += piece;
    from += piece;
    left -= piece;
  }
  machine.gregs[REG_RDI] = static_cast<greg_t>(to);
  machine.gregs[REG_RSI] = static_cast<greg_t>(from);
  machine.gregs[REG_RCX] = 0;
  machine.gregs[REG_RIP] += 2;
  return true;
}

// The instruction at hand is about to store into a mapping: the watch is asked, then this one
// instruction may.
void on_store(int, siginfo_t* info, void* context) {
  const auto at = reinterpret_cast<std::uintptr_t>(info->si_addr);
  const Mapping* mapping = nullptr;
  if (state != nullptr)
    for (const auto& known : state->mappings)
      if (at >= known.base && at < known.base + known.bytes) mapping = &known;
  if (mapping == nullptr) {  // a fault of its own
    ::signal(SIGSEGV, SIG_DFL);
    return;
  }
  mcontext_t& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
  if (step_through_copy(*mapping, machine)) return;
  // An instruction that reaches over two pages comes twice; it is one step.
  if (open_count == 0) static_cast<void>(ask(Call::kStore, mapping->path, at - mapping->base));
  TM_CHECK(open_count < open_pages.size());
  open_pages[open_count] = at / kPage * kPage;
  protect(open_pages[open_count++], PROT_READ | PROT_WRITE);
  machine.gregs[REG_EFL] |= kTrapFlag;
}

void on_stepped(int, siginfo_t*, void* context) {
  while (open_count > 0) protect(open_pages[--open_count], PROT_READ);
  static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL] &= ~kTrapFlag;
}

void handle(int signal, void (*handler)(int, siginfo_t*, void*), struct sigaction* old) {
  struct sigaction action {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO;
  TM_CHECK(::sigaction(signal, &action, old) == 0);
}

// -1 with errno: the answer; otherwise the call is made.
bool refuses(const Answer& answer) {
  if (answer.error != 0) errno = answer.error;
  return answer.error != 0;
}

}  // namespace

const char* to_text(Call call) {
  constexpr std::array<const char*, 13> kTexts = {"store",  "open",     "write", "read", "allocate",
                                                  "punch",  "truncate", "sync",  "link", "rename",
                                                  "unlink", "mkdir",    "map"};
  return kTexts[static_cast<std::size_t>(call)];
}

Watched::Watched(std::vector<std::string> prefixes, Watch watch) {
  TM_CHECK(state == nullptr);
  state = new State;
  state->prefixes = std::move(prefixes);
  state->watch = std::move(watch);
  state->owner = ::getpid();
  handle(SIGSEGV, &on_store, &state->old_segv);
  handle(SIGTRAP, &on_stepped, &state->old_trap);
}

Watched::~Watched() {
  ::sigaction(SIGSEGV, &state->old_segv, nullptr);
  ::sigaction(SIGTRAP, &state->old_trap, nullptr);
  delete std::exchange(state, nullptr);
}

std::uint64_t Watched::steps() const { return state->steps; }

}  // namespace tidemark::storage

// Every reference to these functions in what is linked statically comes here (CMakeLists.txt).
using namespace tidemark::storage;
extern "C" {

int __real_open(const char*, int, ...);
int __wrap_open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & (O_CREAT | __O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  if (active() && refuses(ask(Call::kOpen, path))) return -1;
  return __real_open(path, flags, mode);
}

ssize_t __real_pwritev(int, const iovec*, int, off_t);
ssize_t __wrap_pwritev(int fd, const iovec* parts, int count, off_t offset) {
  if (!active()) return __real_pwritev(fd, parts, count, offset);
  std::uint64_t bytes = 0;
  for (int i = 0; i < count; ++i) bytes += parts[i].iov_len;
  const Answer answer = ask(Call::kWrite, path_of(fd), static_cast<std::uint64_t>(offset), bytes);
  if (refuses(answer)) return -1;
  std::vector<iovec> some(parts, parts + count);
  std::uint64_t left = answer.at_most;
  for (auto& part : some) left -= part.iov_len = std::min<std::uint64_t>(part.iov_len, left);
  return __real_pwritev(fd, some.data(), count, offset);
}

ssize_t __real_pwrite(int, const void*, size_t, off_t);
ssize_t __wrap_pwrite(int fd, const void* data, size_t bytes, off_t offset) {
  if (!active()) return __real_pwrite(fd, data, bytes, offset);
  const Answer answer = ask(Call::kWrite, path_of(fd), static_cast<std::uint64_t>(offset), bytes);
  if (refuses(answer)) return -1;
  return __real_pwrite(fd, data, std::min<std::uint64_t>(bytes, answer.at_most), offset);
}

ssize_t __real_pread(int, void*, size_t, off_t);
ssize_t __wrap_pread(int fd, void* data, size_t bytes, off_t offset) {
  if (!active()) return __real_pread(fd, data, bytes, offset);
  const Answer answer = ask(Call::kRead, path_of(fd), static_cast<std::uint64_t>(offset), bytes);
  if (refuses(answer)) return -1;
  return __real_pread(fd, data, std::min<std::uint64_t>(bytes, answer.at_most), offset);
}

int __real_fallocate(int, int, off_t, off_t);
int __wrap_fallocate(int fd, int mode, off_t offset, off_t bytes) {
  const Call call = (mode & FALLOC_FL_PUNCH_HOLE) != 0 ? Call::kPunch : Call::kAllocate;
  if (active() && refuses(ask(call, path_of(fd), static_cast<std::uint64_t>(offset),
                              static_cast<std::uint64_t>(bytes))))
    return -1;
  return __real_fallocate(fd, mode, offset, bytes);
}

int __real_ftruncate(int, off_t);
int __wrap_ftruncate(int fd, off_t bytes) {
  if (active() && refuses(ask(Call::kTruncate, path_of(fd), static_cast<std::uint64_t>(bytes))))
    return -1;
  return __real_ftruncate(fd, bytes);
}

int __real_fsync(int);
int __wrap_fsync(int fd) {
  if (active() && refuses(ask(Call::kSync, path_of(fd)))) return -1;
  return __real_fsync(fd);
}

int __real_fdatasync(int);
int __wrap_fdatasync(int fd) {
  if (active() && refuses(ask(Call::kSync, path_of(fd)))) return -1;
  return __real_fdatasync(fd);
}

int __real_link(const char*, const char*);
int __wrap_link(const char* from, const char* to) {
  if (active() && refuses(ask(Call::kLink, to))) return -1;
  return __real_link(from, to);
}

int __real_rename(const char*, const char*);
int __wrap_rename(const char* from, const char* to) {
  if (active() && refuses(ask(Call::kRename, to))) return -1;
  return __real_rename(from, to);
}

int __real_renameat2(int, const char*, int, const char*, unsigned);
int __wrap_renameat2(int a, const char* from, int b, const char* to, unsigned flags) {
  if (active() && refuses(ask(Call::kRename, to))) return -1;
  return __real_renameat2(a, from, b, to, flags);
}

int __real_unlink(const char*);
int __wrap_unlink(const char* path) {
  if (active() && refuses(ask(Call::kUnlink, path))) return -1;
  return __real_unlink(path);
}

int __real_mkdir(const char*, mode_t);
int __wrap_mkdir(const char* path, mode_t mode) {
  if (active() && refuses(ask(Call::kMakeDirectory, path))) return -1;
  return __real_mkdir(path, mode);
}

void* __real_mmap(void*, size_t, int, int, int, off_t);
void* __wrap_mmap(void* at, size_t bytes, int access, int flags, int fd, off_t offset) {
  const std::string path = fd >= 0 && active() ? path_of(fd) : std::string();
  if (path.empty() || !is_watched(path) || !path.ends_with("capture.tide") ||
      (access & PROT_WRITE) == 0)
    return __real_mmap(at, bytes, access, flags, fd, offset);
  if (refuses(ask(Call::kMap, path))) return MAP_FAILED;
  void* base = __real_mmap(at, bytes, PROT_READ, flags, fd, offset);
  if (base == MAP_FAILED) return base;
  const std::lock_guard lock(state->mutex);
  state->mappings.push_back({reinterpret_cast<std::uintptr_t>(base), bytes, path});
  return base;
}

int __real_munmap(void*, size_t);
int __wrap_munmap(void* base, size_t bytes) {
  if (state != nullptr) {
    const std::lock_guard lock(state->mutex);
    std::erase_if(state->mappings, [&](const Mapping& mapping) {
      return mapping.base == reinterpret_cast<std::uintptr_t>(base);
    });
  }
  return __real_munmap(base, bytes);
}

}  // extern "C"
