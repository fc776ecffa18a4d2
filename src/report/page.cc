#include "report/page.h"

#include <algorithm>

namespace espalier {

namespace web {
extern const std::string_view report;
}

std::string html_text(std::string_view text) {
  std::string html;
  for (const char c : text) {
    switch (c) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '"':
        html += "&quot;";
        break;
      case '\'':
        html += "&#39;";
        break;
      default:
        html += c;
    }
  }
  return html;
}

std::string json_in_html(const Json& json) {
  // These are only in strings, where JSON may write any character by its number.
  const std::string text = json.dump();
  std::string html;
  html.reserve(text.size() + text.size() / 16);
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::string_view rest = std::string_view(text).substr(at, 3);
    if (rest == "\xE2\x80\xA8" || rest == "\xE2\x80\xA9") {  // line and paragraph separators
      html += rest == "\xE2\x80\xA8" ? "\\u2028" : "\\u2029";
      at += 2;
    } else if (rest[0] == '<') {
      html += "\\u003c";
    } else if (rest[0] == '>') {
      html += "\\u003e";
    } else if (rest[0] == '&') {
      html += "\\u0026";
    } else {
      html += rest[0];
    }
  }
  return html;
}

std::string fill_page(std::string_view page, const std::vector<PageValue>& values) {
  std::string result;
  while (true) {
    const std::size_t begin = page.find("{{");
    result += page.substr(0, begin);
    if (begin == std::string_view::npos) return result;
    page.remove_prefix(begin + 2);
    const std::size_t end = page.find("}}");
    const auto value = end == std::string_view::npos
                           ? values.end()
                           : std::ranges::find(values, page.substr(0, end), &PageValue::name);
    if (value == values.end()) {
      result += "{{";  // not ours
    } else {
      result += value->html;
      page.remove_prefix(end + 2);
    }
  }
}

std::string report_page(const Json& document) {
  return fill_page(web::report, {{"title", html_text(document.at("title").get<std::string>())},
                                 {"document", json_in_html(document)}});
}

}  // namespace espalier
