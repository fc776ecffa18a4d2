#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

// What CRFsuite, CRF++ and Wapiti wrote, beside what this program writes.
namespace espalier::testing {

inline const std::filesystem::path kOracles = std::filesystem::path(ESPALIER_SHARED_DIR) / "oracles";

// The lines of a file or an output, as fields; a blank line has none.
inline std::vector<std::vector<std::string>> fields_of(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    rows.emplace_back();
    std::istringstream fields(line);
    for (std::string field; fields >> field;) rows.back().push_back(field);
  }
  return rows;
}

// "LABEL:0.5" or "LABEL/0.5"
inline std::pair<std::string, double> rated(const std::string& field) {
  const std::size_t at = field.find_last_of(":/");
  return {field.substr(0, at), std::stod(field.substr(at + 1))};
}

// The rows of tokens: neither blank nor headings.
inline std::vector<std::vector<std::string>> tokens_of(const std::string& text) {
  auto rows = fields_of(text);
  std::erase_if(rows, [](const auto& row) {
    return row.empty() || row.front() == "#" || row.front().starts_with('@');
  });
  return rows;
}

// Our marginals and theirs: the last L fields of each token.
inline void expect_same_marginals(const std::string& ours, const std::string& theirs, std::size_t num_labels,
                                  double tolerance = 1e-3) {
  const auto mine = tokens_of(ours), other = tokens_of(theirs);
  ASSERT_EQ(mine.size(), other.size());
  ASSERT_GT(mine.size(), 300u);
  for (std::size_t t = 0; t < mine.size(); ++t) {
    std::map<std::string, double> marginals;
    ASSERT_GT(mine[t].size(), num_labels);
    ASSERT_GT(other[t].size(), num_labels);
    for (std::size_t k = 0; k < num_labels; ++k) marginals.insert(rated(mine[t].rbegin()[k]));
    for (std::size_t k = 0; k < num_labels; ++k) {
      const auto [label, probability] = rated(other[t].rbegin()[k]);
      EXPECT_NEAR(marginals.at(label), probability, tolerance) << "token " << t << ", " << label;
    }
  }
}

// The labels of largest marginal, and these, of Wapiti's "label -p -s": LABEL TAB LABEL/P behind each line.
inline void expect_wapiti_marginals(const std::string& ours, const std::string& theirs,
                                    double tolerance = 1e-3) {
  const auto mine = tokens_of(ours), other = tokens_of(theirs);
  ASSERT_EQ(mine.size(), other.size());
  ASSERT_GT(mine.size(), 100u);
  for (std::size_t t = 0; t < mine.size(); ++t) {
    const auto [label, probability] = rated(other[t].back());
    bool found = false;
    for (const std::string& field : mine[t]) {
      if (!field.starts_with(label + ":")) continue;
      EXPECT_NEAR(rated(field).second, probability, tolerance) << "token " << t;
      found = true;
    }
    EXPECT_TRUE(found) << "token " << t;
  }
}

// The best label sequences, each below "# RANK PROBABILITY".
inline void expect_same_kbest(const std::string& ours, const std::string& theirs, double tolerance) {
  const auto mine = fields_of(ours), other = fields_of(theirs);
  std::size_t heads = 0;
  ASSERT_EQ(mine.size(), other.size());
  for (std::size_t i = 0; i < mine.size(); ++i) {
    if (mine[i].empty() || mine[i].front() != "#") {
      EXPECT_EQ(mine[i], other[i]) << "line " << i + 1;
      continue;
    }
    ASSERT_EQ(mine[i].size(), 3u);
    ASSERT_EQ(other[i].size(), 3u) << "line " << i + 1;
    EXPECT_EQ(mine[i][1], other[i][1]);
    EXPECT_NEAR(std::stod(mine[i][2]), std::stod(other[i][2]), tolerance) << "line " << i + 1;
    ++heads;
  }
  EXPECT_GE(heads, 30u);
}

}  // namespace espalier::testing
