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
  let chosen = null;     // [sentence, token]
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
    } else {
      asked.text = $("input").value;
      if (model.task === "classify" && explains()) asked.explain = {};
    }
    if (model.probabilities && model.task !== "treebank") asked.marginals = true;
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
    try {
      const got = await ask("v1/predict", question());
      complain("");
      answer = got;
      show();
    } catch (error) {
      if (error.name === "AbortError") return;
      complain(error.message);
    }
  }
  function changed() {
    fixed.clear();
    chosen = null;
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
    const shown = [make("span", {}, sentence.tokens ? sentence.tokens[t] : String(t + 1)), make("span", {class: "label"}, label === "O" ? "" : label)];
    if (marginal) shown.push(make("span", {class: "probability"}, percent(marginal[label])));
    const pressed = chosen && chosen[0] === s && chosen[1] === t;
    return make("button", {
      type: "button",
      class: `token ${colourOf(label)} ${goesOn ? "inside" : ""} ${fixed.has(`${s} ${t}`) ? "fixed" : ""}`,
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
    $("why").hidden = !sentence;
    if (!sentence) return;
    const t = chosen[1], key = `${chosen[0]} ${t}`;
    const select = make("select", {
      id: "label", onchange: (event) => {
        if (event.target.value) fixed.set(key, event.target.value);
        else fixed.delete(key);
        update();
      },
    }, make("option", {value: ""}, "whatever the model says"));
    const marginal = sentence.marginals && sentence.marginals[t];
    const labels = [...model.labels].sort((a, b) => (marginal ? marginal[b] - marginal[a] : 0));
    for (const label of labels) select.append(make("option", {value: label}, marginal ? `${label} (${percent(marginal[label])})` : label));
    select.value = fixed.get(key) || "";
    $("reasons").replaceChildren(
      make("p", {}, make("strong", {}, sentence.tokens ? sentence.tokens[t] : `token ${t + 1}`), ` is ${sentence.labels[t]}.`),
      make("div", {class: "controls"}, make("label", {}, "Its label is ", select)),
      ...(sentence.explanation ? reasons(sentence.explanation) : []));
  }
  function reasons(explanation) {
    const rows = explanation.contributions.slice(0, 25);
    const most = Math.max(1e-9, ...rows.map((row) => Math.abs(row.contribution)));
    return [
      make("p", {}, `What it looks at adds up to a score of ${number(explanation.score)}.`),
      make("div", {class: "scroll"}, make("table", {class: "reasons"},
        make("thead", {}, make("tr", {}, ...["Attribute", "Weight", "Score", ""].map((name) => make("th", {scope: "col"}, name)))),
        make("tbody", {}, ...rows.map((row) => make("tr", {},
          make("td", {}, make("code", {}, row.before ? `${row.before.join(" ")} → ${explanation.label}` : row.attribute)),
          make("td", {class: "number"}, number(row.weight)),
          make("td", {class: "number"}, number(row.contribution)),
          make("td", {}, make("meter", {min: 0, max: most, value: Math.abs(row.contribution), "aria-label": `${row.contribution < 0 ? "against" : "for"} ${explanation.label}`}))))))),
      make("p", {class: "faint"}, rows.length < explanation.attributes ? `The ${rows.length} largest of ${explanation.attributes}.` : "")];
  }

  // The best output of a parser; the others of the k best at a click.
  function showTrees(list) {
    for (const result of list) {
      const place = make("div", {class: "scroll"});
      const draw = (one, best) => {
        const marginals = best && result.marginals;
        place.replaceChildren(one.heads
          ? trees.dependencies(result.words, one.heads, one.relations, marginals ? (i) => marginals[i][one.heads[i]] || 0 : null)
          : trees.phrases(one.tree));
      };
      draw(result, true);
      $("output").append(place);
      if (result.kbest) {
        $("output").append(make("ol", {class: "best"}, ...result.kbest.map((one, rank) =>
          make("li", {}, make("button", {type: "button", onclick: () => draw(one, rank === 0)}, "Show"), ` ${valueOf(one)}`))));
      }
    }
  }
  function showLabels(list) {
    for (const example of list) {
      const rows = Object.entries(example.marginals || {}).sort((a, b) => b[1] - a[1]);
      $("output").append(make("p", {class: "lead"}, make("strong", {}, example.label)));
      $("output").append(make("table", {class: "reasons"}, make("tbody", {}, ...rows.slice(0, 20).map(([label, p]) => make("tr", {},
        make("td", {}, label), make("td", {class: "number"}, percent(p)), make("td", {}, make("meter", {min: 0, max: 1, value: p, "aria-label": label})))))));
      if (!example.explanation) continue;
      $("why").hidden = false;
      $("reasons").replaceChildren(...reasons(example.explanation));
    }
  }
  function show() {
    $("output").replaceChildren();
    $("why").hidden = true;
    $("release").hidden = !fixed.size;
    const results = answer.sentences || answer.examples || answer.results;
    if (model.task === "tag") showTags(results);
    else if (model.task === "classify") showLabels(results);
    else if (model.task === "parse" || model.task === "treebank") showTrees(results);
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
