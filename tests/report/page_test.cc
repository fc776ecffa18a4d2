// Whatever is in a document, the page has it as data and nothing else.

#include "report/page.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

namespace espalier::page_test {
namespace {

const std::vector<std::string> kHostile{"<script>alert(1)</script>",
                                        "\"><img src=x onerror=alert(1)>",
                                        "</script><script>alert(1)</script>",
                                        "<!--",
                                        "]]>",
                                        "&lt;b&gt;",
                                        "'; alert(1); '",
                                        "a\xE2\x80\xA8"
                                        "b\xE2\x80\xA9"
                                        "c",
                                        "{{document}} {{title}} {{",
                                        "\xFF\xFE",
                                        "javascript:alert(1)"};

Json document_with(const std::string& text) {
  return {{"version", "1"}, {"title", text}, {"names", Json::array({text, "plain"})}};
}

// What is between two texts, the first time.
std::string between(const std::string& page, const std::string& begin, const std::string& end) {
  const std::size_t from = page.find(begin);
  EXPECT_NE(from, std::string::npos) << begin;
  const std::size_t to = page.find(end, from + begin.size());
  EXPECT_NE(to, std::string::npos) << end;
  return page.substr(from + begin.size(), to - from - begin.size());
}

const char* const kData = "<script type=\"application/json\" id=\"document\">";

TEST(ReportPage, DataIsDataWhateverItSays) {
  const std::string harmless = report_page(document_with("plain"));
  const auto count = [](const std::string& text, const std::string& what) {
    std::size_t number = 0;
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += what.size()) ++number;
    return number;
  };
  for (const std::string& text : kHostile) {
    const Json document = document_with(text);
    const std::string page = report_page(document);
    const std::string data = between(page, kData, "</script>");
    EXPECT_EQ(data.find_first_of("<>&"), std::string::npos) << text;
    EXPECT_EQ(data.find("\xE2\x80\xA8"), std::string::npos) << text;
    EXPECT_EQ(data.find("\xE2\x80\xA9"), std::string::npos) << text;
    EXPECT_EQ(Json::parse(data), Json::parse(document.dump())) << text;
    // Nothing is a tag that is none in a page of plain text.
    for (const char* tag : {"<script", "</script", "<img", "<!--"})
      EXPECT_EQ(count(page, tag), count(harmless, tag)) << text;
    const std::string title = between(page, "<title>", "</title>");
    EXPECT_EQ(title, html_text(text));
    EXPECT_EQ(title.find_first_of("<>\"'"), std::string::npos) << text;
  }
}

RC_GTEST_PROP(ReportPage, JsonInAPageIsTheSameJson, (const std::vector<std::string>& texts)) {
  const Json json(texts);
  const std::string html = json_in_html(json);
  RC_ASSERT(html.find_first_of("<>&") == std::string::npos);
  RC_ASSERT(Json::parse(html) == Json::parse(json.dump()));
}

TEST(ReportPage, ValuesAreNotLookedAtAgain) {
  EXPECT_EQ(fill_page("a {{x}} b {{y}} {{z}} {{", {{"x", "{{y}}"}, {"y", "<i>"}}), "a {{y}} b <i> {{z}} {{");
}

TEST(ReportPage, AsksForNothing) {
  const std::string page = report_page(document_with("plain"));
  EXPECT_EQ(page.rfind("<!doctype html>", 0), 0u);
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
  EXPECT_EQ(page.find("unsafe-"), std::string::npos);
  EXPECT_EQ(page.find("{{sha256"), std::string::npos);
  EXPECT_EQ(page.find("/* include"), std::string::npos);
  EXPECT_EQ(page.find("innerHTML"), std::string::npos);
  EXPECT_EQ(page.find("eval("), std::string::npos);
  // No address but the names of XML's languages.
  std::string rest = page;
  for (const std::string known : {"http://www.w3.org/2000/svg"}) {
    for (std::size_t at; (at = rest.find(known)) != std::string::npos;) rest.erase(at, known.size());
  }
  EXPECT_EQ(rest.find("http:"), std::string::npos);
  EXPECT_EQ(rest.find("https:"), std::string::npos);
  EXPECT_LT(page.size(), 120000u);  // without any data
}

}  // namespace
}  // namespace espalier::page_test
