#pragma once

#include <functional>
#include <string>

#include "espalier/model/model.h"
#include "report/run_events.h"

namespace espalier::cli {

// What a report of a model, or of what was trained on, is called, after its file.
std::string report_title(const std::string& file);

// The report of a run, as its option --report asks for: the model that it ended with (nullptr: none), with
// its quality on held-out data (empty or standard input: without). An empty path writes nothing. Returns what
// to say of it, "; wrote FILE". What goes wrong is no reason to lose a run: `warn` is told.
std::string write_run_report(const std::string& path, const std::string& title, const Model* model,
                             RunEvents run, const std::string& dev,
                             const std::function<void(const std::string&)>& warn);

}  // namespace espalier::cli
