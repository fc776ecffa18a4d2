#include "base/input.h"
#include "tasks/classify/builder.h"
#include "tasks/crfsuite_attributes.h"

namespace espalier {

void read_crfsuite(const std::string& path, const ClassifyReadOptions& options, ClassifyBuilder& builder) {
  LineReader reader(path);
  CrfsuiteItem item;
  for (std::string_view line; !builder.full() && reader.next(line);) {
    if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
    item.parse(line, reader.name(), reader.line_number());
    if (item.label.empty() && options.labels_required) {
      reader.fail("no label before the first TAB", "expected 'label TAB attribute TAB attribute:value ...'");
    }
    for (const auto& attribute : item.attributes)
      builder.add(builder.attribute(attribute.name), attribute.value);
    builder.finish_example(item.label.empty() ? std::nullopt : std::optional(item.label));
  }
}

}  // namespace espalier
