// SPDX-License-Identifier: Apache-2.0
// The threads that answer requests. Heads go in and answers come out, each under the number of its
// connection; a file descriptor is readable while there are answers.
#pragma once

#include <sys/eventfd.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tidemark/base/unique_fd.h"
#include "tidemark/serve/http_text.h"

namespace tidemark {

class AnswerThreads {
 public:
  struct Question {
    std::uint64_t connection = 0;
    std::string head;
    bool last = false;
  };
  using Answered = std::pair<std::uint64_t, HttpAnswer>;

  AnswerThreads(std::uint32_t threads,
                std::function<HttpAnswer(const std::string& head, bool last)> answer)
      : answer_(std::move(answer)), event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    for (std::uint32_t i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
  }
  AnswerThreads(const AnswerThreads&) = delete;
  AnswerThreads& operator=(const AnswerThreads&) = delete;
  ~AnswerThreads() {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    asked_.notify_all();
  }

  [[nodiscard]] int fd() const { return event_.get(); }

  void ask(Question question) {
    {
      const std::lock_guard lock(mutex_);
      questions_.push_back(std::move(question));
    }
    asked_.notify_one();
  }

  std::vector<Answered> take_answers() {
    std::uint64_t count = 0;
    [[maybe_unused]] const auto got = ::read(event_.get(), &count, sizeof(count));
    const std::lock_guard lock(mutex_);
    return std::exchange(answers_, {});
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      asked_.wait(lock, [&] { return ends_ || !questions_.empty(); });
      if (ends_) return;
      const Question question = std::move(questions_.front());
      questions_.pop_front();
      lock.unlock();
      Answered answered(question.connection, answer_(question.head, question.last));
      lock.lock();
      answers_.push_back(std::move(answered));
      const std::uint64_t one = 1;
      [[maybe_unused]] const auto put = ::write(event_.get(), &one, sizeof(one));
    }
  }

  std::function<HttpAnswer(const std::string&, bool)> answer_;
  UniqueFd event_;
  std::mutex mutex_;
  std::condition_variable asked_;
  bool ends_ = false;
  std::deque<Question> questions_;
  std::vector<Answered> answers_;
  std::vector<std::jthread> threads_;  // last: they use all of the above
};

}  // namespace tidemark
