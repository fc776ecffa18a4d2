"use strict";
// Charts as SVG, and tables, for reports. Text from data becomes text of the document and nothing else: elements are made one by one,
// never from markup.
//
//   charts.line(parent, {title, description, x, y, series, marks})     lines with points; series: [{name, points: [[x, y, deviation]]}]
//   charts.scatter(parent, {title, description, x, y, points, diagonal})      points: [{x, y, name, size}]
//   charts.bars(parent, {title, description, bars, unit, onClick})        lying bars: [{name, value, note}]
//   charts.histogram(parent, {title, description, x, y, edges, counts})
//   charts.heatmap(parent, {title, description, rows, columns, values, shades, rowTitle, columnTitle, onClick, written})
//                                                       shades: else values; written: counts are in their cells, where there is room
//   charts.table(parent, {caption, columns, rows})                        columns: [{name, numeric, format, wide}]
//
// x and y are {title, scale: "linear" or "log", min, max, format}. On a log axis there is no place for what is not above 0. Every mark
// has its data in data-* attributes, a tooltip that also the arrow keys reach, and is in the table of numbers below its chart.
const charts = (() => {
  const kSvg = "http://www.w3.org/2000/svg";
  const kLetter = 6.3;  // the width of most letters at the size of the charts' text
  const kColours = 8;
  const kTop = 14;  // where axes end: room for half of the largest mark
  const kDashes = ["", "7 3", "2 3", "9 3 2 3"];
  let made = 0;  // charts, whose parts need ids

  const fill = (node, attributes, children) => {
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value !== undefined && value !== null && value !== false) node.setAttribute(name, value === true ? "" : value);
    }
    node.append(...children.filter((child) => child !== null && child !== undefined));
    return node;
  };
  const element = (name, attributes, ...children) => fill(document.createElement(name), attributes, children);
  const shape = (name, attributes, ...children) => fill(document.createElementNS(kSvg, name), attributes, children);

  // Numbers for people: four digits, groups of thousands.
  const number = (value, digits = 4) => {
    if (value === null || value === undefined || !Number.isFinite(value)) return "–";
    const size = Math.abs(value);
    if (Number.isInteger(value) && size < 1e9) return value.toLocaleString("en-GB").replace(/^-/, "−");
    if (size >= 1e7 || size < 1e-3) {
      return value.toExponential(Math.max(0, digits - 2)).replace(/\.?0*e\+?/, "e").replace(/-/g, "−");
    }
    return Number(value.toPrecision(digits)).toLocaleString("en-GB", {maximumSignificantDigits: digits}).replace(/^-/, "−");
  };
  const percent = (value) => Number.isFinite(value) ? `${number(100 * value, 4)} %` : "–";
  // As columns want it: with two digits behind the point.
  const share = (value) => Number.isFinite(value) ? `${(100 * value).toFixed(2).replace(/^-0.00$/, "0.00").replace("-", "−")} %` : "–";
  const cut = (text, letters) => text.length > letters ? `${text.slice(0, letters - 1)}…` : text;

  const niceStep = (span, count) => {
    const rough = span / count, power = 10 ** Math.floor(Math.log10(rough));
    return power * [1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999);
  };
  // From values to places, with ticks: [value, label].
  const makeScale = (axis, values, from, to) => {
    const log = axis.scale === "log", format = axis.format || number;
    let low = axis.min ?? Math.min(...values), high = axis.max ?? Math.max(...values);
    if (!(low <= high)) [low, high] = log ? [1, 10] : [0, 1];
    const ticks = [];
    if (log) {
      if (high / low < 1.0001) [low, high] = [low / 2, high * 2];
      const margin = (high / low) ** 0.04;  // so that no mark is on the edge
      if (axis.min === undefined) low /= margin;
      if (axis.max === undefined) high *= margin;
      const a = Math.log10(low), b = Math.log10(high);
      const every = Math.max(1, Math.ceil((b - a) / Math.max(2, Math.abs(to - from) / 55)));
      for (let power = Math.ceil(a - 1e-9); power <= b + 1e-9; power += every) ticks.push(10 ** power);
      if (ticks.length < 3) {
        ticks.length = 0;
        for (let power = Math.floor(a); power <= b; ++power) {
          for (const factor of [1, 2, 5]) {
            const tick = factor * 10 ** power;
            if (tick >= low * 0.999 && tick <= high * 1.001) ticks.push(tick);
          }
        }
      }
      if (ticks.length < 3) {
        ticks.length = 0;
        const step = niceStep(high - low, 4);
        for (let tick = Math.ceil(low / step) * step; tick <= high * 1.000001; tick += step) ticks.push(tick);
      }
      const place = (value) => from + (Math.log10(value) - a) / (b - a) * (to - from);
      return {place, ticks: ticks.map((tick) => [tick, format(Number(tick.toPrecision(12)))]), fits: (value) => value > 0};
    }
    if (high === low) [low, high] = [low - (Math.abs(low) || 1) / 2, high + (Math.abs(high) || 1) / 2];
    const step = niceStep(high - low, Math.max(2, Math.abs(to - from) / 60));
    if (axis.min === undefined) low = Math.floor(low / step + 1e-9) * step;
    if (axis.max === undefined) high = Math.ceil(high / step - 1e-9) * step;
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; ++k) ticks.push(k * step);
    const place = (value) => from + (value - low) / (high - low) * (to - from);
    return {place, ticks: ticks.map((tick) => [tick, format(Number(tick.toPrecision(12)))]), fits: Number.isFinite};
  };

  // One for the page.
  let tooltip = null;
  const hideTooltip = () => { if (tooltip) tooltip.hidden = true; };
  const showTooltip = (text, box) => {
    if (!tooltip) {
      tooltip = element("div", {class: "tooltip", role: "status", "aria-live": "polite"});
      document.body.append(tooltip);
    }
    tooltip.textContent = text;
    tooltip.hidden = false;
    const size = tooltip.getBoundingClientRect(), gap = 10;
    const left = Math.min(Math.max(4, (box.left + box.right) / 2 - size.width / 2), window.innerWidth - size.width - 4);
    const above = box.top - size.height - gap;
    tooltip.style.left = `${Math.max(4, left)}px`;
    tooltip.style.top = `${above > 4 ? above : box.bottom + gap}px`;
  };
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hideTooltip(); });
  document.addEventListener("scroll", hideTooltip, {passive: true, capture: true});

  // Tooltips by pointer and by keyboard. A mark is {node, text, click}; with `nearest` the pointer need not hit it.
  const interact = (svg, marks, nearest) => {
    let active = -1;
    const choose = (index) => {
      if (active >= 0 && marks[active]) marks[active].node.classList.remove("active");
      active = index;
      if (active < 0) return hideTooltip();
      marks[active].node.classList.add("active");
      showTooltip(marks[active].text, marks[active].node.getBoundingClientRect());
    };
    const of = new Map(marks.map((mark, index) => [mark.node, index]));
    const under = (event) => {
      if (of.has(event.target)) return of.get(event.target);
      if (!nearest) return -1;
      let best = -1, least = 30 ** 2;
      marks.forEach((mark, index) => {
        const box = mark.node.getBoundingClientRect();
        const x = (box.left + box.right) / 2 - event.clientX, y = (box.top + box.bottom) / 2 - event.clientY;
        if (x * x + y * y < least) [best, least] = [index, x * x + y * y];
      });
      return best;
    };
    svg.addEventListener("pointermove", (event) => { const now = under(event); if (now !== active) choose(now); });
    svg.addEventListener("pointerdown", (event) => choose(under(event)));
    svg.addEventListener("pointerleave", () => choose(-1));
    svg.addEventListener("click", (event) => { const now = under(event); if (now >= 0 && marks[now].click) marks[now].click(); });
    svg.addEventListener("blur", () => choose(-1));
    svg.addEventListener("keydown", (event) => {
      const steps = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1};
      if (event.key in steps && marks.length > 0) {
        const next = active + steps[event.key];
        choose(active < 0 ? 0 : Math.min(Math.max(next, 0), marks.length - 1));
      } else if (event.key === "Home") {
        choose(0);
      } else if (event.key === "End") {
        choose(marks.length - 1);
      } else if (event.key === "Enter" && active >= 0 && marks[active].click) {
        marks[active].click();
      } else if (event.key !== "Escape" || active < 0) {
        return;
      } else {
        choose(-1);
      }
      event.preventDefault();
    });
  };

  // A chart around `draw(svg, width)`, which returns {height, width, marks, nearest}; drawn anew where the room changes.
  const figure = (parent, options, draw, numbers) => {
    const id = `chart-${++made}`;
    const drawing = element("div", {class: "drawing"});
    const description = options.description ? element("p", {class: "faint", id: `${id}-text`}, options.description) : null;
    const node = element("figure", {class: "chart", id, "data-chart": options.kind},
                         element("figcaption", {}, options.title, description), drawing);
    parent.append(node);
    let width = 0;
    const redraw = () => {
      const room = Math.max(240, Math.floor(drawing.clientWidth || 640));
      if (room === width) return;
      width = room;
      const svg = shape("svg", {role: "img", tabindex: 0, "aria-label": options.title});
      if (options.description) svg.append(shape("desc", {}, options.description));
      const result = draw(svg, width);
      const wide = result.width || width;
      for (const [name, value] of [["width", wide], ["height", result.height], ["viewBox", `0 0 ${wide} ${result.height}`]])
        svg.setAttribute(name, value);
      interact(svg, result.marks, result.nearest);
      drawing.replaceChildren(svg);
    };
    redraw();
    new ResizeObserver(() => { if (drawing.clientWidth > 0) redraw(); }).observe(drawing);
    const details = element("details", {}, element("summary", {}, "Numbers"));
    details.addEventListener("toggle", () => {
      if (details.open && details.children.length === 1) table(details, {caption: options.title, ...numbers()});
    });
    node.append(details);
    return node;
  };

  // Axes with their grid. Returns the scales.
  const axes = (svg, width, height, x, y, xValues, yValues) => {
    const probe = makeScale(y, yValues, height - 40, kTop);
    const left = 26 + kLetter * Math.max(2, ...probe.ticks.map(([, label]) => label.length));
    const bottom = height - 42, right = width - 14;
    const across = makeScale(x, xValues, left, right), up = makeScale(y, yValues, bottom, kTop);
    for (const [tick, label] of up.ticks) {
      const at = up.place(tick);
      svg.append(shape("line", {class: "grid-line", x1: left, x2: right, y1: at, y2: at}),
                 shape("text", {class: "tick", x: left - 6, y: at + 4, "text-anchor": "end"}, label));
    }
    let free = -Infinity;
    for (const [tick, label] of across.ticks) {
      const at = across.place(tick), half = label.length * kLetter / 2;
      svg.append(shape("line", {class: "grid-line", x1: at, x2: at, y1: kTop, y2: bottom}));
      if (at - half < free || at + half > width) continue;
      free = at + half + 6;
      svg.append(shape("text", {class: "tick", x: at, y: bottom + 16, "text-anchor": "middle"}, label));
    }
    svg.append(shape("line", {class: "axis", x1: left, x2: right, y1: bottom, y2: bottom}),
               shape("line", {class: "axis", x1: left, x2: left, y1: kTop, y2: bottom}),
               shape("text", {class: "axis-title", x: (left + right) / 2, y: height - 8, "text-anchor": "middle"}, x.title || ""),
               shape("text", {class: "axis-title", transform: `translate(11 ${(bottom + kTop) / 2}) rotate(-90)`, "text-anchor": "middle"},
                     y.title || ""));
    return {across, up, left, right, bottom};
  };

  const legend = (node, names) => {
    if (names.length < 2) return;
    const list = element("ul", {class: "legend"});
    names.forEach((name, index) => {
      const swatch = shape("svg", {width: 24, height: 10, "aria-hidden": "true"},
                           shape("line", {class: `curve s${index % kColours}`, x1: 0, x2: 24, y1: 5, y2: 5,
                                          "stroke-dasharray": kDashes[index % kDashes.length]}));
      list.append(element("li", {}, swatch, name));
    });
    node.insertBefore(list, node.querySelector("details"));
  };

  const line = (parent, options) => {
    const {x, y, series, marks: rules = []} = options;
    const fits = (value, axis) => Number.isFinite(value) && (axis.scale !== "log" || value > 0);
    const shown = series.map((one) => one.points.filter(([a, b]) => fits(a, x) && fits(b, y)));
    const draw = (svg, width) => {
      const height = options.height || 270, all = shown.flat();
      const extremes = all.flatMap(([, b, deviation]) => deviation && y.scale !== "log" ? [b - deviation, b + deviation] : [b]);
      const {across, up, bottom} = axes(svg, width, height, x, y, [...all.map(([a]) => a), ...rules.map((rule) => rule.x)], extremes);
      for (const rule of rules) {
        const at = across.place(rule.x);
        svg.append(shape("line", {class: "rule", x1: at, x2: at, y1: kTop, y2: bottom, "data-x": rule.x}),
                   shape("text", {x: at + (at > width * 0.7 ? -5 : 5), y: 24, "text-anchor": at > width * 0.7 ? "end" : "start"},
                         rule.label));
      }
      const marks = [];
      shown.forEach((points, index) => {
        const path = points.map(([a, b], k) => `${k ? "L" : "M"}${across.place(a).toFixed(1)} ${up.place(b).toFixed(1)}`).join("");
        const dashes = kDashes[index % kDashes.length], colour = index % kColours;
        if (!series[index].loose) {
          svg.append(shape("path", {class: `curve s${colour}`, d: path || "M0 0", "stroke-dasharray": dashes, "data-name": series[index].name}));
        }
        for (const [a, b, deviation] of points) {
          if (deviation) {
            svg.append(shape("line", {class: `whisker s${colour}`, x1: across.place(a), x2: across.place(a),
                                      y1: up.place(b - deviation), y2: up.place(b + deviation), "data-deviation": deviation}));
          }
          const node = shape("circle", {class: `mark f${colour}`, cx: across.place(a).toFixed(1), cy: up.place(b).toFixed(1),
                                        r: points.length > 60 ? 2 : 3.2, "data-name": series[index].name, "data-x": a, "data-y": b});
          svg.append(node);
          const lines = [series.length > 1 ? series[index].name : "", `${x.title}: ${(x.format || number)(a)}`,
                         `${y.title}: ${(y.format || number)(b)}${deviation ? ` ± ${number(deviation)}` : ""}`];
          marks.push({node, text: lines.filter(Boolean).join("\n")});
        }
      });
      return {height, marks, nearest: true};
    };
    const node = figure(parent, {...options, kind: "line"}, draw, () => ({
      columns: [{name: "line"}, {name: x.title, numeric: true}, {name: y.title, numeric: true}],
      rows: series.flatMap((one) => one.points.map(([a, b]) => [one.name, a, b]))}));
    legend(node, series.map((one) => one.name));
    return node;
  };

  const scatter = (parent, options) => {
    const {x, y, points, diagonal} = options;
    const draw = (svg, width) => {
      const height = options.height || Math.min(width, 340);
      const {across, up, left, right} = axes(svg, width, height, x, y, points.map((p) => p.x), points.map((p) => p.y));
      if (diagonal) {
        const low = Math.max(x.min ?? 0, y.min ?? 0), high = Math.min(x.max ?? 1, y.max ?? 1);
        svg.append(shape("line", {class: "diagonal", x1: across.place(low), y1: up.place(low), x2: across.place(high), y2: up.place(high)}));
      }
      const largest = Math.max(1, ...points.map((p) => p.size || 0));
      const marks = points.map((p) => {
        const node = shape("circle", {class: "mark f0", cx: across.place(p.x), cy: up.place(p.y), "fill-opacity": 0.75,
                                      r: p.size === undefined ? 4 : 3 + 8 * Math.sqrt(p.size / largest),
                                      "data-x": p.x, "data-y": p.y, "data-size": p.size, "data-name": p.name});
        svg.append(node);
        const lines = [p.name, `${x.title}: ${(x.format || number)(p.x)}`, `${y.title}: ${(y.format || number)(p.y)}`,
                       p.size === undefined ? "" : `${options.sizeTitle || "number"}: ${number(p.size)}`];
        return {node, text: lines.filter(Boolean).join("\n")};
      });
      return {height, marks, nearest: true, left, right};
    };
    return figure(parent, {...options, kind: "scatter"}, draw, () => ({
      columns: [{name: "name"}, {name: x.title, numeric: true}, {name: y.title, numeric: true}, {name: options.sizeTitle || "number", numeric: true}],
      rows: points.map((p) => [p.name || "", p.x, p.y, p.size ?? null])}));
  };

  const bars = (parent, options) => {
    const format = options.format || number, all = options.bars;
    const draw = (svg, width) => {
      const row = 21, values = all.map((bar) => bar.value);
      const letters = Math.min(Math.floor(width * 0.4 / kLetter), Math.max(1, ...all.map((bar) => bar.name.length)));
      const room = kLetter * Math.max(3, ...all.map((bar) => format(bar.value).length)) + 10;
      const left = letters * kLetter + 16, mirrored = values.every((value) => value <= 0), negative = !mirrored && values.some((value) => value < 0);
      const largest = Math.max(1e-300, ...values.map(Math.abs));
      const zero = negative ? left + room + (width - left - 2 * room) / 2 : left;
      const scale = (negative ? (width - left - 2 * room) / 2 : width - left - room) / largest;
      const marks = all.map((bar, k) => {
        const y = 4 + k * row, length = Math.max(1, Math.abs(bar.value) * scale), towards = bar.value < 0 && !mirrored, start = towards ? zero - length : zero;
        const node = shape("rect", {class: `mark ${bar.value < 0 ? "f1" : "f0"}${options.onClick ? " clickable" : ""}`, x: start, y, width: length, height: row - 5,
                                    "data-name": bar.name, "data-value": bar.value});
        svg.append(shape("text", {x: left - 6, y: y + 12, "text-anchor": "end"}, cut(bar.name, letters)), node,
                   shape("text", {class: "value", x: towards ? start - 5 : start + length + 5, y: y + 12,
                                  "text-anchor": towards ? "end" : "start"}, format(bar.value)));
        return {node, text: [`${bar.name}: ${format(bar.value)}${options.unit ? ` ${options.unit}` : ""}`, bar.note].filter(Boolean).join("\n"),
                click: options.onClick && (() => options.onClick(k))};
      });
      svg.append(shape("line", {class: "axis", x1: zero, x2: zero, y1: 0, y2: 4 + all.length * row}));
      return {height: 8 + all.length * row, marks};
    };
    return figure(parent, {...options, kind: "bars"}, draw, () => ({
      columns: [{name: options.nameTitle || "name"}, {name: options.unit || "value", numeric: true}],
      rows: all.map((bar) => [bar.name, bar.value])}));
  };

  const histogram = (parent, options) => {
    const {edges, counts} = options, x = options.x, y = {title: "number", ...options.y};
    const draw = (svg, width) => {
      const height = options.height || 250, log = y.scale === "log";
      const axis = {...y, min: log ? 0.7 : 0};
      const {across, up, bottom} = axes(svg, width, height, {...x, min: edges[0], max: edges[edges.length - 1]}, axis, edges,
                                        counts.filter((count) => count > 0 || !log));
      const marks = [];
      counts.forEach((count, k) => {
        const a = across.place(edges[k]), b = across.place(edges[k + 1]);
        const top = count > 0 ? up.place(count) : bottom;
        const node = shape("rect", {class: "mark f0", x: a + 0.5, width: Math.max(0.5, b - a - 1), y: top, height: Math.max(0, bottom - top),
                                    "data-from": edges[k], "data-to": edges[k + 1], "data-count": count});
        svg.append(node);
        marks.push({node, text: `${number(edges[k], 3)} to ${number(edges[k + 1], 3)}\n${y.title}: ${number(count)}`});
      });
      return {height, marks};
    };
    return figure(parent, {...options, kind: "histogram"}, draw, () => ({
      columns: [{name: "from", numeric: true}, {name: "to", numeric: true}, {name: y.title, numeric: true}],
      rows: counts.map((count, k) => [edges[k], edges[k + 1], count])}));
  };

  const short = (count) => count < 10000 ? String(count) : `${Math.round(count / 1000)}k`;
  const heatmap = (parent, options) => {
    const {rows, columns, values} = options, format = options.format || ((value) => number(value, 3));
    const draw = (svg, room) => {
      const letters = (names) => Math.min(14, Math.max(1, ...names.map((name) => name.length)));
      const left = letters(rows) * kLetter + 30, top = letters(columns) * kLetter * 0.75 + 34;
      const size = Math.max(14, Math.min(44, (room - left - 20) / columns.length));
      const width = Math.max(room, left + size * columns.length + 24), height = top + size * rows.length + 8;
      const shades = options.shades || values;
      const largest = Math.max(1e-300, ...shades.flat().filter(Number.isFinite).map(Math.abs));
      svg.append(shape("text", {class: "axis-title", x: left, y: 11}, options.columnTitle || ""),
                 shape("text", {class: "axis-title", transform: `translate(11 ${top + size * rows.length / 2}) rotate(-90)`,
                                "text-anchor": "middle"}, options.rowTitle || ""));
      columns.forEach((name, c) => {
        const at = `translate(${left + size * (c + 0.5) + 3} ${top - 6}) rotate(-50)`;
        svg.append(shape("text", {class: "tick", transform: at}, cut(name, 14)));
      });
      const marks = [];
      rows.forEach((row, r) => {
        svg.append(shape("text", {class: "tick", x: left - 6, y: top + size * (r + 0.5) + 4, "text-anchor": "end"}, cut(row, 14)));
        columns.forEach((column, c) => {
          const value = values[r][c], known = Number.isFinite(value), shade = shades[r][c];
          const node = shape("rect", {class: `mark cell ${shade < 0 ? "f1" : "f0"}${options.onClick ? " clickable" : ""}`,
                                      x: left + size * c, y: top + size * r, width: size, height: size,
                                      "fill-opacity": known ? (Math.abs(shade) / largest).toFixed(3) : 0,
                                      "data-row": row, "data-column": column, "data-value": known ? value : ""});
          svg.append(node);
          if (options.written && size >= 26 && value > 0) {
            svg.append(shape("text", {class: Math.abs(shade) > 0.55 * largest ? "written over" : "written", x: left + size * (c + 0.5),
                                      y: top + size * (r + 0.5) + 3, "text-anchor": "middle"}, short(value)));
          }
          const names = `${options.rowTitle ? `${options.rowTitle} ` : ""}${row}, ${options.columnTitle ? `${options.columnTitle} ` : ""}${column}`;
          marks.push({node, text: `${names}\n${known ? format(value) : "–"}`, click: options.onClick && (() => options.onClick(r, c))});
        });
      });
      return {height, width, marks};
    };
    return figure(parent, {...options, kind: "heatmap"}, draw, () => ({
      columns: [{name: options.rowTitle || "row"}, ...columns.map((name) => ({name, numeric: true, format}))],
      rows: rows.map((row, r) => [row, ...values[r]])}));
  };

  // Headers sort, where there is more than one row. A cell is text, a number, or a node with data-sort.
  const table = (parent, options) => {
    const {columns} = options, rows = [...options.rows];
    const body = element("tbody");
    const key = (cell) => cell instanceof Node ? (Number(cell.dataset.sort) || cell.dataset.sort || cell.textContent) : cell;
    const fillBody = () => body.replaceChildren(...rows.map((row) => element("tr", {}, ...row.map((cell, c) => {
      const {numeric, format, wide} = columns[c] || {};
      const content = cell instanceof Node ? cell : typeof cell === "number" || numeric ? (format || number)(cell) : String(cell ?? "");
      const classes = [numeric && "number", wide && "wide"].filter(Boolean).join(" ");
      return element(c === 0 && !numeric ? "th" : "td", {class: classes || null, scope: c === 0 && !numeric ? "row" : null}, content);
    }))));
    const headers = columns.map((column, c) => {
      const plain = rows.length < 2 || options.sortable === false;
      const button = plain ? column.name : element("button", {type: "button"}, column.name);
      const header = element("th", {scope: "col", class: column.numeric ? "number" : null}, button);
      if (plain) return header;
      button.addEventListener("click", () => {
        const descending = header.hasAttribute("aria-sort") ? header.getAttribute("aria-sort") === "ascending" : Boolean(column.numeric);
        for (const other of headers) other.removeAttribute("aria-sort");
        header.setAttribute("aria-sort", descending ? "descending" : "ascending");
        rows.sort((a, b) => {
          const p = key(a[c]), q = key(b[c]);
          const order = typeof p === "number" && typeof q === "number" ? p - q : String(p ?? "").localeCompare(String(q ?? ""), "en");
          return descending ? -order : order;
        });
        fillBody();
      });
      return header;
    });
    fillBody();
    const node = element("table", {}, options.caption ? element("caption", {}, options.caption) : null,
                         element("thead", {}, element("tr", {}, ...headers)), body);
    parent.append(element("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": options.caption || "table"}, node));
    return node;
  };

  // Numbers with their names: [["primal", "141.7"], ...].
  const tiles = (parent, pairs) => {
    const list = element("dl", {class: "tiles"});
    for (const [name, value] of pairs) list.append(element("div", {}, element("dt", {}, name), element("dd", {}, value)));
    parent.append(list);
    return list;
  };

  // A tooltip for what is no mark of a chart: by pointer, and where `keys`, by keyboard.
  const explain = (node, text, keys = true) => {
    const show = () => showTooltip(text, node.getBoundingClientRect());
    node.addEventListener("pointerenter", show);
    node.addEventListener("pointerleave", hideTooltip);
    if (!keys) return node;
    node.addEventListener("focus", show);
    node.addEventListener("blur", hideTooltip);
    return node;
  };

  // An SVG drawing, which may be wider than the page and is moved then: marks are those of interact().
  const drawing = (parent, label, svg, marks) => {
    svg.setAttribute("role", "img");
    svg.setAttribute("tabindex", 0);
    svg.setAttribute("aria-label", label);
    interact(svg, marks, false);
    parent.append(element("div", {class: "drawing"}, svg));
    return svg;
  };

  // A choice: [[value, text], ...]; calls change(value).
  const choice = (parent, label, options, change) => {
    const select = element("select", {}, ...options.map(([value, text]) => element("option", {value}, text)));
    select.addEventListener("change", () => change(select.value));
    parent.append(element("label", {}, label, select));
    return select;
  };

  return {line, scatter, bars, histogram, heatmap, table, tiles, element, shape, number, percent, share, cut, explain, drawing, choice};
})();
