// Trains a classifier on examples that are in memory already, and classifies another one.

#include <espalier/espalier.h>
#include <fmt/format.h>

int main() {
  // Attributes have names and values; what is not given is 0.
  espalier::ClassifyData data;
  data.add({{"sunny", 1}, {"humidity", 0.3f}}, "go out");
  data.add({{"sunny", 1}, {"humidity", 0.5f}}, "go out");
  data.add({{"sunny", 1}, {"windy", 1}, {"humidity", 0.2f}}, "go out");
  data.add({{"humidity", 0.4f}}, "go out");
  data.add({{"sunny", 1}, {"windy", 1}, {"humidity", 0.9f}}, "stay in");
  data.add({{"windy", 1}, {"humidity", 0.6f}}, "stay in");
  data.add({{"windy", 1}, {"humidity", 0.8f}}, "stay in");
  data.add({{"humidity", 0.9f}}, "stay in");

  espalier::ClassifyOptions options;
  options.bias = true;
  const auto set = espalier::make_classify_training(data, options);
  const espalier::Model model = espalier::train(*set, {.l2 = 0.1, .gap = 1e-6});
  const espalier::Certificate& certificate = model.certificate();
  fmt::print("objective {:.6f}, and no weights have less than {:.6f}\n", certificate.primal,
             certificate.dual);

  const espalier::Classifier& classifier = model.classifier();
  const double out = classifier.probabilities({{"humidity", 0.1f}})[*classifier.find_label("go out")];
  fmt::print("go out with probability {:.3f}\n", out);

  const bool certified = certificate.gap() >= 0 && certificate.relative_gap() <= 1e-6;
  return certified && out > 0.5 ? 0 : 1;
}
