#include "report/document.h"

#include "espalier/version.h"
#include "report/certificate.h"
#include "report/learnt.h"
#include "report/quality.h"

namespace espalier {

Json report_document(const std::string& title, const Model* model, const std::vector<RunEvents>& runs,
                     const std::string& data) {
  Json document{{"version", ESPALIER_VERSION}, {"title", title}};
  if (model != nullptr) document["model"] = model->describe();
  document["certificate"] = certificate_of(model, runs);
  if (model == nullptr) return document;
  if (!data.empty()) document["quality"] = quality_of(*model, data);
  document["learnt"] = learnt_of(*model, data);
  return document;
}

}  // namespace espalier
