#include "cli/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <string_view>

namespace espalier::cli {
namespace {

// After Okabe and Ito, whose colours most colour-blind readers can tell apart; darker where text would be
// pale.
constexpr std::string_view kColours[] = {"#0072b2", "#d55e00", "#009e73", "#b0559a", "#c98500", "#222222"};
// Further lines have the colours again, with dashes.
constexpr std::string_view kDashes[] = {"", "7 3", "2 3", "9 3 2 3"};

constexpr double kWidth = 400, kHeight = 270;                         // of a panel's plotting area
constexpr double kLeft = 78, kRight = 118, kAbove = 34, kBelow = 52;  // around it
constexpr double kTitle = 40;                                         // above all panels
constexpr double kTextLine = 14;                                      // between two lines of text

// Text as XML may have it: markup is escaped, control characters and bytes that are no UTF-8 become question
// marks.
std::string escaped(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = [&](std::size_t at) {
      return at < text.size() ? static_cast<unsigned char>(text[at]) : 0u;
    };
    const unsigned first = byte(i);
    const std::size_t length = first < 0x80   ? 1
                               : first < 0xC2 ? 0
                               : first < 0xE0 ? 2
                               : first < 0xF0 ? 3
                               : first < 0xF5 ? 4
                                              : 0;
    bool valid = length > 0 && first >= 0x20 && first != 0x7F;
    for (std::size_t k = 1; k < length; ++k) valid = valid && (byte(i + k) & 0xC0) == 0x80;
    // Longer than need be, half of a surrogate pair, beyond Unicode, or one of the two that XML forbids.
    const unsigned second = byte(i + 1);
    if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ||
        (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F) ||
        (first == 0xEF && second == 0xBF && byte(i + 2) >= 0xBE)) {
      valid = false;
    }
    const std::string_view character = text.substr(i, valid ? length : 1);
    if (!valid) {
      result += '?';
    } else if (character == "&") {
      result += "&amp;";
    } else if (character == "<") {
      result += "&lt;";
    } else if (character == ">") {
      result += "&gt;";
    } else {
      result += character;
    }
    i += character.size();
  }
  return result;
}

// Maps values to pixels from `first` to `last`.
class Axis {
 public:
  // Shows all of the values that it has a place for.
  Axis(const std::vector<double>& values, bool logarithmic, double first, double last)
      : logarithmic_(logarithmic), first_(first), last_(last) {
    bool any = false;
    for (const double value : values) {
      if (!shows(value)) continue;
      low_ = any ? std::min(low_, value) : value;
      high_ = any ? std::max(high_, value) : value;
      any = true;
    }
    // Room enough for a few ticks.
    if (logarithmic_ && high_ < 5 * low_) {
      const double middle = std::sqrt(low_ * high_);
      low_ = middle / 3;
      high_ = middle * 3;
    } else if (low_ == high_) {
      low_ -= 1;
      high_ += 1;
    }
  }

  bool shows(double value) const { return std::isfinite(value) && (value > 0 || !logarithmic_); }

  double pixel(double value) const {
    const double share =
        logarithmic_ ? std::log(value / low_) / std::log(high_ / low_) : (value - low_) / (high_ - low_);
    return first_ + share * (last_ - first_);
  }

  std::vector<double> ticks() const {
    std::vector<double> all;
    const auto add = [&](double value) {
      const double slack = 1e-9 * (logarithmic_ ? value : high_ - low_);
      if (value >= low_ - slack && value <= high_ + slack) all.push_back(value);
    };
    if (!logarithmic_) {
      const double rough = (high_ - low_) / 5, power = std::pow(10, std::floor(std::log10(rough)));
      const double step = power * (rough <= power ? 1 : rough <= 2 * power ? 2 : rough <= 5 * power ? 5 : 10);
      for (double k = std::ceil(low_ / step - 1e-9); k <= high_ / step + 1e-9; ++k)
        add(k * step + 0.0);  // no -0
      return all;
    }
    const int begin = static_cast<int>(std::floor(std::log10(low_))),
              end = static_cast<int>(std::ceil(std::log10(high_)));
    const int skip = std::max(1, (end - begin + 6) / 7);
    for (int decade = begin; decade <= end; decade += skip) add(std::pow(10, decade));
    if (all.size() >= 3) return all;
    all.clear();
    for (int decade = begin; decade <= end; ++decade) {
      for (const double digit : {1, 2, 5}) add(digit * std::pow(10, decade));
    }
    return all;
  }

 private:
  bool logarithmic_;
  double first_, last_, low_ = 1, high_ = 1;
};

// 0.1, 25, 1e-5
std::string number(double value) {
  if (value == 0 || (std::abs(value) >= 1e-3 && std::abs(value) < 1e6)) return fmt::format("{:.6g}", value);
  const double power = std::floor(std::log10(std::abs(value)) + 1e-9);
  return fmt::format("{:.3g}e{}", value / std::pow(10, power), power);
}

std::string text(double x, double y, std::string_view words, std::string_view more) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, more, escaped(words));
}

// Moves positions apart until lines of text at them do not overlap, and keeps their order. Where there is no
// room for that between `low` and `high`, they are as far apart as there is.
std::vector<double> spread(const std::vector<double>& positions, double low, double high) {
  std::vector<std::size_t> order(positions.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return positions[i]; });
  const double apart = positions.size() < 2
                           ? 0
                           : std::min(kTextLine, (high - low) / static_cast<double>(positions.size() - 1));
  std::vector<double> placed(positions.size());
  double floor = low, ceiling = high;
  for (const std::size_t i : order) {
    placed[i] = std::max(positions[i], floor);
    floor = placed[i] + apart;
  }
  for (auto i = order.rbegin(); i != order.rend(); ++i) {
    placed[*i] = std::min(placed[*i], ceiling);
    ceiling = placed[*i] - apart;
  }
  return placed;
}

std::string stroke(std::size_t line) {
  const std::string_view colour = kColours[line % std::size(kColours)],
                         dashes = kDashes[line / std::size(kColours) % std::size(kDashes)];
  return fmt::format("stroke=\"{}\"{}", colour,
                     dashes.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", dashes));
}

// Whether a linear axis would press most values into a corner.
bool spans_decades(const std::vector<double>& values) {
  double low = 0, high = 0;
  for (const double value : values) {
    if (!std::isfinite(value) || value <= 0) continue;
    low = low == 0 ? value : std::min(low, value);
    high = std::max(high, value);
  }
  return high > 20 * low;
}

struct LineEnd {
  std::size_t line;
  double x, y;
};

std::string draw_panel(const ChartPanel& panel, double left, double top) {
  const double right = left + kWidth, bottom = top + kHeight;
  std::vector<double> all_x, all_y;
  for (const ChartLine& line : panel.lines) {
    all_x.insert(all_x.end(), line.xs.begin(), line.xs.end());
    all_y.insert(all_y.end(), line.ys.begin(), line.ys.end());
  }
  const Axis x(all_x, spans_decades(all_x), left, right), y(all_y, true, bottom, top);

  const std::string centred = "text-anchor=\"middle\"";
  std::string out =
      text(left + kWidth / 2, top - 12, panel.title, centred + " font-size=\"13\" font-weight=\"bold\"");
  out += text(left + kWidth / 2, bottom + 38, panel.x_title, centred);
  out +=
      text(left - 56, top + kHeight / 2, panel.y_title,
           fmt::format("{} transform=\"rotate(-90 {:.1f} {:.1f})\"", centred, left - 56, top + kHeight / 2));
  const auto grid = [](double x1, double y1, double x2, double y2) {
    return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#e4e4e4\"/>\n",
                       x1, y1, x2, y2);
  };
  for (const double value : x.ticks()) {
    const double at = x.pixel(value);
    out += grid(at, top, at, bottom) + text(at, bottom + 18, number(value), centred + " font-size=\"11\"");
  }
  for (const double value : y.ticks()) {
    const double at = y.pixel(value);
    out += grid(left, at, right, at) +
           text(left - 7, at + 4, number(value), "text-anchor=\"end\" font-size=\"11\"");
  }
  out += fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#888888\"/>\n", left,
      top, kWidth, kHeight);

  std::vector<LineEnd> ends;
  std::vector<double> heights;
  for (std::size_t l = 0; l < panel.lines.size(); ++l) {
    const ChartLine& line = panel.lines[l];
    std::string points;
    LineEnd end{l, 0, 0};
    for (std::size_t i = 0; i < line.xs.size(); ++i) {
      if (!x.shows(line.xs[i]) || !y.shows(line.ys[i])) continue;
      end.x = x.pixel(line.xs[i]);
      end.y = y.pixel(line.ys[i]);
      points += fmt::format("{}{:.1f},{:.1f}", points.empty() ? "" : " ", end.x, end.y);
    }
    if (points.empty()) continue;
    out += fmt::format(
        "<polyline points=\"{}\" fill=\"none\" {} stroke-width=\"1.8\" stroke-linejoin=\"round\"/>\n", points,
        stroke(l));
    ends.push_back(end);
    heights.push_back(end.y);
  }
  const std::vector<double> places = spread(heights, top + 4, bottom - 2);
  for (std::size_t e = 0; e < ends.size(); ++e) {
    const LineEnd& end = ends[e];
    const std::string_view colour = kColours[end.line % std::size(kColours)];
    out += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.6\" fill=\"{}\"/>\n", end.x, end.y, colour);
    out += fmt::format(
        "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" stroke-dasharray=\"1 "
        "3\" "
        "opacity=\"0.45\"/>\n",
        end.x, end.y, right + 7, places[e], colour);
    out += fmt::format(
        "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {} stroke-width=\"1.8\"/>\n",
        right + 8, places[e], right + 24, places[e], stroke(end.line));
    out += text(right + 28, places[e] + 4, panel.lines[end.line].name,
                fmt::format("font-size=\"11\" fill=\"{}\"", colour));
  }
  return out;
}

}  // namespace

std::string draw_chart(const std::string& title, const std::vector<ChartPanel>& panels) {
  const double panel_width = kLeft + kWidth + kRight, height = kTitle + kAbove + kHeight + kBelow;
  const double width = panel_width * static_cast<double>(panels.size());
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" fill=\"#222222\">\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n",
      width, height);
  out += text(24, 28, title, "font-size=\"16\" font-weight=\"bold\"");
  for (std::size_t p = 0; p < panels.size(); ++p) {
    out += draw_panel(panels[p], panel_width * static_cast<double>(p) + kLeft, kTitle + kAbove);
  }
  return out + "</svg>\n";
}

}  // namespace espalier::cli
