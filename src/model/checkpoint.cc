#include "model/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <span>

#include "base/fingerprint.h"
#include "espalier/base/error.h"
#include "fleet/communicator.h"
#include "fleet/list_fingerprint.h"
#include "learning/rank_problem.h"
#include "model/model_file.h"
#include "solvers/training.h"

namespace espalier {
namespace {

constexpr std::string_view kHash = "xxh3:";
constexpr const char* kBestOnDev = "best_on_dev";
constexpr const char* kBest = "best_";  // begins the names of sections with the duals of the best value
std::string start_anew() { return fmt::format("start the run again without {}", setting("resume")); }

std::string hash_text(const Fingerprint& fingerprint) {
  return fmt::format("{}{:016x}", kHash, fingerprint.value());
}

// Everything of the examples but their features: structure, gold outputs, costs and weights.
std::uint64_t fingerprint_of_examples(const Problem& problem, Communicator* fleet) {
  std::vector<float> statistics;
  return list_fingerprint(problem.size(), fleet, [&](std::size_t i, Fingerprint& fingerprint) {
    const double numbers[] = {problem.weight(i), problem.cost_offset(i)};
    fingerprint.add_list(std::span<const double>(numbers));
    statistics.assign(problem.num_statistics(i), 0.0f);
    problem.add_gold(i, 1.0f, statistics);
    fingerprint.add_list(std::span<const float>(statistics));
    std::fill(statistics.begin(), statistics.end(), 0.0f);
    problem.add_cost(i, 1.0f, statistics);
    fingerprint.add_list(std::span<const float>(statistics));
  });
}

std::string value_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

bool is_hash(const Json& value) { return value.is_string() && value.get<std::string>().starts_with(kHash); }

void check_identity(const std::string& file, const Json& found, const Json& expected) {
  for (const auto& [key, value] : expected.items()) {
    if (found.contains(key) && found.at(key) == value) continue;
    if (is_hash(value)) {
      throw Error::in(file, fmt::format("a checkpoint of a run with different {}", key),
                      "expected those of this run");
    }
    const std::string before =
        found.contains(key) ? fmt::format("with {} {}", key, value_text(found.at(key))) : "without " + key;
    throw Error::in(file, fmt::format("a checkpoint of a run {}", before),
                    fmt::format("expected {} {}, as in this run", key, value_text(value)));
  }
  for (const auto& [key, value] : found.items()) {
    if (expected.contains(key)) continue;
    throw Error::in(file, fmt::format("a checkpoint of a run with {}", key),
                    "expected one without it, as in this run");
  }
}

Json to_json(const PathPoint& point, const std::string& headline) {
  return {{"l2", point.l2},
          {"l1", point.l1},
          {"active", point.active},
          {"primal", point.certificate.primal},
          {"dual", point.certificate.dual},
          {"gap", point.certificate.gap()},
          {"passes", point.certificate.passes},
          {"total_passes", point.total_passes},
          {"badness", point.dev_error},  // the name that checkpoints have always had
          {"headline", headline}};
}

PathPoint point_from(const Json& json) {
  PathPoint point;
  point.l2 = json.at("l2").get<double>();
  point.l1 = json.value("l1", 0.0);
  point.active = json.value("active", std::size_t{0});
  point.certificate = {json.at("primal").get<double>(), json.at("dual").get<double>(),
                       json.at("passes").get<double>()};
  // As in models.
  const double gap = point.certificate.gap();
  if (gap < 0 || json.value("gap", gap) == 0) point.certificate.rounding = std::abs(gap);
  point.total_passes = json.at("total_passes").get<double>();
  point.dev_error = json.at("badness").get<double>();
  point.status = Status::converged;
  return point;
}

Json to_json(const BestOnDev& best) {
  return {{"epoch", best.progress.epoch},       {"passes", best.progress.passes},
          {"seconds", best.progress.seconds},   {"wall_seconds", best.progress.wall_seconds},
          {"primal", best.progress.primal},     {"dual", best.progress.dual},
          {"rounding", best.progress.rounding}, {"badness", best.dev_error},
          {"headline", best.headline},          {"reports_since", best.reports_since}};
}

// Without the weights.
BestOnDev best_on_dev_from(const Json& json) {
  BestOnDev best;
  best.progress.epoch = json.at("epoch").get<int>();
  best.progress.passes = json.at("passes").get<double>();
  best.progress.seconds = json.at("seconds").get<double>();
  best.progress.wall_seconds = json.at("wall_seconds").get<double>();
  best.progress.primal = json.at("primal").get<double>();
  best.progress.dual = json.at("dual").get<double>();
  best.progress.rounding = json.at("rounding").get<double>();
  best.dev_error = json.at("badness").get<double>();
  best.headline = json.at("headline").get<std::string>();
  best.reports_since = json.at("reports_since").get<std::size_t>();
  return best;
}

Weights weights_from(const ModelFile& file, std::string_view section, const Problem& problem) {
  Weights theta(problem.weight_shape());
  const auto stored = file.numbers<float>(section);
  if (stored.size() != theta.values().size()) {
    throw Error::in(file.path(), fmt::format("{} weights", stored.size()),
                    fmt::format("expected {}; {}", theta.values().size(), start_anew()));
  }
  std::copy(stored.begin(), stored.end(), theta.values().begin());
  return theta;
}

// One file of several ranks that wrote a checkpoint, with what it has of all scores and examples.
struct RankFile {
  std::string path;
  std::size_t scores, examples;
};

std::string folder_of(const std::string& file) {
  const std::size_t slash = file.rfind('/');
  return slash == file.npos ? "" : file.substr(0, slash + 1);
}

// "NAME.GENERATION.RANK-of-RANKS", in no other folder.
bool is_rank_file(std::string_view name) {
  const auto drop_number = [&name] {
    const std::size_t size = name.size();
    while (!name.empty() && name.back() >= '0' && name.back() <= '9') name.remove_suffix(1);
    return name.size() < size;
  };
  const auto drop = [&name](std::string_view end) {
    if (!name.ends_with(end)) return false;
    name.remove_suffix(end.size());
    return true;
  };
  return name.find('/') == std::string_view::npos && drop_number() && drop("-of-") && drop_number() &&
         drop(".") && drop_number() && drop(".") && !name.empty();
}

// Beside the file itself, wherever that has been moved to.
std::vector<RankFile> rank_files(const std::string& file, const Json& state) {
  std::vector<RankFile> files;
  if (!state.contains("ranks")) return files;
  for (const Json& part : state.at("ranks")) {
    const auto name = part.at("file").get<std::string>();
    // They are removed when the next checkpoint is there: a forged one must not name anything else.
    if (!is_rank_file(name)) throw JsonError(fmt::format("{} for the file of a rank", in_quotes(name)));
    files.push_back({folder_of(file) + name, part.at("scores").get<std::size_t>(),
                     part.at("examples").get<std::size_t>()});
  }
  return files;
}

// Elements begin .. begin + count - 1 of what sections of this name are one after the other.
std::vector<float> slice_of(const std::vector<RankFile>& files, std::size_t RankFile::*size,
                            const std::string& section, std::size_t begin, std::size_t count) {
  std::vector<float> values;
  values.reserve(count);
  std::size_t first = 0;
  for (const RankFile& part : files) {
    const std::size_t last = first + part.*size;
    const std::size_t from = std::max(first, begin), to = std::min(last, begin + count);
    if (from < to) {
      const ModelFile file(part.path);
      const auto stored = file.section<float>(section);
      if (stored.size() != part.*size) {
        throw Error::in(part.path, fmt::format("{} numbers in {}", stored.size(), section),
                        fmt::format("expected {}; {}", part.*size, start_anew()));
      }
      const auto some = stored.subspan(from - first, to - from);
      values.insert(values.end(), some.begin(), some.end());
    }
    first = last;
  }
  return values;
}

// Those of the examples that the problem has, be it all or a rank's share.
DualState duals_from(const ModelFile& file, const std::vector<RankFile>& parts, const std::string& prefix,
                     const Problem& problem) {
  DualState dual(problem);
  std::vector<RankFile> files = parts;
  if (files.empty()) {
    files.push_back({file.path(), file.section<float>(prefix + "scores").size(),
                     file.section<float>(prefix + "curvatures").size()});
  }
  std::size_t scores = 0, examples = 0;
  for (const RankFile& part : files) scores += part.scores, examples += part.examples;
  Communicator* fleet = problem.fleet();
  const std::size_t own = dual.scores().size(), total = sum_over(fleet, own);
  if (scores != total || examples != problem.total_size()) {
    throw Error::in(file.path(), fmt::format("{} scores of {} examples", scores, examples),
                    fmt::format("expected {} of {}; {}", total, problem.total_size(), start_anew()));
  }
  const std::size_t first_score = fleet ? fleet->sum_before(own) : 0,
                    first = fleet ? fleet->sum_before(problem.size()) : 0;
  dual.restore(problem, slice_of(files, &RankFile::scores, prefix + "scores", first_score, own),
               slice_of(files, &RankFile::examples, prefix + "curvatures", first, problem.size()));
  return dual;
}

// Requires a state that begins as one of this problem does; `restore` takes what is stored.
template <class Real, class Restore>
void restore_marginals(const ModelFile& file, std::string_view section, std::size_t expected,
                       const Restore& restore) {
  const auto stored = file.numbers<Real>(section);
  if (stored.size() != expected) {
    throw Error::in(file.path(), fmt::format("{} {}", stored.size(), section),
                    fmt::format("expected {}; {}", expected, start_anew()));
  }
  restore(stored);
}

// Duals or weights, in sections whose names begin with `prefix`. What the writer refers to and nobody else
// has goes into `curvatures`.
void add_training(const Training& training, const std::string& prefix, std::vector<float>& curvatures,
                  ModelFileWriter& writer) {
  if (training.dual) {
    curvatures = training.dual->curvatures();
    writer.add(prefix + "scores", training.dual->scores());
    writer.add(prefix + "curvatures", std::span<const float>(curvatures));
  } else if (training.means) {
    writer.add(prefix + "means", training.means->all());
  } else if (training.cliques) {
    writer.add(prefix + "cliques", training.cliques->all());
  } else {
    writer.add(prefix + "weights", training.theta.values());
  }
}

// The duals that ranks keep, each for itself.
void add_rank_training(const Training& training, const std::string& prefix, std::vector<float>& curvatures,
                       ModelFileWriter& writer) {
  if (training.dual) add_training(training, prefix, curvatures, writer);
}

bool has_training(const ModelFile& file, const std::string& prefix) {
  for (const char* name : {"scores", "means", "cliques", "weights"}) {
    if (file.has(prefix + name)) return true;
  }
  return false;
}

// `roundings` are those of means.
Training training_from(const ModelFile& file, const std::vector<RankFile>& parts, const std::string& prefix,
                       double roundings, const Problem& problem) {
  Training training;
  if (file.has(prefix + "scores") || !parts.empty()) {
    training.dual = duals_from(file, parts, prefix, problem);
  } else if (problem.fleet() && !file.has(prefix + "weights")) {
    throw Error::in(file.path(), "a checkpoint of a solver that is not for several ranks",
                    "expected one rank, as before");
  } else if (file.has(prefix + "means")) {
    MeanState& means = training.means.emplace(problem);
    restore_marginals<double>(file, prefix + "means", means.all().size(),
                              [&](DoubleIn all) { means.restore(all, roundings); });
  } else if (file.has(prefix + "cliques")) {
    CliqueState& cliques = training.cliques.emplace(problem);
    restore_marginals<float>(file, prefix + "cliques", cliques.all().size(),
                             [&](In all) { cliques.restore(problem, all); });
  } else {
    training.theta = weights_from(file, prefix + "weights", problem);
  }
  return training;
}

}  // namespace

Json run_identity(const TrainingSet& data, const Loss& loss, const Json& l2, std::string_view solver) {
  const TaskSections sections = data.sections();
  Json identity{{"task", data.task()}, {"loss", loss.name()}, {"l2", l2}, {"solver", solver}};
  identity.update(sections.settings);
  Fingerprint examples;
  for (const auto& [name, bytes] : sections.arrays) {
    // The parts of dictionaries have a dot in their names. They, and what a parser prunes by, come from the
    // training data alone.
    if (name.find('.') != std::string::npos || name == "pruner") {
      examples.add_list(std::span<const char>(bytes));
    } else {
      Fingerprint array;
      array.add_bytes(bytes);
      identity[name] = hash_text(array);
    }
  }
  const std::uint64_t fingerprints[] = {fingerprint_of_examples(data.problem(), data.fleet()),
                                        data.fingerprint()};
  examples.add_list(std::span<const std::uint64_t>(fingerprints));
  identity["training data"] = hash_text(examples);
  return identity;
}

namespace {

Json state_of(const Json& identity, const Checkpoint& checkpoint) {
  const PathInProgress& path = checkpoint.path;
  Json state{{"identity", identity},
             {"passes", path.progress.passes},
             {"seconds", path.progress.seconds},
             {"wall_seconds", path.progress.wall_seconds},
             {"best", path.best},
             {"training_l2", path.training_l2},
             {"points", Json::array()}};
  if (path.training.means) state["roundings"] = path.training.means->roundings();
  if (path.best_training && path.best_training->means)
    state["best_roundings"] = path.best_training->means->roundings();
  for (std::size_t k = 0; k < path.points.size(); ++k) {
    state["points"].push_back(to_json(path.points[k], checkpoint.headlines[k]));
  }
  if (checkpoint.best_on_dev) state[kBestOnDev] = to_json(*checkpoint.best_on_dev);
  return state;
}

// What a checkpoint that is there says, if it can be read.
Json state_in(const std::string& file) {
  try {
    if (!is_model_file(file)) return nullptr;
    const ModelFile stored(file);
    return stored.has("checkpoint") ? Json::parse(stored.section_bytes("checkpoint")) : Json();
  } catch (const std::exception&) {
    return nullptr;
  }
}

void remove_rank_files(const std::string& file, const Json& state) {
  if (state.is_null()) return;
  for (const RankFile& part : rank_files(file, state)) {
    std::error_code ignored;
    std::filesystem::remove(part.path, ignored);
  }
}

// Everybody's duals, in files that no checkpoint names yet; the rows that name them.
Json save_rank_files(const std::string& file, std::size_t generation, const PathInProgress& path,
                     const RankProblem& share) {
  Communicator& fleet = *share.fleet();
  const std::string name = fmt::format("{}.{}.{}-of-{}", file.substr(folder_of(file).size()), generation,
                                       fleet.rank(), fleet.size());
  std::string failure;
  try {
    ModelFileWriter writer;
    std::vector<float> curvatures, best_curvatures;
    add_rank_training(path.training, "", curvatures, writer);
    if (path.best_training) add_rank_training(*path.best_training, kBest, best_curvatures, writer);
    writer.write(folder_of(file) + name);
  } catch (const Error& e) {
    failure = e.what();
  }
  // All of them are there, or the checkpoint before stays what it is.
  for (const std::string& of_rank : fleet.gather(failure)) {
    if (!of_rank.empty()) throw Error(of_rank);
  }
  const Json row{{"file", name}, {"scores", path.training.dual->scores().size()}, {"examples", share.size()}};
  Json rows = Json::array();
  for (const std::string& text : fleet.gather(row.dump())) rows.push_back(Json::parse(text));
  return rows;
}

}  // namespace

void save_checkpoint(const std::string& file, const Json& identity, const Checkpoint& checkpoint,
                     const RankProblem* share) {
  const PathInProgress& path = checkpoint.path;
  Json state = state_of(identity, checkpoint);
  // What this one replaces, whose files of ranks nobody needs afterwards.
  const Json before = !share || share->fleet()->rank() == 0 ? state_in(file) : Json();
  const bool in_parts = share && path.training.dual;
  if (share) {
    const std::size_t generation_here = before.is_null() ? 0 : before.value("generation", std::size_t{0}) + 1;
    const auto generation =
        static_cast<std::size_t>(share->fleet()->of_first(static_cast<double>(generation_here)));
    if (in_parts) state["ranks"] = save_rank_files(file, generation, path, *share);
    state["generation"] = generation;
  }
  std::string failure;
  if (!share || share->fleet()->rank() == 0) {
    const std::string text = state.dump();
    ModelFileWriter writer;
    writer.add_bytes("checkpoint", text);
    std::vector<float> curvatures, best_curvatures;
    if (!in_parts) {
      add_training(path.training, "", curvatures, writer);
      if (path.best_training) add_training(*path.best_training, kBest, best_curvatures, writer);
    }
    if (!path.points.empty()) writer.add("best", path.theta.values());
    if (checkpoint.best_on_dev) writer.add(kBestOnDev, checkpoint.best_on_dev->theta.values());
    try {
      writer.write(file);
      remove_rank_files(file, before);
    } catch (const Error& e) {
      if (!share) throw;
      failure = e.what();
    }
  }
  if (!share) return;
  failure = share->fleet()->of_first(failure);
  if (!failure.empty()) throw Error(failure);
}

void remove_checkpoint(const std::string& file) {
  remove_rank_files(file, state_in(file));
  std::error_code ignored;
  std::filesystem::remove(file, ignored);
}

Checkpoint load_checkpoint(const std::string& name, const Json& identity, const Problem& problem) {
  const ModelFile file(name);
  if (!file.has("checkpoint")) {
    throw Error::in(name, "a model", "expected the checkpoint of an interrupted run");
  }
  Checkpoint checkpoint;
  PathInProgress& path = checkpoint.path;
  double roundings = 0, best_roundings = 0;
  std::vector<RankFile> parts;
  bool has_best = has_training(file, kBest);
  try {
    const Json state = Json::parse(file.section_bytes("checkpoint"));
    parts = rank_files(name, state);
    check_identity(name, state.at("identity"), identity);
    path.progress.passes = state.at("passes").get<double>();
    path.progress.seconds = state.at("seconds").get<double>();
    path.progress.wall_seconds = state.at("wall_seconds").get<double>();
    const auto counts = [](double number) { return std::isfinite(number) && number >= 0; };
    if (!counts(path.progress.passes) || !counts(path.progress.seconds) ||
        !counts(path.progress.wall_seconds)) {
      throw Error::in(name,
                      fmt::format("{} passes in {} s, {} s of them on the clock", path.progress.passes,
                                  path.progress.seconds, path.progress.wall_seconds),
                      start_anew());
    }
    path.best = state.at("best").get<std::size_t>();
    path.training_l2 = state.at("training_l2").get<double>();
    if (file.has("means")) roundings = state.at("roundings").get<double>();
    if (file.has(kBest + std::string("means"))) best_roundings = state.at("best_roundings").get<double>();
    for (const Json& point : state.at("points")) {
      path.points.push_back(point_from(point));
      checkpoint.headlines.push_back(point.at("headline").get<std::string>());
    }
    if (state.contains(kBestOnDev)) checkpoint.best_on_dev = best_on_dev_from(state.at(kBestOnDev));
    if (!path.points.empty() && path.best >= path.points.size()) {
      throw Error::in(name, fmt::format("value {} as the best of {}", path.best, path.points.size()),
                      start_anew());
    }
  } catch (const JsonError& e) {
    throw Error::in(name, fmt::format("an unreadable section ({})", e.what()), start_anew());
  }
  path.training = training_from(file, parts, "", roundings, problem);
  if (!parts.empty()) has_best = has_training(ModelFile(parts.front().path), kBest);
  if (has_best) path.best_training = training_from(file, parts, kBest, best_roundings, problem);
  if (!path.points.empty()) path.theta = weights_from(file, "best", problem);
  if (checkpoint.best_on_dev) checkpoint.best_on_dev->theta = weights_from(file, kBestOnDev, problem);
  return checkpoint;
}

}  // namespace espalier
