"use strict";
// How good a model is on labelled data, and where it is wrong.
function renderQuality(section, quality, charts) {
  const {element, number, percent, share} = charts;
  const {report, task} = quality, labels = quality.labels || [];
  section.append(element("p", {class: "lead"}, `${quality.headline} on ${quality.data}.`));

  const rate = (part, whole) => whole > 0 ? part / whole : null;
  const grid = element("div", {class: "grid"});
  const ranges = (list) => list.map((one) => ({...one, name: one.to === null ? `${one.from} or more` : one.from === one.to ? `${one.from}` : `${one.from} to ${one.to}`}));

  const tiles = {
    tag: () => [["F1", "f1"], ["precision", "precision"], ["recall", "recall"], ["accuracy of tokens", "accuracy"],
                ["whole sequences right", "sequence_accuracy"]],
    classify: () => [["error", "error"]],
    parse: () => [["UAS", "uas"], ["LAS", "las"], ["UAS without punctuation", "uas_nopunct"], ["LAS without punctuation", "las_nopunct"],
                  ["whole trees right", "exact"]],
    treebank: () => [["F1", "f1"], ["precision", "precision"], ["recall", "recall"], ["tags right", "tagging"], ["whole trees right", "exact"]],
    graph: () => [["accuracy of nodes", "accuracy"], ["whole graphs right", "exact"]],
  }[task]();
  const counts = [["sequences", "sequences"], ["sentences", "sentences"], ["examples", "examples"], ["graphs", "graphs"], ["tokens", "tokens"],
                  ["words", "words"], ["nodes", "nodes"]].filter(([, key]) => Number.isFinite(report[key]));
  charts.tiles(section, [...tiles.filter(([, key]) => Number.isFinite(report[key])).map(([name, key]) => [name, percent(report[key])]),
                         ...(Number.isFinite(report.cost) ? [["mean cost", number(report.cost)]] : []),
                         ...counts.map(([name, key]) => [name, number(report[key])])]);

  const types = report.types || report.classes || quality.types;
  if (types) {
    charts.table(section, {caption: report.classes ? "By class" : "By type", columns: [
      {name: report.classes ? "class" : "type"}, ...["precision", "recall", "F1"].map((name) => ({name, numeric: true, format: share})),
      ...["gold", "predicted", "correct"].map((name) => ({name, numeric: true}))],
      rows: Object.entries(types).map(([name, of]) => [name, of.precision ?? rate(of.correct, of.predicted), of.recall ?? rate(of.correct, of.gold),
                                                       of.f1 ?? rate(2 * of.correct, of.gold + of.predicted), of.gold, of.predicted, of.correct])});
  }
  const tables = element("div", {class: "grid"});
  if (quality.attachment) section.append(tables);
  for (const [caption, first, list] of quality.attachment || []) {
    const column = element("div");
    tables.append(column);
    charts.table(column, {caption, columns: [{name: first}, {name: "UAS", numeric: true, format: share},
      ...(Number.isFinite(report.las) ? [{name: "LAS", numeric: true, format: share}] : []), {name: "words", numeric: true}],
      rows: list.map((one) => [one.name, rate(one.heads, one.words), ...(Number.isFinite(report.las) ? [rate(one.labelled, one.words)] : []), one.words])});
  }

  let errors = null;
  if (quality.confusion && quality.confusion.labels.length > 1) renderConfusion(section, quality.confusion, charts, (gold, predicted) => errors && errors.filter(gold, predicted));
  section.append(grid);
  const beside = element("div");  // the tall chart
  if (quality.calibration) {
    const what = {parse: "head", treebank: "constituent"}[task] || "label";
    charts.scatter(grid, {title: "Calibration", diagonal: true, sizeTitle: "predictions",
                          description: `How often predictions of some probability are right; on the diagonal it is as often as they say. Mean distance ${percent(quality.calibration.error)}.`,
                          x: {title: `probability of the predicted ${what}`, min: 0, max: 1}, y: {title: "right", min: 0, max: 1},
                          points: quality.calibration.bins.map((bin) => ({x: bin.confidence, y: bin.accuracy, size: bin.count}))});
  }
  if (quality.lengths) {
    const name = task === "tag" ? "Accuracy" : "UAS";
    charts.bars(beside, {title: `${name} by length of sentence`, description: "Tokens that are right; the notes say how many sentences there are.",
                       nameTitle: "tokens", unit: "", format: share,
                       bars: ranges(quality.lengths).map((one) => ({name: one.name, value: rate(one.correct, one.tokens),
                         note: `${number(one.sentences)} sentences, ${number(one.exact)} without errors`}))});
  }
  if (quality.words) {
    const {seen, unseen, template} = quality.words;
    charts.bars(beside, {title: "Accuracy by whether training had the word", description: `Known words are those with an attribute ${template} in the model.`,
                       format: percent, bars: [["known", seen], ["unknown", unseen]].filter(([, of]) => of.tokens > 0).map(([name, of]) => ({
                         name, value: rate(of.correct, of.tokens), note: `${number(of.tokens)} tokens`}))});
  }
  if (quality.confused && quality.confused.length > 0) {
    charts.bars(beside, {title: "Most confused pairs", description: "Gold and predicted label. A click shows the examples.",
                         onClick: (k) => errors && errors.filter(quality.confused[k].gold, quality.confused[k].predicted), nameTitle: "gold → predicted",
                       bars: quality.confused.map((one) => ({name: `${one.gold} → ${one.predicted}`, value: one.count}))});
  }
  if (beside.children.length > 0) grid.append(beside);
  if (quality.errors && quality.errors.list.length > 0) errors = renderErrors(section, quality, labels, charts);
}

// Gold against predicted labels, sorted as chosen; a click shows the errors of a cell.
function renderConfusion(section, confusion, charts, onCell) {
  const {element, number} = charts, {labels, counts} = confusion;
  const controls = element("div", {class: "controls"}), place = element("div");
  section.append(controls, place);
  const sum = (list) => list.reduce((a, b) => a + b, 0);
  const golds = counts.map(sum), wrong = labels.map((name, k) => golds[k] - counts[k][k] + sum(counts.map((row) => row[k])) - counts[k][k]);
  const draw = (by) => {
    const order = labels.map((name, k) => k);
    if (by === "name") order.sort((a, b) => labels[a].localeCompare(labels[b], "en", {numeric: true}));
    if (by === "errors") order.sort((a, b) => wrong[b] - wrong[a]);
    const names = order.map((k) => labels[k]), values = order.map((r) => order.map((c) => counts[r][c]));
    // Errors are few beside what is right, so each is shaded by its root.
    const shades = order.map((r, i) => order.map((c, j) => (r === c ? 1 : -1) * Math.sqrt(golds[r] > 0 ? values[i][j] / golds[r] : 0)));
    place.replaceChildren();
    charts.heatmap(place, {title: "Confusion matrix", rows: names, columns: names, values, shades, rowTitle: "gold", columnTitle: "predicted", written: true,
                           description: `Blue is right, orange wrong; the more of the gold label, the darker. A click on an orange cell shows its errors.${confusion.left_out ? ` ${number(confusion.left_out)} labels with fewer errors are left out.` : ""}`,
                           onClick: (r, c) => { if (r !== c) onCell(names[r], names[c]); }});
  };
  charts.choice(controls, "Sort by", [["frequency", "frequency"], ["name", "name"], ["errors", "errors"]], draw);
  draw("frequency");
}
