"use strict";
// What a model has learnt: its heaviest weights, steps between labels, templates, and a search over attributes.
function renderLearnt(section, learnt, charts, task) {
  const {element, number, share} = charts, {labels, weights} = learnt;
  const name = (id) => labels[id] === "" ? "(none)" : labels[id], byName = (a, b) => a.localeCompare(b, "en", {numeric: true});
  charts.tiles(section, [["weights", number(weights.all)], ["not zero", number(weights.nonzero)], ["attributes", number(learnt.attributes)],
                         ...(labels.length > 0 ? [["labels", number(labels.length)]] : [])]);

  if (learnt.strongest && learnt.strongest.length > 0) {
    section.append(element("h3", {}, "Strongest weights"));
    const controls = element("div", {class: "controls"}), place = element("div", {class: "grid"});
    section.append(controls, place);
    const draw = (index) => {
      const one = learnt.strongest[Number(index)];
      place.replaceChildren();
      for (const [sign, list] of [["for", one.positive], ["against", one.negative]]) {
        if (list.length === 0) continue;
        charts.bars(place, {title: `Strongest ${sign} ${name(one.label)}`, nameTitle: "attribute", unit: "weight",
                            bars: list.map(([attribute, value]) => ({name: attribute, value}))});
      }
    };
    const choices = learnt.strongest.map((one, k) => [k, name(one.label)]).sort(([, a], [, b]) => byName(a, b));
    charts.choice(controls, "Label", choices, draw);
    if (labels.length > learnt.strongest.length) {
      section.insertBefore(element("p", {class: "faint"}, `The ${number(learnt.strongest.length)} labels with the heaviest weights, of ${number(labels.length)}.`), controls);
    }
    draw(choices[0][0]);
  }

  const narrow = element("div", {class: "grid"});  // matrices that have room beside each other
  if (learnt.transitions) section.append(narrow);
  for (const matrix of learnt.transitions || []) {
    const order = matrix.labels.map((id, k) => k).sort((a, b) => byName(name(matrix.labels[a]), name(matrix.labels[b])));
    const names = order.map((k) => name(matrix.labels[k]));
    charts.heatmap(names.length > 12 ? section : narrow, {title: `Weights of neighbouring labels: ${matrix.attribute}`, rowTitle: "before", columnTitle: "label", rows: names, columns: names,
                             values: order.map((row) => order.map((column) => matrix.values[row][column])),
                             description: `Blue: one likes to follow the other; orange: it does not.${matrix.left_out ? ` ${number(matrix.left_out)} labels of lighter weights are left out.` : ""}`});
  }

  if (learnt.templates.length > 1) {
    section.append(element("h3", {}, "Templates"));
    const shared = learnt.templates.filter((one) => Number.isFinite(one.share)), hashed = Object.entries(learnt.shares || {});
    if (shared.length + hashed.length > 1) {
      const description = `Its share of the variance of the scores of labels, over ${number(learnt.share_examples)} ${{parse: "choices of a head or a relation in", treebank: "spans, splits and words of"}[task] || "tokens, examples or nodes of"} `
        + "the data: what is lost of it without the template. Shares add up to 100 %; a share below 0 works against the others.";
      const bars = [...shared].sort((a, b) => b.share - a.share)
        .map((one) => ({name: one.name, value: one.share, note: `${number(one.attributes)} attributes`}));
      bars.push(...hashed.map(([name, value]) => ({name, value})).sort((a, b) => b.value - a.value));
      charts.bars(section, {title: "What a template contributes to the scores", description, bars, unit: "of the variance", format: share,
                            nameTitle: "template"});
    }
    charts.table(section, {caption: "Templates of attributes", columns: [
      {name: "template"}, ...["attributes", "weights", "not zero"].map((title) => ({name: title, numeric: true})),
      {name: "of all squared weights", numeric: true, format: share},
      ...(shared.length > 0 ? [{name: "of the variance of scores", numeric: true, format: share}] : [])],
      rows: learnt.templates.map((one) => [one.name, one.attributes, one.weights, one.nonzero, one.squares,
                                           ...(shared.length > 0 ? [one.share ?? null] : [])])});
    if (learnt.templates_left_out) section.append(element("p", {class: "faint"}, `${number(learnt.templates_left_out)} templates of lighter weights are left out.`));
    const named = learnt.templates.filter((one) => one.strongest.length > 0);
    if (named.length > 0) {
      const controls = element("div", {class: "controls"}), place = element("div");
      section.append(controls, place);
      const draw = (index) => {
        const one = named[Number(index)];
        place.replaceChildren();
        charts.bars(place, {title: `Strongest weights of ${one.name}`, nameTitle: "attribute and label", unit: "weight",
                            bars: one.strongest.map(([attribute, of, value]) => ({name: of.every((id) => labels[id] === "") ? attribute : `${attribute}  ${of.map(name).join(" → ")}`, value}))});
      };
      charts.choice(controls, "Template", named.map((one, k) => [k, one.name]), draw);
      draw(0);
    }
  }

  if (learnt.pictures) {
    section.append(element("h3", {}, "Weights of pixels"));
    const place = element("div", {class: "pictures"}), {rows, columns, values} = learnt.pictures;
    const largest = Math.max(1e-300, ...values.flat().map(Math.abs));
    values.forEach((picture, y) => {
      const svg = charts.shape("svg", {class: "picture", width: columns * 4, height: rows * 4, viewBox: `0 0 ${columns} ${rows}`, role: "img",
                                       "aria-label": `weights of pixels for ${name(y)}`});
      picture.forEach((value, at) => {
        if (value !== 0) svg.append(charts.shape("rect", {class: value < 0 ? "f1" : "f0", x: at % columns, y: Math.floor(at / columns), width: 1, height: 1,
                                                         "fill-opacity": (Math.abs(value) / largest).toFixed(2)}));
      });
      place.append(element("figure", {}, svg, element("figcaption", {}, name(y))));
    });
    section.append(element("p", {class: "faint"}, "Blue pixels speak for the label, orange ones against it."), place);
  }

  const {histogram} = weights;
  if (histogram.counts.length > 0) {
    charts.histogram(section, {title: "How heavy weights are", edges: histogram.edges, counts: histogram.counts, x: {title: "absolute value", scale: "log"},
                               y: {title: "weights", scale: "log"}, description: histogram.zeros > 0 ? `${number(histogram.zeros)} more are exactly 0.` : "None is exactly 0."});
  }

  if (learnt.search && learnt.search.attributes.length > 0) renderSearch(section, learnt, name, charts);
}

// Attributes whose names have all words of a query.
function renderSearch(section, learnt, name, charts) {
  const {element, number} = charts, {search} = learnt, kMost = 50;
  section.append(element("h3", {}, "Attributes"));
  section.append(element("p", {class: "faint"}, search.attributes.length < search.all
    ? `The ${number(search.attributes.length)} attributes with the heaviest weights, of ${number(search.all)}, each with the labels that it speaks for or against most.`
    : "All attributes, each with the labels that it speaks for or against most."));
  const input = element("input", {type: "search", size: 24, placeholder: `such as ${charts.cut(search.attributes[0][0].split("=")[0], 14)}`}), count = element("output", {class: "faint", "aria-live": "polite"});
  const place = element("div", {id: "found"});
  section.append(element("div", {class: "controls"}, element("label", {}, "Search", input), count), place);
  const fill = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = search.attributes.filter(([attribute]) => words.every((word) => attribute.toLowerCase().includes(word)));
    count.textContent = found.length > kMost ? `${number(kMost)} of ${number(found.length)}` : `${number(found.length)}`;
    place.replaceChildren();
    charts.table(place, {caption: "Attributes found", columns: [{name: "attribute"}, {name: "heaviest", numeric: true}, {name: "labels", wide: true}],
                         rows: found.slice(0, kMost).map(([attribute, weights]) => [attribute, weights[0][1],
                           weights.map(([label, weight]) => `${name(label)} ${weight > 0 ? "+" : ""}${number(weight, 3)}`).join(",  ")])});
  };
  input.addEventListener("input", fill);
  fill();
}
