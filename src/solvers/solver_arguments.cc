#include "espalier/solvers/solver_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "espalier/base/error.h"

namespace espalier {
namespace {

bool contains(std::span<const std::string> words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

std::string joined(std::span<const std::string> words) { return fmt::format("{}", fmt::join(words, ", ")); }

bool names_all(std::string_view help, std::span<const std::string> choices) {
  return std::ranges::all_of(
      choices, [&](const std::string& choice) { return help.find(choice) != std::string_view::npos; });
}

}  // namespace

std::vector<SolverArguments::Shared> SolverArguments::shared() const {
  std::vector<Shared> all;
  for (const SolverEntry& entry : table_) {
    for (const OwnOptions& own : entry.options) {
      for (const OptionRow& row : own.table->rows()) {
        const auto same = [&](const Shared& option) { return option.rows.front()->name == row.name; };
        auto option = std::ranges::find_if(all, same);
        if (option == all.end()) option = all.insert(all.end(), Shared{});
        option->owners.push_back(&own);
        option->rows.push_back(&row);
      }
    }
  }
  return all;
}

// "eg: how steps are chosen: auto, paper, safe; eg-batch: auto, safe"
std::vector<OptionRow> SolverArguments::rows() const {
  std::vector<OptionRow> result;
  for (const Shared& option : shared()) {
    OptionRow merged = *option.rows.front();
    merged.load = {};
    merged.store = {};
    merged.logged = {};
    merged.help.clear();
    std::vector<bool> told(option.rows.size(), false);
    for (std::size_t k = 0; k < option.rows.size(); ++k) {
      const OptionRow& row = *option.rows[k];
      for (const std::string& word : row.choices) {
        if (!contains(merged.choices, word)) merged.choices.push_back(word);
      }
      if (told[k]) continue;
      std::vector<std::string> alike;
      for (std::size_t l = k; l < option.rows.size(); ++l) {
        if (option.rows[l]->help != row.help || option.rows[l]->choices != row.choices) continue;
        told[l] = true;
        alike.emplace_back(option.owners[l]->solver);
      }
      merged.help += fmt::format("{}{}", k == 0 ? "" : "; ", joined(alike));
      if (k == 0 || row.help != option.rows.front()->help) merged.help += ": " + row.help;
      if (!names_all(row.help, row.choices)) merged.help += ": " + joined(row.choices);
    }
    result.push_back(std::move(merged));
  }
  return result;
}

void SolverArguments::give(std::string_view name, std::string_view text) {
  given_.insert_or_assign(std::string(name), std::string(text));
}

void SolverArguments::apply(std::span<const SolverEntry> solvers, SolverOptions& options) const {
  std::vector<std::pair<const OptionRow*, void*>> conditional;  // on other options, which may come later
  for (const auto& [name, text] : given_) {
    bool taken = false;
    for (const SolverEntry& solver : solvers) {
      for (const OwnOptions& own : solver.options) {
        const OptionRow* row = own.table->find(name);
        if (!row || !row->refuse(text).empty()) continue;
        row->set(own.object(options), text);
        taken = true;
        if (row->effective) conditional.push_back({row, own.object(options)});
      }
    }
    if (taken) continue;
    std::vector<std::string> found, expected;
    for (const SolverEntry& solver : solvers) found.push_back(solver.name);
    std::string argument;
    for (const Shared& option : shared()) {
      const OptionRow& row = *option.rows.front();
      if (row.name != name) continue;
      argument = setting(row.name) + (row.kind == OptionKind::flag ? "" : " " + text);
      for (std::size_t k = 0; k < option.rows.size(); ++k) {
        if (option.rows[k]->refuse(text).empty()) expected.emplace_back(option.owners[k]->solver);
      }
    }
    throw Error(fmt::format("{0}: not for {1} {2}; expected {1} {3}", argument, setting("solver"),
                            listed(found), listed(expected)));
  }
  for (const auto& [row, object] : conditional) {
    if (const std::string problem = row->no_effect(object); !problem.empty()) throw Error(problem);
  }
}

Json SolverArguments::log(std::span<const std::string> solvers) const {
  Json json = Json::object();
  for (const Shared& option : shared()) {
    const auto given = given_.find(option.rows.front()->name);
    const bool concerns = option.rows.size() > 1 || contains(solvers, option.owners.front()->solver);
    if (!concerns && given == given_.end()) continue;
    for (std::size_t k = 0; k < option.rows.size(); ++k) {
      const OptionRow& row = *option.rows[k];
      SolverOptions options;
      void* object = option.owners[k]->object(options);
      if (given != given_.end()) {
        if (!row.refuse(given->second).empty()) continue;  // a value of another one
        row.set(object, given->second);
      }
      if (row.logged(object)) json[row.log_name] = row.load(object);
      break;
    }
  }
  return json;
}

}  // namespace espalier
