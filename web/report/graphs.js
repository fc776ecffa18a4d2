"use strict";
// A graph by the positions of its nodes, which have the colour of the predicted label; wrong ones have an edge. Short labels are written in their nodes,
// and the gold ones below; of longer ones the colour of the gold label is inside.
function drawGraph(parent, one, labels, charts) {
  const {shape, element, percent} = charts;
  const wrong = one.gold.filter((gold, v) => gold !== one.predicted[v]).length;
  if (!one.positions) {
    const list = one.gold.map((gold, v) => [v, gold]).filter(([v, gold]) => gold !== one.predicted[v]).slice(0, 30);
    parent.append(element("p", {class: "sentence"}, `graph ${one.number}, ${wrong} of ${one.gold.length} nodes wrong: `, ...list.flatMap(([v, gold]) => [
      element("span", {class: "token wrong"}, element("span", {class: "word"}, `node ${v}`),
              element("span", {class: "tag predicted"}, `✗ ${labels[one.predicted[v]]}`), element("span", {class: "tag gold"}, `✓ ${labels[gold]}`)), " "])));
    return;
  }
  const xs = one.positions.map(([x]) => x), ys = one.positions.map(([, y]) => y);
  const spread = (list) => Math.max(...list) - Math.min(...list) || 1;
  // Neighbours are about 22 pixels apart, in small graphs 34.
  const step = Math.sqrt(spread(xs) * spread(ys) / one.positions.length) || 1, scale = Math.min((one.gold.length > 150 ? 22 : 34) / step, 560 / spread(xs));
  const x = (v) => 14 + (xs[v] - Math.min(...xs)) * scale, y = (v) => 14 + (ys[v] - Math.min(...ys)) * scale, r = Math.max(3, Math.min(10, step * scale * 0.4));
  const written = r > 7 && [...one.gold, ...one.predicted].every((id) => labels[id].length <= 2);
  const width = 28 + spread(xs) * scale, height = 38 + spread(ys) * scale;
  const svg = shape("svg", {width, height, viewBox: `0 0 ${width} ${height}`, class: "graph"}), marks = [];
  for (const [a, b] of one.edges || []) svg.append(shape("line", {class: "branch", x1: x(a), y1: y(a), x2: x(b), y2: y(b)}));
  one.gold.forEach((gold, v) => {
    const predicted = one.predicted[v], right = gold === predicted;
    const node = shape("circle", {class: `node f${predicted % 8}${right ? "" : " wrong"}`, cx: x(v), cy: y(v), r, "data-node": v,
                                  "data-gold": labels[gold], "data-predicted": labels[predicted]});
    svg.append(node);
    if (written) svg.append(shape("text", {class: "inside", x: x(v), y: y(v) + 3.5, "text-anchor": "middle"}, labels[predicted]));
    if (written && !right) svg.append(shape("text", {class: "below", x: x(v), y: y(v) + r + 11, "text-anchor": "middle"}, `✓ ${labels[gold]}`));
    if (!written && !right) svg.append(shape("circle", {class: `inner f${gold % 8}`, cx: x(v), cy: y(v), r: r / 2}));
    marks.push({node, text: [`node ${v}: ${labels[predicted]}${right ? "" : `, gold ${labels[gold]}`}`,
                             ...((one.likely || {})[v] || []).map(([label, p]) => `${labels[label]} ${percent(p)}`)].join("\n")});
  });
  parent.append(element("p", {class: "faint"}, `graph ${one.number}, ${wrong} of ${one.gold.length} nodes wrong; a wrong node has an edge, and ${written ? "the gold label below" : "the gold label's colour inside"}`));
  charts.drawing(parent, `graph ${one.number}`, svg, marks);
  const list = element("ul", {class: "legend"});
  for (const id of [...new Set([...one.gold, ...one.predicted])].sort((a, b) => labels[a].localeCompare(labels[b], "en", {numeric: true}))) {
    list.append(element("li", {}, shape("svg", {width: 12, height: 12, "aria-hidden": "true"}, shape("circle", {class: `f${id % 8}`, cx: 6, cy: 6, r: 5})), labels[id]));
  }
  parent.append(list);
}
