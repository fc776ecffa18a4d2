#pragma once

#include <atomic>
#include <string>

#include "espalier/model/model.h"

namespace espalier::cli {

// From now on Ctrl-C or SIGTERM ends the program at once, with status kInterrupted, a line that says so and
// no temporary file left behind, except where an InterruptGuard has something to save first.
void end_at_interrupts();
// The same at another signal.
void end_at(int signal);

// While one of these lives, the first Ctrl-C (or SIGTERM) sets a flag that training looks at; the second one
// ends the program. And a reader of standard output, standard error or a log that goes away (SIGPIPE) does
// not end it: those are errors of writing like others.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  static const std::atomic<bool>* flag();
  static bool interrupted() { return flag()->load(); }
};

// A part of a guarded run that has nothing to save yet, as reading data: while one of these lives, an
// interrupt ends the program at once, also while it waits for a pipe. Inside another command that has a guard
// of its own (the demo, which has a folder to remove) the flag is set as ever.
class NothingToSave {
 public:
  // "while reading train.txt", for the message.
  explicit NothingToSave(const std::string& when);
  ~NothingToSave();
  NothingToSave(const NothingToSave&) = delete;
  NothingToSave& operator=(const NothingToSave&) = delete;

 private:
  const std::string* before_;
};

// While one of these lives, outside of guarded runs, an interrupt ends the program at once and without a
// word.
class NothingToSay {
 public:
  NothingToSay();
  ~NothingToSay();
  NothingToSay(const NothingToSay&) = delete;
  NothingToSay& operator=(const NothingToSay&) = delete;

 private:
  const std::string* before_;
};

// Saves a model at the end of a guarded run. A pipe may have no reader, or one that takes its time: an
// interrupt ends the wait.
void save_model(const Model& model, const std::string& path);

}  // namespace espalier::cli
