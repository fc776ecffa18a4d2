// Trains a classifier on data that is in memory already: no files, no names.

#include <espalier/espalier.h>
#include <fmt/format.h>

#include <cstdint>
#include <vector>

namespace {

// Attributes and labels are numbers from 0; what they mean is the program's own affair.
enum Attribute : std::uint32_t { kBias, kSunny, kWindy, kHumidity, kNumAttributes };
enum Label : std::uint32_t { kStayIn, kGoOut, kNumLabels };

struct Day {
  bool sunny, windy;
  float humidity;
  Label label;
};

// Rows are sparse: what is not added is 0.
void add_row(const Day& day, espalier::SparseRows& rows) {
  rows.add(kBias, 1);
  if (day.sunny) rows.add(kSunny, 1);
  if (day.windy) rows.add(kWindy, 1);
  rows.add(kHumidity, day.humidity);
  rows.finish_row();
}

}  // namespace

int main() {
  const std::vector<Day> days{{true, false, 0.3f, kGoOut},  {true, false, 0.5f, kGoOut},
                              {true, true, 0.2f, kGoOut},   {false, false, 0.4f, kGoOut},
                              {true, true, 0.9f, kStayIn},  {false, true, 0.6f, kStayIn},
                              {false, true, 0.8f, kStayIn}, {false, false, 0.9f, kStayIn}};
  espalier::SparseRows rows;
  std::vector<std::uint32_t> gold;
  for (const Day& day : days) {
    add_row(day, rows);
    gold.push_back(day.label);
  }

  // The problem refers to the rows, the objective to the problem: keep them.
  const espalier::MulticlassProblem problem(
      espalier::MulticlassExamples(rows, kNumAttributes, gold, kNumLabels));
  const espalier::Objective objective{problem, espalier::Loss::crf(), /*l2=*/0.1};

  espalier::EgOptions options;
  options.stopping.gap = 1e-6;
  espalier::DualState dual(problem);
  espalier::Weights theta;
  const espalier::Summary summary = espalier::eg(objective, options, dual, theta);
  fmt::print("{}\n", summary.message);

  // The certificate does not rest on the solver's word: this computes both sides anew.
  const espalier::Certificate certificate = espalier::certify(objective, theta, dual);
  fmt::print("objective {:.6f}, and no weights have less than {:.6f}\n", certificate.primal,
             certificate.dual);

  // A new day: its scores, and the probabilities that they stand for.
  espalier::SparseRows today;
  add_row({false, false, 0.1f, kGoOut}, today);
  std::vector<double> scores(kNumLabels), probabilities(kNumLabels);
  espalier::score_row(today.row(0), theta, 1.0, scores);
  espalier::Workspace workspace;
  espalier::Multiclass(kNumLabels).log_partition(scores, probabilities, workspace);
  fmt::print("go out with probability {:.3f}\n", probabilities[kGoOut]);

  const bool certified = certificate.gap() >= 0 && certificate.relative_gap() <= 1e-6;
  return certified && probabilities[kGoOut] > 0.5 ? 0 : 1;
}
