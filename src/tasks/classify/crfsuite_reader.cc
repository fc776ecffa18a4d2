#include "base/input.h"
#include "tasks/classify/builder.h"
#include "tasks/crfsuite_attributes.h"

namespace espalier {
namespace {

class CrfsuiteLines final : public ClassifyLines {
 public:
  CrfsuiteLines(const ClassifyReadOptions& options, ClassifyBuilder& builder)
      : options_(options), builder_(builder) {}

  void read(LineReader& lines) override {
    for (std::string_view line; !builder_.full() && lines.next(line);) {
      if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
      item_.parse(line, lines.name(), lines.line_number());
      if (item_.label.empty() && options_.labels_required) {
        lines.fail("no label before the first TAB", "expected 'label TAB attribute TAB attribute:value ...'");
      }
      for (const auto& attribute : item_.attributes)
        builder_.add(builder_.attribute(attribute.name), attribute.value);
      builder_.finish_example(item_.label.empty() ? std::nullopt : std::optional(item_.label));
    }
  }

 private:
  const ClassifyReadOptions& options_;
  ClassifyBuilder& builder_;
  CrfsuiteItem item_;
};

}  // namespace

std::unique_ptr<ClassifyLines> make_crfsuite_lines(const ClassifyReadOptions& options,
                                                   ClassifyBuilder& builder) {
  return std::make_unique<CrfsuiteLines>(options, builder);
}

}  // namespace espalier
