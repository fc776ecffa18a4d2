"use strict";
// Trees as they were predicted, with what is wrong in colour and what is missing beside it.

// Dependencies: arcs above the words, from head to word. Right arcs are grey, wrong ones orange, those of the gold tree that are missing green.
function drawArcs(parent, one, labels, charts) {
  const {shape, percent} = charts, kLetter = 7, kGap = 16, kLevel = 22;
  const words = ["root", ...one.words], tags = ["", ...(one.tags || [])];
  const relation = (list, t) => list ? labels[list[t]] : "";
  const arcs = [];
  one.words.forEach((word, t) => {
    const gold = one.heads[t], predicted = one.predicted[t], right = gold === predicted;
    const goldName = relation(one.relations, t), name = relation(one.predicted_relations, t);
    const kind = !right ? "wrong" : goldName !== name ? "relabelled" : "right";
    arcs.push({from: predicted, to: t + 1, kind, name: kind === "relabelled" ? `${name} ✗ ${goldName} ✓` : name});
    if (!right) arcs.push({from: gold, to: t + 1, kind: "missing", name: goldName});
  });
  // Room for the names of arcs between neighbours.
  const widths = words.map((word, k) => Math.max(word.length, tags[k].length, 3) * kLetter);
  for (const arc of arcs) [arc.low, arc.high] = [Math.min(arc.from, arc.to), Math.max(arc.from, arc.to)];
  const room = words.map(() => 0);
  for (const arc of arcs) if (arc.high === arc.low + 1) room[arc.high] = Math.max(room[arc.high], arc.name.length * 6 + 12);
  const x = [10 + widths[0] / 2];
  for (let k = 1; k < words.length; ++k) x.push(x[k - 1] + Math.max((widths[k - 1] + widths[k]) / 2 + kGap, room[k]));
  const at = x[words.length - 1] + widths[words.length - 1] / 2 + 10;
  // Each arc is above those that it covers.
  const placed = [];
  arcs.sort((a, b) => a.high - a.low - (b.high - b.low));
  for (const arc of arcs) {
    arc.level = 1 + Math.max(0, ...placed.filter((other) => other.low < arc.high && arc.low < other.high).map((other) => other.level));
    placed.push(arc);
  }
  const top = 14 + kLevel * Math.max(...arcs.map((arc) => arc.level)), width = at, height = top + 44;
  const svg = shape("svg", {width, height, viewBox: `0 0 ${width} ${height}`, class: "tree"}), marks = [];
  for (const arc of arcs) {
    const side = arc.from < arc.to ? 1 : -1, a = x[arc.from] + side * 4, b = x[arc.to] - side * 3, y = top - kLevel * arc.level;
    const node = shape("path", {class: `arc ${arc.kind}`, d: `M${a} ${top}V${y + 5}Q${a} ${y} ${a + side * 5} ${y}H${b - side * 5}Q${b} ${y} ${b} ${y + 5}V${top - 4}`,
                                "data-head": arc.from, "data-word": arc.to, "data-kind": arc.kind, "data-relation": arc.name});
    svg.append(node, shape("path", {class: `tip ${arc.kind}`, d: `M${b - 3} ${top - 6}h6l-3 6z`}),
               shape("text", {x: (a + b) / 2, y: y - 3, "text-anchor": "middle", class: "tick relation"}, arc.name));
    const chances = ((one.likely || {})[arc.to] || []).map(([head, p]) => `${words[head]} ${percent(p)}`);
    marks.push({node, text: [`${words[arc.to]} ← ${words[arc.from]}${arc.name ? `: ${arc.name}` : ""}`,
                             {wrong: "predicted, wrong", missing: "gold, not predicted", relabelled: "the wrong relation", right: "right"}[arc.kind],
                             chances.length ? `heads: ${chances.join(", ")}` : ""].filter(Boolean).join("\n")});
  }
  words.forEach((word, k) => svg.append(shape("text", {x: x[k], y: top + 16, "text-anchor": "middle"}, word),
                                        shape("text", {x: x[k], y: top + 32, "text-anchor": "middle", class: "tick"}, tags[k])));
  charts.drawing(parent, `dependencies of: ${one.words.join(" ")}`, svg, marks);
}

// Phrases: nested arrays, [label, child, ...] and [tag, "word"]. Brackets that the other tree lacks are coloured.
function drawPhrases(parent, one, charts) {
  const {element} = charts;
  const brackets = (tree) => {
    const found = new Map();
    const walk = (node, begin) => {
      if (typeof node[1] === "string") return begin + 1;
      let end = begin;
      for (const child of node.slice(1)) end = walk(child, end);
      const key = `${node[0]} ${begin} ${end}`;
      found.set(key, (found.get(key) || 0) + 1);
      return end;
    };
    walk(tree, 0);
    return found;
  };
  const gold = brackets(one.gold), predicted = brackets(one.predicted);
  const title = (text) => element("p", {class: "faint"}, text);
  parent.append(title("predicted; orange: not in the gold tree"));
  drawPhrase(parent, one.predicted, gold, "wrong", "predicted tree", charts);
  parent.append(title("gold; green: not predicted"));
  drawPhrase(parent, one.gold, predicted, "missing", "gold tree", charts);
}

function drawPhrase(parent, tree, others, kind, name, charts) {
  const {shape} = charts, kLetter = 6.6, kGap = 10, kLevel = 34;
  const left = new Map(others), nodes = [], words = [];
  let at = 8, word = 0, deepest = 0;
  const place = (node, depth) => {
    deepest = Math.max(deepest, depth);
    const here = {label: node[0], depth, children: [], begin: word};
    nodes.push(here);
    if (typeof node[1] === "string") {
      const width = Math.max(node[0].length, node[1].length, 2) * kLetter;
      here.x = at + width / 2;
      here.word = node[1];
      words.push(node[1]);
      at += width + kGap;
      ++word;
    } else {
      here.children = node.slice(1).map((child) => place(child, depth + 1));
      here.x = (here.children[0].x + here.children[here.children.length - 1].x) / 2;
      const key = `${node[0]} ${here.begin} ${word}`, there = left.get(key) || 0;
      here.kind = there > 0 ? "right" : kind;
      left.set(key, there - 1);
    }
    here.end = word;
    return here;
  };
  place(tree, 0);
  const y = (node) => 16 + kLevel * (node.word === undefined ? node.depth : deepest), height = 16 + kLevel * deepest + 30;
  const svg = shape("svg", {width: at + 8, height, viewBox: `0 0 ${at + 8} ${height}`, class: "tree"}), marks = [];
  for (const node of nodes) {
    for (const child of node.children)
      svg.append(shape("path", {class: `branch ${node.kind === "right" ? "" : node.kind}`, d: `M${child.x} ${y(child) - 11}V${y(node) + 11}H${node.x}V${y(node) + 5}`}));
  }
  for (const node of nodes) {
    if (node.word !== undefined) {
      svg.append(shape("text", {x: node.x, y: y(node), "text-anchor": "middle", class: "tick"}, node.label),
                 shape("text", {x: node.x, y: y(node) + 16, "text-anchor": "middle"}, node.word));
      continue;
    }
    const width = Math.max(16, node.label.length * kLetter + 8);
    const box = shape("rect", {class: `phrase ${node.kind}`, x: node.x - width / 2, y: y(node) - 11, width, height: 16, rx: 3,
                               "data-label": node.label, "data-begin": node.begin, "data-end": node.end, "data-kind": node.kind});
    svg.append(box, shape("text", {x: node.x, y: y(node) + 1, "text-anchor": "middle", class: "label"}, node.label));
    marks.push({node: box, text: `${node.label}: ${words.slice(node.begin, node.end).join(" ")}\n${{right: "in both trees", wrong: "not in the gold tree", missing: "not predicted"}[node.kind]}`});
  }
  charts.drawing(parent, `${name}: ${words.join(" ")}`, svg, marks);
}
