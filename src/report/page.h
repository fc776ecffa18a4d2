#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "espalier/base/json.h"

namespace espalier {

// Text as it may stand in HTML, between tags and in attributes that are in quotes.
std::string html_text(std::string_view text);
// JSON as it may stand in a <script> of a page: nothing in it looks like the end of one, or like a tag.
std::string json_in_html(const Json& json);

// A page of web/ (cmake/embed.cmake) with each {{NAME}} of `values` in its place. What is put in is not
// looked at again.
struct PageValue {
  std::string_view name;
  std::string html;
};
std::string fill_page(std::string_view page, const std::vector<PageValue>& values);

// The page that shows a report (report/document.h): one file that needs nothing else, and whose
// Content-Security-Policy forbids to ask for it.
std::string report_page(const Json& document);

}  // namespace espalier
