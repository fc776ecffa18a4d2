"use strict";
// Errors one by one, the surest first: sentences with their labels, examples, trees and graphs. Returns {filter(gold, predicted)}.
function renderErrors(section, quality, labels, charts) {
  const {element, number, percent} = charts, {errors, task} = quality, kPage = 20;
  section.append(element("h3", {id: "errors"}, "Errors"));
  const what = {tag: "sentence", classify: "example", parse: "sentence", treebank: "sentence", graph: "graph"}[task];
  const measure = {probability: "by the probability of what is wrong", score: "by the difference of its score from that of the gold labels",
                   errors: "by the number of errors"}[errors.measure];
  const left = errors.shown < errors.all ? `; this page has ${number(errors.shown)} of them: those the model was surest of, and some of each kind` : "";
  section.append(element("p", {class: "faint"}, `${errors.all === 1 ? `One ${what} has` : `${number(errors.all)} ${what}s have`} errors${left}. The surest come first, ${measure}.`));
  const controls = element("div", {class: "controls"}), list = element("ol", {class: quality.pixels ? "examples pictured" : "examples"}), more = element("button", {type: "button"}, "More");
  const count = element("output", {class: "faint", "aria-live": "polite"});
  section.append(controls, list, more);

  const sureness = (one) => errors.measure === "probability" ? `${percent(one.sure)} sure` : errors.measure === "score"
    ? `score ${number(one.sure)} above gold` : `${number(one.sure)} wrong`;
  const likely = (pairs, name) => (pairs || []).map(([of, p]) => `${name(of)} ${percent(p)}`).join("\n");

  const draw = {
    tag: (one, parent) => {
      const line = element("p", {class: "sentence"});
      one.words.forEach((word, t) => {
        const gold = labels[one.gold[t]], predicted = labels[one.predicted[t]], wrong = gold !== predicted;
        const token = element("span", {class: wrong ? "token wrong" : "token", tabindex: wrong ? 0 : null, "data-gold": gold, "data-predicted": predicted},
                              element("span", {class: "word"}, word));
        if (wrong) token.append(element("span", {class: "tag predicted"}, `✗ ${predicted}`), element("span", {class: "tag gold"}, `✓ ${gold}`));
        else if (gold !== "O") token.append(element("span", {class: "tag"}, gold));
        const chances = likely((one.likely || {})[t], (label) => labels[label]);
        charts.explain(token, [`${word}: ${wrong ? `predicted ${predicted}, gold ${gold}` : gold}`, chances].filter(Boolean).join("\n"), wrong);
        line.append(token, " ");
      });
      if (one.left_out) line.append(`… ${number(one.left_out)} more`);
      parent.append(line);
    },
    classify: (one, parent) => {
      const gold = labels[one.gold], predicted = labels[one.predicted];
      const line = element("p", {class: "sentence"}, element("span", {class: "token wrong", tabindex: 0, "data-gold": gold, "data-predicted": predicted},
        element("span", {class: "word"}, `example ${number(one.number)}`), element("span", {class: "tag predicted"}, `✗ ${predicted}`),
        element("span", {class: "tag gold"}, `✓ ${gold}`)));
      charts.explain(line.firstChild, [`predicted ${predicted}, gold ${gold}`, likely(one.likely, (label) => labels[label])].filter(Boolean).join("\n"));
      if (one.pixels) line.append(pixelPicture(one.pixels, quality.pixels, `example ${one.number}`, charts));
      else line.append(" ", one.attributes.map((a) => Array.isArray(a) ? `${a[0]}:${a[1]}` : a).join(" "));
      parent.append(line);
    },
    parse: (one, parent) => drawArcs(parent, one, labels, charts),
    treebank: (one, parent) => drawPhrases(parent, one, charts),
    graph: (one, parent) => drawGraph(parent, one, labels, charts),
  }[task];

  const pairsOf = (one) => task === "classify" ? [[labels[one.gold], labels[one.predicted]]]
    : task === "tag" || task === "graph" ? one.gold.map((gold, t) => [labels[gold], labels[one.predicted[t]]])
    : task === "parse" && one.relations ? one.relations.map((gold, t) => [labels[gold], labels[one.predicted_relations[t]]]) : [];
  const textOf = (one) => (one.words || (one.attributes || []).map((a) => Array.isArray(a) ? a[0] : a)).join(" ").toLowerCase();
  let gold = "", predicted = "", text = "", shown = kPage, chosen = errors.list;
  const fill = () => {
    list.replaceChildren(...chosen.slice(0, shown).map((one) => {
      const item = element("li", {"data-sure": one.sure}, element("span", {class: "faint"}, sureness(one)));
      draw(one, item);
      return item;
    }));
    more.hidden = shown >= chosen.length;
    count.textContent = `${number(Math.min(shown, chosen.length))} of ${number(chosen.length)}`;
  };
  const choose = () => {
    chosen = errors.list.filter((one) => (!gold && !predicted || pairsOf(one).some(([g, p]) => g !== p && (!gold || g === gold) && (!predicted || p === predicted)))
      && (!text || textOf(one).includes(text)));
    shown = kPage;
    fill();
  };
  const names = [...new Set(errors.list.flatMap((one) => pairsOf(one).filter(([g, p]) => g !== p).flat()))].sort((a, b) => a.localeCompare(b, "en", {numeric: true}));
  let goldChoice = null, predictedChoice = null;
  if (names.length > 0) {
    const options = [["", "any"], ...names.map((name) => [name, name])];
    goldChoice = charts.choice(controls, "Gold", options, (value) => { gold = value; choose(); });
    predictedChoice = charts.choice(controls, "Predicted", options, (value) => { predicted = value; choose(); });
  }
  if (!quality.pixels && task !== "graph") {
    const input = element("input", {type: "search", size: 16});
    input.addEventListener("input", () => { text = input.value.toLowerCase(); choose(); });
    controls.append(element("label", {}, "Text", input));
  }
  controls.append(count);
  more.addEventListener("click", () => { shown += kPage; fill(); });
  fill();
  return {filter: (g, p) => {
    if (!goldChoice) return;
    [goldChoice.value, predictedChoice.value] = [g, p];
    [gold, predicted] = [goldChoice.value, predictedChoice.value];
    if (gold !== g || predicted !== p) count.textContent = "No example of these is on this page.";
    else choose();
    document.getElementById("errors").scrollIntoView();
  }};
}

// Two hexadecimal digits for each pixel.
function pixelPicture(digits, {rows, columns}, name, charts) {
  const {shape} = charts, kPixel = 3;
  const svg = shape("svg", {class: "picture", width: columns * kPixel, height: rows * kPixel, viewBox: `0 0 ${columns} ${rows}`, role: "img", "aria-label": name});
  for (let at = 0; at < rows * columns; ++at) {
    const value = parseInt(digits.slice(2 * at, 2 * at + 2), 16);
    if (value > 0) svg.append(shape("rect", {class: "ink", x: at % columns, y: Math.floor(at / columns), width: 1, height: 1, "fill-opacity": (value / 255).toFixed(2)}));
  }
  return svg;
}
