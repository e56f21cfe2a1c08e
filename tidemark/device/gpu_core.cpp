// SPDX-License-Identifier: Apache-2.0
#include "tidemark/device/gpu_core.h"

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include <fmt/core.h>

#include "tidemark/base/uninterrupted.h"

namespace tidemark {
namespace {

constexpr int kTargetMin = 200;  // far from those that are opened and closed all the time
// Not skip_abort: where the driver goes on after the dump, the kernel may come to its end before
// its context does, and the fault is nobody's (seen on an H200: 18 of 18 tasks complete).
constexpr const char* kFlags =
    "skip_nonrelocated_elf_images,skip_global_memory,skip_shared_memory,skip_local_memory,"
    "skip_constbank_memory";
constexpr const char* kAskedByUser[] = {"CUDA_ENABLE_COREDUMP_ON_EXCEPTION",
                                        "CUDA_ENABLE_USER_TRIGGERED_COREDUMP",
                                        "CUDA_DEVICE_WAITS_ON_EXCEPTION",
                                        "CUDA_COREDUMP_GENERATION_FLAGS",
                                        "CUDA_COREDUMP_FILE",
                                        "CUDA_COREDUMP_PIPE"};

void set_environment(const char* name, const std::string& value) {
  ::setenv(name, value.c_str(), 1);
}

}  // namespace

std::unique_ptr<GpuCore> GpuCore::arm(In process) {
  for (const char* name : kAskedByUser)
    if (std::getenv(name) != nullptr) return nullptr;
  std::unique_ptr<GpuCore> core(new GpuCore);
  const UniqueFd nothing(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  core->target_ = UniqueFd(::fcntl(nothing.get(), F_DUPFD_CLOEXEC, kTargetMin));
  core->watch_ = UniqueFd(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (!core->target_.valid() || !core->watch_.valid() || !core->make_pipe_folder()) return nullptr;
  set_environment("CUDA_COREDUMP_FILE", core->target_path());
  set_environment("CUDA_COREDUMP_PIPE", core->folder_ + "/pipe");
  const bool users = process == In::kUsersProcess;
  set_environment("CUDA_COREDUMP_GENERATION_FLAGS",
                  users ? std::string(kFlags) + ",skip_abort" : kFlags);
  set_environment("CUDA_ENABLE_USER_TRIGGERED_COREDUMP", "1");
  if (!users) set_environment("CUDA_ENABLE_COREDUMP_ON_EXCEPTION", "1");
  return core;
}

GpuCore::~GpuCore() { remove_pipe_folder(); }

std::string GpuCore::target_path() const { return fmt::format("/proc/self/fd/{}", target_.get()); }

bool GpuCore::make_pipe_folder() {
  const char* where = std::getenv("TMPDIR");
  folder_ = fmt::format("{}/tidemark-gpu-XXXXXX", where != nullptr && *where != 0 ? where : "/tmp");
  if (::mkdtemp(folder_.data()) != nullptr) return true;
  folder_.clear();
  return false;
}

void GpuCore::remove_pipe_folder() {
  if (folder_.empty()) return;
  ::unlink((folder_ + "/pipe").c_str());
  ::rmdir(folder_.c_str());
  folder_.clear();
}

bool GpuCore::take_pipe() {
  const std::string name = folder_ + "/pipe";
  struct stat info {};
  // For both directions: that never waits, and never fails for want of a reader.
  if (::lstat(name.c_str(), &info) == 0 && S_ISFIFO(info.st_mode))
    pipe_ = UniqueFd(
        uninterrupted([&] { return ::open(name.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC); }));
  remove_pipe_folder();
  return pipe_.valid();
}

bool GpuCore::aim(int file) {
  return ::dup3(file, target_.get(), O_CLOEXEC) >= 0 &&
         ::inotify_add_watch(watch_.get(), target_path().c_str(), IN_CLOSE_WRITE) >= 0;
}

bool GpuCore::ask() {
  const char any = 'x';
  // The driver says on standard error that it begins; this process has nothing else to say.
  if (const UniqueFd nothing(::open("/dev/null", O_WRONLY | O_CLOEXEC)); nothing.valid())
    ::dup2(nothing.get(), STDERR_FILENO);
  return pipe_.valid() &&
         uninterrupted([&] { return ::write(pipe_.get(), &any, sizeof(any)); }) == sizeof(any);
}

bool GpuCore::is_written() {
  alignas(inotify_event) char events[4096];
  while (::read(watch_.get(), events, sizeof(events)) > 0) {
    struct stat info {};
    if (::fstat(target_.get(), &info) == 0 && info.st_size > 0) written_ = true;
  }
  return written_;
}

}  // namespace tidemark
