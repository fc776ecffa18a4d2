#pragma once

#include <string>
#include <vector>

namespace espalier::cli {

// A line of a chart. Its place in the panel gives its colour and dashes, so the same order gives the same
// look in each panel.
struct ChartLine {
  std::string name;
  std::vector<double> xs, ys;
};

// The y axis is logarithmic; the x axis is where values differ by much.
struct ChartPanel {
  std::string title, x_title, y_title;
  std::vector<ChartLine> lines;
};

// Panels side by side as an SVG file, the name of each line at its end. Points that a logarithmic axis has no
// place for are left out; a line may be without any.
std::string draw_chart(const std::string& title, const std::vector<ChartPanel>& panels);

}  // namespace espalier::cli
