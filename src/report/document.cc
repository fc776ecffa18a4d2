#include "report/document.h"

#include "espalier/version.h"
#include "report/certificate.h"

namespace espalier {

Json report_document(const std::string& title, const Model* model, const std::vector<RunEvents>& runs) {
  Json document{{"version", ESPALIER_VERSION}, {"title", title}};
  if (model != nullptr) document["model"] = model->describe();
  document["certificate"] = certificate_of(model, runs);
  return document;
}

}  // namespace espalier
