"use strict";
// How near the optimum a model is, and how its runs got there.
function renderCertificate(section, certificate, charts) {
  const {element, number, percent} = charts;
  section.append(element("p", {class: "lead"}, certificate.sentence));
  if (certificate.numbers) {
    const {primal, dual, gap, relative_gap: relative, passes} = certificate.numbers;
    charts.tiles(section, [["primal: the objective here", number(primal, 8)], ["dual: a bound from below", number(dual, 8)],
                           ["gap", number(gap, 3)], ["relative gap", percent(relative)], ["passes over the data", number(passes, 5)]]);
  }

  const axes = {passes: {title: "passes", scale: "log"}, seconds: {title: "seconds", scale: "log"}};
  const points = (one, x, y) => one[x].map((value, k) => [value, one[y][k]]);
  const grid = (parent) => {
    const node = element("div", {class: "grid"});
    parent.append(node);
    return node;
  };
  const gaps = (parent, run, title, description) => {
    for (const x of ["passes", "seconds"]) {
      charts.line(parent, {title: `${title} by ${x}`, description, x: axes[x], y: {title: "relative gap", scale: "log"},
                           series: run.series.map((one) => ({name: one.name, points: points(one, x, "relative_gap")}))});
    }
  };

  const renderTraining = (parent, run) => {
    const place = grid(parent);
    gaps(place, run, "Gap", "How much lower the objective could still be, at most, relative to it.");
    for (const x of ["passes", "seconds"]) {
      const series = run.series.flatMap((one) => ["primal", "dual"].map((y) => ({
        name: run.series.length > 1 ? `${one.name}, ${y}` : y, points: points(one, x, y)})));
      charts.line(place, {title: `Primal and dual by ${x}`, description: "The optimum is between the two.", x: axes[x],
                          y: {title: "objective", scale: "log"}, series});
    }
    const rates = run.series.length === 1 && run.series[0].dev ? Object.entries(run.series[0].dev) : [];
    if (rates.length > 0) {
      charts.line(place, {title: "Held-out data by passes", description: "What the log has of each report.", x: axes.passes,
                          y: {title: rates.length > 1 ? "rate" : rates[0][0], format: percent},
                          series: rates.map(([name, values]) => ({name, points: run.series[0].passes.map((x, k) => [x, values[k]])}))});
    }
  };

  const renderPath = (parent, run) => {
    const {path} = run, {parameter, chosen} = path, place = grid(parent);
    const x = {title: parameter, scale: "log"}, marks = chosen === undefined ? [] : [{x: chosen, label: `chosen: ${number(chosen)}`}];
    const values = [...path.points].sort((a, b) => a.value - b.value);
    if (values.some((point) => Number.isFinite(point.dev))) {
      charts.line(place, {title: `Held-out data by ${parameter}`, description: `${path.rate} of the model of each value.`, x, marks,
                          y: {title: path.rate, format: percent}, series: [{name: path.rate, points: values.map((p) => [p.value, p.dev])}]});
    }
    charts.line(place, {title: `Gap by ${parameter}`, description: "With which each value ended.", x, marks,
                        y: {title: "relative gap", scale: "log"},
                        series: [{name: "relative gap", points: values.map((p) => [p.value, p.relative_gap])}]});
    charts.table(parent, {caption: `Values of ${parameter}`, columns: [
      {name: parameter, numeric: true}, {name: "passes", numeric: true}, {name: "relative gap", numeric: true}, {name: "primal", numeric: true},
      {name: path.rate || "held-out data", numeric: true, format: percent}, {name: "choice"}],
      rows: path.points.map((p) => [p.value, p.passes, p.relative_gap, p.primal, p.dev ?? null, p.value === chosen ? "chosen" : ""])});
  };

  const renderFolds = (parent, run) => {
    const {folds} = run, place = grid(parent);
    const marks = folds.chosen === undefined ? [] : [{x: folds.chosen, label: `chosen: ${number(folds.chosen)}`}];
    charts.line(place, {title: "Folds", description: "The mean of all folds with one standard deviation, and each fold.",
                        x: {title: "l2", scale: "log"}, y: {title: folds.metric}, marks,
                        series: [{name: "mean", points: folds.values.map((v) => [v.l2, v.mean, v.deviation])},
                                 ...folds.each.map((fold) => ({name: `fold ${fold.fold}`, loose: true, points: fold.points}))]});
    charts.table(parent, {caption: "Values of l2", columns: [
      {name: "l2", numeric: true}, {name: "folds", numeric: true}, {name: "passes", numeric: true}, {name: `mean ${folds.metric}`, numeric: true},
      {name: "deviation", numeric: true}, {name: "choice"}],
      rows: folds.values.map((v) => [v.l2, v.folds, v.passes, v.mean, v.deviation, v.l2 === folds.chosen ? "chosen" : ""])});
  };

  const renderRace = (parent, run) => {
    gaps(grid(parent), run, "Distance from the optimum", "At most so far above the best known optimum, relative to the objective.");
    const targets = [...new Set(run.race.flatMap((one) => (one.targets || []).map((target) => target.gap)))];
    charts.table(parent, {caption: "Solvers, with the passes to each gap", columns: [
      {name: "solver"}, ...targets.map((gap) => ({name: `to ${gap.toExponential(0)}`, numeric: true})), {name: "passes", numeric: true},
      {name: "seconds", numeric: true}, {name: "certified gap", numeric: true}, {name: "status"}],
      rows: run.race.map((one) => [one.solver, ...targets.map((gap) => (one.targets || []).find((t) => t.gap === gap)?.passes ?? null),
                                   one.passes ?? null, one.seconds ?? null, one.relative_gap ?? null, one.message || one.status])});
  };

  const settingsTable = (parent, caption, settings) => {
    const rows = Object.entries(settings).map(([key, value]) => [key, typeof value === "string" ? value : JSON.stringify(value)]);
    charts.table(parent, {caption, sortable: false, columns: [{name: "setting"}, {name: "value", wide: true}], rows});
  };

  for (const run of certificate.runs) {
    const part = element("div", {class: "run"}, element("h3", {}, run.title));
    section.append(part);
    if (run.command) part.append(element("code", {class: "block"}, run.command));
    if (run.message) part.append(element("p", {}, run.message));
    for (const notice of run.notices || []) part.append(element("p", {class: "faint"}, notice));
    if (run.race) renderRace(part, run);
    else if (run.folds) renderFolds(part, run);
    else if (run.path) renderPath(part, run);
    else if (run.series.length > 0) renderTraining(part, run);
    const details = element("details", {}, element("summary", {}, "Settings of the run"));
    settingsTable(details, "Settings of the run", run.settings);
    if (Object.keys(run.settings).length > 0) part.append(details);
  }
  if (certificate.model) {
    section.append(element("h3", {}, "The model"));
    settingsTable(section, "What the model's file says", certificate.model);
  }
}
