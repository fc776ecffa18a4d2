"use strict";
// Asks the server what the model makes of the input, and shows it. Whatever comes from there or from the user is text, never
// markup.
(() => {
  const $ = (id) => document.getElementById(id);
  const make = (name, attributes = {}, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
      else if (value !== null) made.setAttribute(key, value);
    }
    made.append(...children);
    return made;
  };
  const percent = (p) => `${(100 * p).toFixed(p > 0.9995 || p < 0.0005 ? 0 : 1)} %`;
  const number = (x) => (Object.is(x, -0) ? 0 : x).toFixed(3);

  let model = null;
  let answer = null;     // the last one
  let fixed = new Map();  // "sentence token" -> label
  let chosen = null;     // [sentence, token], [graph, node], [sentence, {begin, end, label}]
  let told = null;       // the words of a text, with their columns, for a parser
  let running = null;    // what is asked now
  let timer = 0;

  const headers = () => {
    const token = $("token").value;
    return {"Content-Type": "application/json", ...(token ? {Authorization: `Bearer ${token}`} : {})};
  };
  function complain(text) {
    $("problem").hidden = !text;
    $("problem").textContent = text || "";
  }
  async function ask(path, question) {
    if (running) running.abort();
    running = new AbortController();
    const options = {headers: headers(), signal: running.signal};
    if (question) Object.assign(options, {method: "POST", body: JSON.stringify(question)});
    const response = await fetch(path, options);
    if (response.status === 401) $("token-row").hidden = false;
    const body = await response.json();
    if (!response.ok) throw new Error(body.error.message);
    return body;
  }

  // Lines of a file of graphs that declare types are none.
  const graphs = () => answer.results.filter((one) => one.labels);
  // Models of kernels have no weights of attributes.
  const explains = () => !model.settings.kernel;
  // What is asked: text, or, once labels are fixed or a reason is asked for, the tokens that it has.
  function question() {
    const asked = {};
    if ($("mode").value === "input") asked.input = $("input").value;
    else if (model.task === "tag" && answer && answer.sentences && (fixed.size || chosen)) {
      asked.tokens = answer.sentences.map(({tokens, columns}) => (columns ? tokens.map((word, t) => [word, ...columns[t]]) : tokens));
      if (fixed.size) asked.forced = answer.sentences.map(({tokens}, s) => tokens.map((_, t) => fixed.get(`${s} ${t}`) ?? null));
      if (chosen && explains()) asked.explain = {sentence: chosen[0], token: chosen[1]};
    } else if (model.task === "parse" && told && (fixed.size || chosen)) {
      asked.tokens = told;
      if (fixed.size) asked.forced = told.map((words, s) => words.map((_, t) => (fixed.has(`${s} ${t}`) ? Number(fixed.get(`${s} ${t}`)) : null)));
      if (chosen) asked.explain = {sentence: chosen[0], word: chosen[1] + 1};
    } else {
      asked.text = $("input").value;
      if (model.task === "classify" && explains()) asked.explain = {};
    }
    if (model.task === "treebank" && chosen) asked.explain = {sentence: chosen[0], ...chosen[1]};
    if (model.task === "graph" && fixed.size) asked.forced = graphs().map(({labels}, g) => labels.map((_, v) => fixed.get(`${g} ${v}`) ?? null));
    if (model.task === "graph" && chosen && explains()) asked.explain = {graph: chosen[0], node: chosen[1]};
    if (model.probabilities) asked.marginals = true;
    const kbest = Number($("kbest").value);
    if (kbest > 1) asked.kbest = kbest;
    return asked;
  }

  async function update() {
    if (!model) return;
    if (!$("input").value.trim()) {
      complain("");
      $("output").replaceChildren();
      $("why").hidden = true;
      return;
    }
    $("release").hidden = !fixed.size;
    try {
      const asked = question(), got = await ask("v1/predict", asked);
      complain("");
      answer = got;
      if (asked.text && model.task === "parse") told = got.results.map(({words, columns}) => words.map((word, t) => (columns ? [word, ...columns[t]] : word)));
      show();
    } catch (error) {
      if (error.name === "AbortError") return;
      complain(error.message);
    }
  }
  function changed() {
    fixed.clear();
    chosen = null;
    told = null;
    clearTimeout(timer);
    timer = setTimeout(update, 200);
  }

  // B-PER begins a chunk of PER, I-PER goes on with it.
  const typeOf = (label) => (/^[BIESLUM]-/.test(label) ? label.slice(2) : label === "O" ? null : label);
  const types = () => [...new Set((model.labels || []).map(typeOf).filter((type) => type !== null))];
  function colourOf(label) {
    const at = types().indexOf(typeOf(label));
    return at < 0 ? "" : `k${at % 8}`;
  }

  function tokenButton(sentence, s, t) {
    const label = sentence.labels[t], marginal = sentence.marginals && sentence.marginals[t];
    const goesOn = t > 0 && /^[IEL]-/.test(label) && typeOf(label) === typeOf(sentence.labels[t - 1]);
    return choiceButton(s, t, sentence.tokens ? sentence.tokens[t] : String(model.task === "graph" ? t : t + 1), label, marginal && marginal[label],
                        `${colourOf(label)} ${goesOn ? "inside" : ""}`);
  }
  // A word or node with what it is, which a click explains.
  function choiceButton(s, t, word, label, probability, look) {
    const shown = [make("span", {}, word), make("span", {class: "label"}, label === "O" ? "" : label)];
    if (probability !== undefined) shown.push(make("span", {class: "probability"}, percent(probability)));
    const pressed = chosen && chosen[0] === s && chosen[1] === t;
    return make("button", {
      type: "button",
      class: `token ${look} ${fixed.has(`${s} ${t}`) ? "fixed" : ""}`,
      "aria-pressed": String(Boolean(pressed)), "data-label": label,
      onclick: () => {
        chosen = pressed ? null : [s, t];
        update();
      },
    }, ...shown);
  }
  // In what a labelling differs from the best one.
  function differences(sentence, labels) {
    const list = labels.flatMap((label, t) => (label === sentence.labels[t] ? [] : [`${sentence.tokens ? sentence.tokens[t] : t + 1} ${label}`]));
    return list.length ? list.join(", ") : "as above";
  }
  const valueOf = ({probability, score}) => (probability === undefined ? number(score) : percent(probability));

  function showTags(list) {
    list.forEach((sentence, s) => {
      $("output").append(make("div", {class: "sentence"}, ...sentence.labels.map((_, t) => tokenButton(sentence, s, t))));
      if (sentence.kbest) {
        $("output").append(make("ol", {class: "best"}, ...sentence.kbest.map((one) => make("li", {}, `${valueOf(one)}: ${differences(sentence, one.labels)}`))));
      }
    });
    showReasons(list);
  }
  function showReasons(list) {
    const sentence = chosen && list[chosen[0]];
    if (!sentence) return;
    const t = chosen[1], marginal = sentence.marginals && sentence.marginals[t];
    const labels = [...(marginal ? Object.keys(marginal) : model.labels)].sort((a, b) => (marginal ? marginal[b] - marginal[a] : 0));
    showWhy(sentence.tokens ? sentence.tokens[t] : model.task === "graph" ? `node ${t}` : `token ${t + 1}`, `is ${sentence.labels[t]}.`, "Its label is ",
            labels.map((label) => [label, marginal ? `${label} (${percent(marginal[label])})` : label]), sentence.explanation);
  }
  function showHeads(list) {
    const result = chosen && list[chosen[0]];
    if (!result) return;
    const t = chosen[1], marginal = result.marginals && result.marginals[t], relation = result.relations ? ` as ${result.relations[t]}` : "";
    const name = (h) => (h ? `${h} ${result.words[h - 1]}` : "the root");
    const heads = [0, ...result.words.map((_, i) => i + 1)].filter((h) => h !== t + 1).sort((a, b) => (marginal ? (marginal[b] || 0) - (marginal[a] || 0) : 0));
    showWhy(`${t + 1} ${result.words[t]}`, `depends on ${name(result.heads[t])}${relation}.`, "Its head is ",
            heads.map((h) => [String(h), marginal && marginal[h] ? `${name(h)} (${percent(marginal[h])})` : name(h)]), result.explanation);
  }
  // What was chosen, a menu of what else it may be, and reasons.
  function showWhy(name, says, what, options, explanation) {
    const key = `${chosen[0]} ${chosen[1]}`;
    $("why").hidden = false;
    const select = make("select", {
      id: "label", onchange: (event) => {
        if (event.target.value) fixed.set(key, event.target.value);
        else fixed.delete(key);
        update();
      },
    }, make("option", {value: ""}, "whatever the model says"));
    for (const [value, text] of options) select.append(make("option", {value}, text));
    select.value = fixed.get(key) || "";
    $("reasons").replaceChildren(make("p", {}, make("strong", {}, name), ` ${says}`), make("div", {class: "controls"}, make("label", {}, what, select)),
                                 ...(explanation ? reasons(explanation) : []));
  }
  // A menu of the phrases of all trees.
  function showPhrases(list) {
    const select = make("select", {id: "phrase", onchange: (event) => {
      chosen = event.target.value ? JSON.parse(event.target.value) : null;
      update();
    }}, make("option", {value: ""}, "which phrase?"));
    list.forEach((result, s) => {
      const sure = new Map((result.constituents || []).map((one) => [`${one.begin} ${one.end} ${one.label}`, one.probability]));
      for (const {begin, end, label, words} of trees.phrasesOf(result.tree)) {
        const p = sure.get(`${begin} ${end} ${label}`);
        if (p === undefined && sure.size) continue;  // what every tree begins with
        const name = `${label}: ${words.length > 8 ? [...words.slice(0, 7), "…"].join(" ") : words.join(" ")}`;
        select.append(make("option", {value: JSON.stringify([s, {begin, end, label}])}, p === undefined ? name : `${name} (${percent(Math.min(1, p))})`));
      }
    });
    select.value = chosen ? JSON.stringify(chosen) : "";
    const explanation = chosen && list[chosen[0]] && list[chosen[0]].explanation;
    $("why").hidden = false;
    $("reasons").replaceChildren(make("div", {class: "controls"}, make("label", {}, "Why is this a phrase: ", select)), ...(explanation ? reasons(explanation) : []));
  }
  const tableHead = (...names) => make("thead", {}, make("tr", {}, ...names.map((name) => make("th", {scope: "col"}, name))));
  function reasons(explanation) {
    const rows = explanation.contributions.slice(0, 25);
    const most = Math.max(1e-9, ...rows.map((row) => Math.abs(row.contribution)));
    return [
      make("p", {}, `What it looks at adds up to a score of ${number(explanation.score)}.`),
      make("div", {class: "scroll"}, make("table", {class: "reasons"}, make("caption", {}, "Parts of the score"), tableHead("Attribute", "Weight", "Score", ""),
        make("tbody", {}, ...rows.map((row) => make("tr", {},
          make("td", {}, make("code", {}, row.before ? `${row.before.join(" ")} → ${explanation.label}` : row.attribute)),
          make("td", {class: "number"}, number(row.weight)),
          make("td", {class: "number"}, number(row.contribution)),
          make("td", {}, make("meter", {min: 0, max: most, value: Math.abs(row.contribution), ...(row.contribution < 0 ? {optimum: 0, high: most / 1e6} : {}),
                                        "aria-label": `${row.contribution < 0 ? "against" : "for"} ${explanation.label}`}))))))),
      make("p", {class: "faint"}, rows.length < explanation.attributes ? `The ${rows.length} largest of ${explanation.attributes}.` : "")];
  }

  // The best output of a parser; the others of the k best at a click.
  function showTrees(list) {
    list.forEach((result, s) => {
      const place = make("div", {class: "scroll"});
      const draw = (one, best) => {
        const marginals = best && result.marginals;
        place.replaceChildren(one.heads
          ? trees.dependencies(result.words, one.heads, one.relations, marginals ? (i) => marginals[i][one.heads[i]] || 0 : null)
          : trees.phrases(one.tree));
      };
      draw(result, true);
      $("output").append(place);
      if (result.heads && told) {
        $("output").append(make("div", {class: "sentence"}, ...result.words.map((word, t) =>
          choiceButton(s, t, word, result.heads[t] ? result.words[result.heads[t] - 1] : "root", result.marginals && (result.marginals[t][result.heads[t]] || 0), ""))));
      }
      if (result.kbest) {
        $("output").append(make("ol", {class: "best"}, ...result.kbest.map((one, rank) =>
          make("li", {}, make("button", {type: "button", onclick: () => draw(one, rank === 0)}, "Show"), ` ${valueOf(one)}`))));
      }
    });
    if (model.task === "treebank") showPhrases(list);
    else showHeads(list);
  }
  function showLabels(list) {
    for (const example of list) {
      const rows = Object.entries(example.marginals || {}).sort((a, b) => b[1] - a[1]);
      $("output").append(make("p", {class: "lead"}, make("strong", {}, example.label)));
      $("output").append(make("table", {class: "reasons"}, make("caption", {}, "Labels"), tableHead("Label", "Probability", ""), make("tbody", {}, ...rows.slice(0, 20).map(([label, p]) => make("tr", {},
        make("td", {}, label), make("td", {class: "number"}, percent(p)), make("td", {}, make("meter", {min: 0, max: 1, value: p, "aria-label": label})))))));
      if (!example.explanation) continue;
      $("why").hidden = false;
      $("reasons").replaceChildren(...reasons(example.explanation));
    }
  }
  function show() {
    $("output").replaceChildren();
    $("why").hidden = true;
    const results = answer.sentences || answer.examples || answer.results;
    if (model.task === "tag") showTags(results);
    else if (model.task === "classify") showLabels(results);
    else if (model.task === "parse" || model.task === "treebank") showTrees(results);
    else if (model.task === "graph") showTags(graphs());
    else $("output").append(...results.map((one) => make("pre", {}, JSON.stringify(one, null, 1))));
  }

  async function start() {
    try {
      model = await ask("v1/model");
    } catch (error) {
      complain(error.message);
      return;
    }
    complain("");
    $("title").textContent = model.name;
    document.title = `${model.name} · Espalier`;
    const facts = [model.task, `loss ${model.loss}`];
    if (model.labels) facts.push(`${model.labels.length} labels`);
    if (model.certificate) facts.push(`relative gap ${model.certificate.relative_gap.toExponential(2)}`);
    $("model").textContent = facts.join(" · ");
    const plain = model.task !== "graph" && !(model.task === "classify" && model.settings.format !== "text") &&
      !(model.task === "tag" && model.settings.format !== "columns");
    $("mode").value = plain ? "text" : "input";
    if (!plain) $("mode").disabled = true;
    $("kbest").disabled = model.task === "classify";
    await update();
  }
  $("input").addEventListener("input", changed);
  $("mode").addEventListener("change", changed);
  $("kbest").addEventListener("change", update);
  $("token").addEventListener("change", start);
  $("release").addEventListener("click", () => {
    fixed.clear();
    update();
  });
  start();
})();
