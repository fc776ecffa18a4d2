#include "cli/run_report.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "base/output.h"
#include "espalier/base/error.h"
#include "report/document.h"
#include "report/page.h"

namespace espalier::cli {

std::string report_title(const std::string& file) { return std::filesystem::path(file).filename().string(); }

std::string write_run_report(const std::string& path, const std::string& title, const Model* model,
                             RunEvents run, const std::string& dev,
                             const std::function<void(const std::string&)>& warn) {
  if (path.empty()) return "";
  std::vector<RunEvents> runs;
  runs.push_back(std::move(run));
  try {
    const Json document = report_document(title, model, runs, dev == "-" ? std::string() : dev);
    OutputFile file(path);
    file.write(report_page(document));
    file.commit();
  } catch (const Error& e) {
    warn(fmt::format("{}; there is no report", e.what()));
    return "";
  }
  return "; wrote " + path;
}

}  // namespace espalier::cli
