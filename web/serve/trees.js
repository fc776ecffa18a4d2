"use strict";
// Drawings of trees: arcs above words, and phrases above words.
const trees = (() => {
  const svg = (name, attributes, ...children) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };
  const context = document.createElement("canvas").getContext("2d");
  const width = (text, size) => {
    context.font = `${size}px system-ui, sans-serif`;
    return context.measureText(text).width;
  };
  const drawing = (label, wide, high, ...marks) =>
    svg("svg", {class: "tree", role: "img", "aria-label": label, width: wide, height: high, viewBox: `0 0 ${wide} ${high}`}, ...marks);

  // heads[i] is the head of word i + 1; 0 is the root.
  function dependencies(words, heads, relations, probability) {
    const names = words.map((_, i) => {
      const name = (relations || [])[i] || "";
      return probability ? `${name} ${(100 * probability(i)).toFixed(0)} %` : name;
    });
    const sizes = words.map((word, i) => Math.max(width(word, 14), width(names[i], 11)) + 22);
    const middles = [];
    let right = 10;
    for (const size of sizes) {
      middles.push(right + size / 2);
      right += size;
    }
    // Each arc is above all that it spans.
    const arcs = heads.map((head, i) => ({child: i, head: head - 1, span: head === 0 ? 0 : Math.abs(head - 1 - i)}));
    const height = new Map();
    for (const arc of [...arcs].sort((a, b) => a.span - b.span)) {
      if (arc.head < 0) continue;
      const [left, end] = [Math.min(arc.head, arc.child), Math.max(arc.head, arc.child)];
      let level = 1;
      for (const [other, its] of height) {
        const [a, b] = [Math.min(other.head, other.child), Math.max(other.head, other.child)];
        if (a < end && left < b) level = Math.max(level, its + 1);
      }
      height.set(arc, level);
    }
    const levels = Math.max(1, ...height.values());
    const base = 22 + levels * 24;
    const marks = [];
    for (const arc of arcs) {
      const to = middles[arc.child];
      marks.push(svg("text", {class: "relation", x: to, y: base + 34}, names[arc.child]));
      if (arc.head < 0) {
        marks.push(svg("line", {x1: to, x2: to, y1: 6, y2: base - 4}), svg("polygon", {points: `${to - 3},${base - 9} ${to + 3},${base - 9} ${to},${base - 2}`}));
        continue;
      }
      const side = arc.child > arc.head ? 1 : -1;
      const from = middles[arc.head] + 5 * side, end = to - 3 * side, top = base - 4 - height.get(arc) * 24;
      marks.push(svg("path", {d: `M${from},${base - 4} L${from},${top + 8} Q${from},${top} ${from + 8 * side},${top} L${end - 8 * side},${top} Q${end},${top} ${end},${top + 8} L${end},${base - 4}`}));
      marks.push(svg("polygon", {points: `${end - 3},${base - 9} ${end + 3},${base - 9} ${end},${base - 2}`}));
    }
    words.forEach((word, i) => marks.push(svg("text", {x: middles[i], y: base + 16}, word)));
    const told = words.map((word, i) => `${word} ${(relations || [])[i] || ""} of ${heads[i] ? words[heads[i] - 1] : "root"}`).join(", ");
    return drawing(told, right + 10, base + 42, ...marks);
  }

  // "(S (NP (DT the) (NN dog)) ...)" as {label, children} and {label, word}.
  function read(brackets) {
    const tokens = brackets.match(/[()]|[^\s()]+/g) || [];
    let at = 0;
    const node = () => {
      at += 1;
      const made = {label: tokens[at] === "(" ? "" : tokens[at++], children: []};
      while (at < tokens.length && tokens[at] !== ")") {
        if (tokens[at] === "(") made.children.push(node());
        else made.word = tokens[at++];
      }
      at += 1;
      return made;
    };
    return node();
  }
  // All phrases, from the outermost: {begin, end, label, words}.
  function phrasesOf(brackets) {
    const found = [], words = [];
    const walk = (node) => {
      const phrase = {label: node.label, begin: words.length};
      if (node.word === undefined) found.push(phrase);
      else words.push(node.word);
      node.children.forEach(walk);
      phrase.end = words.length;
    };
    walk(read(brackets));
    return found.map((phrase) => ({...phrase, words: words.slice(phrase.begin, phrase.end)}));
  }
  function phrases(brackets) {
    const marks = [];
    let right = 10, deepest = 0;
    const row = 38;
    const depth = (node) => (node.word !== undefined || !node.children.length ? 0 : 1 + Math.max(...node.children.map(depth)));
    const root = read(brackets);
    const levels = depth(root);
    const place = (node, level) => {
      deepest = Math.max(deepest, level);
      const y = 16 + level * row;
      if (node.word !== undefined || !node.children.length) {
        const size = Math.max(width(node.word || "", 14), width(node.label, 14)) + 18;
        const x = right + size / 2;
        right += size;
        const low = 16 + levels * row;
        marks.push(svg("text", {class: "category", x, y: low}, node.label), svg("text", {x, y: low + 22}, node.word || ""));
        return {x, y: low};
      }
      const below = node.children.map((child) => place(child, level + 1));
      const x = (below[0].x + below[below.length - 1].x) / 2;
      // Straight down where the child is, so that no line crosses another.
      for (const end of below) marks.push(svg("path", {d: `M${x},${y + 5} L${end.x},${y + row - 14} L${end.x},${end.y - 14}`}));
      marks.push(svg("text", {class: "category", x, y}, node.label));
      return {x, y};
    };
    place(root, 0);
    return drawing(brackets, right + 10, 16 + levels * row + 34, ...marks);
  }
  return {dependencies, phrases, phrasesOf};
})();
