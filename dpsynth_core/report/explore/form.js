// The form: what is asked, and the answer, at each change. Everything on screen is made with textContent.
const make = (tag, properties = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in element) element[name] = value; else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
};
const at = (id) => document.getElementById(id), MOST_LISTED = 200;
const option = (value, text) => make("option", { value, textContent: visible(text) });
const named = (name) => make("bdi", { textContent: visible(name) });
const labelOf = (column) => (column.label ? `${column.name} (${column.label})` : column.name);
const columnOptions = (usable) => columns.map((column, i) => [column, i]).filter(([column]) => usable(column)).map(([column, i]) =>
  option(i, labelOf(column)));

const STATISTICS = [
  ["count", "How many people?"], ["share", "What share of a group?"], ["mean", "The mean of a column"], ["median", "The median of a column"],
  ["difference", "The difference between two groups"], ["table", "A table of columns"], ["worst", "The worst subgroups"],
];
const BROKEN_DOWN = ["count", "share", "mean", "median"];
const hasMeans = columns.some((column) => column.values !== null), hasMedians = columns.some((column) => column.ordered > 0);

// Conditions: each is a column and the cells of it that count
let counter = 0;
class Conditions {
  constructor(id) {
    this.list = at(id).querySelector(".conditions");
    at(id).querySelector("button").addEventListener("click", () => this.add(true));
  }
  add(focus) {
    const number = ++counter, picker = make("select", { id: `column${number}` }, option("", "Choose a column"), ...columnOptions(() => true));
    const cells = make("div", { className: "cells" }), remove = make("button", { type: "button", className: "quiet", textContent: "Remove" });
    const head = make("div", { className: "row" }, make("label", { htmlFor: picker.id, textContent: "Column" }), picker, remove);
    const box = make("div", { className: "condition" }, head, cells);
    picker.addEventListener("change", () => { this.list_cells(cells, picker); refresh(); });
    remove.setAttribute("aria-label", "Remove this condition");
    remove.addEventListener("click", () => { box.remove(); refresh(); this.list.parentElement.querySelector("button.add").focus(); });
    this.list.append(box);
    if (focus) picker.focus();
    return { picker, cells };
  }
  fill(stated) {
    this.clear();
    for (const [name, chosen] of Object.entries(stated)) {
      const { picker, cells } = this.add(false);
      picker.value = place.get(name);
      this.list_cells(cells, picker);
      const boxes = cells.querySelector(".boxes");
      for (const code of chosen) boxes.chosen.add(code);
      boxes.show();
    }
  }
  list_cells(cells, picker) {
    cells.replaceChildren();
    if (picker.value === "") return;
    const column = columns[Number(picker.value)], boxes = make("div", { className: "boxes" });
    const legend = make("legend", {}, "Values of ", named(column.name));
    if (column.ordered > 2) cells.append(this.range(column, boxes));
    const long = column.cells.length > MOST_LISTED;
    const search = make("input", { type: "search", placeholder: "Find a value", id: `find${++counter}` });
    if (long) cells.append(make("label", { htmlFor: search.id, textContent: "Find a value" }), search);
    const chosen = new Set();
    boxes.chosen = chosen;
    boxes.show = () => {
      const wanted = search.value.toLowerCase();
      const listed = column.cells.map((text, code) => [text, code]).filter(([text]) => text.toLowerCase().includes(wanted));
      boxes.replaceChildren(...listed.slice(0, MOST_LISTED).map(([text, code]) => {
        const tick = make("input", { type: "checkbox", checked: chosen.has(code), value: code });
        tick.addEventListener("change", () => { if (tick.checked) chosen.add(code); else chosen.delete(code); refresh(); });
        return make("label", {}, tick, " ", named(text));
      }));
      if (listed.length > MOST_LISTED) boxes.append(make("p", { className: "quiet", textContent: `${listed.length - MOST_LISTED} more: type to find them.` }));
    };
    search.addEventListener("input", boxes.show);
    boxes.show();
    cells.append(make("fieldset", {}, legend, boxes));
  }
  range(column, boxes) { // a range of an ordered column ticks all cells in it
    const ends = ["From", "To"].map((word) => {
      const end = make("select", { id: `end${++counter}` }, option("", "…"), ...column.cells.slice(0, column.ordered).map((text, code) => option(code, text)));
      end.addEventListener("change", () => {
        const [from, to] = ends.map(([, select]) => select.value);
        if (from === "" || to === "") return;
        boxes.chosen.clear();
        for (let code = Math.min(from, to); code <= Math.max(from, to); code++) boxes.chosen.add(code);
        boxes.show();
        refresh();
      });
      return [make("label", { htmlFor: end.id, textContent: word }), end];
    });
    return make("div", { className: "row" }, ...ends.flat());
  }
  get value() { // conditions on the same column must all hold
    const stated = new Map();
    for (const box of this.list.children) {
      const column = box.querySelector("select").value, chosen = box.querySelector(".boxes")?.chosen;
      if (column === "" || !chosen?.size) continue;
      const { name } = columns[Number(column)], earlier = stated.get(name);
      stated.set(name, earlier ? earlier.filter((code) => chosen.has(code)) : [...chosen].sort((a, b) => a - b));
    }
    return Object.fromEntries(stated);
  }
  clear() { this.list.replaceChildren(); }
}
const groups = { among: new Conditions("among"), cells: new Conditions("cells"), versus: new Conditions("versus") };

function asked() {
  const statistic = at("statistic").value, of = at("of").value;
  const mean = statistic === "mean" || statistic === "median" || (statistic === "difference" && of === "mean");
  const tables = [...at("columns").querySelectorAll("select")].map((select) => select.value).filter((value) => value !== "");
  return {
    statistic,
    among: groups.among.value,
    cells: statistic === "share" || (statistic === "difference" && !mean) ? groups.cells.value : {},
    versus: statistic === "difference" ? groups.versus.value : {},
    column: mean && at("column").value !== "" ? columns[Number(at("column").value)].name : "",
    columns: statistic === "table" ? [...new Set(tables)].map((value) => columns[Number(value)].name) : [],
  };
}
function missing(question) {
  const { statistic } = question, by = brokenDownBy(question), empty = (cells) => Object.keys(cells).length === 0;
  if ([question.among, question.cells, question.versus].some((cells) => Object.values(cells).some((chosen) => !chosen.length)))
    return "Two conditions on one column exclude each other.";
  if (statistic === "difference" && (empty(question.among) || empty(question.versus))) return "Choose values for both groups.";
  if ((statistic === "share" || (statistic === "difference" && at("of").value === "share")) && empty(question.cells))
    return "Choose the values whose share you want to know.";
  if ((statistic === "mean" || statistic === "median" || (statistic === "difference" && at("of").value === "mean")) && !question.column)
    return "Choose a column.";
  if (statistic === "table" && !question.columns.length) return "Choose one to four columns.";
  if (statistic === "table" && cellsOf(question.columns.map((name) => place.get(name))) > data.most_cells)
    return `This table has more than ${data.most_cells} cells. Choose columns with fewer values.`;
  if (by && codesBy(question, by).length > data.most_lines)
    return `This column has more than ${data.most_lines} values. Choose some of them as the group.`;
  return "";
}
const brokenDownBy = ({ statistic }) => (BROKEN_DOWN.includes(statistic) && at("by").value !== "" ? columns[Number(at("by").value)].name : "");
function layout() {
  const statistic = at("statistic").value, difference = statistic === "difference", mean = difference && at("of").value === "mean";
  at("of-part").hidden = !difference;
  at("column-part").hidden = !(statistic === "mean" || statistic === "median" || mean);
  at("columns-part").hidden = statistic !== "table";
  at("cells").hidden = !(statistic === "share" || (difference && !mean));
  at("versus").hidden = !difference;
  at("by-part").hidden = !BROKEN_DOWN.includes(statistic);
  at("among").hidden = statistic === "worst";
  const usable = statistic === "median" ? (column) => column.ordered > 0 : (column) => column.values !== null, before = at("column").value;
  at("column").replaceChildren(option("", "Choose a column"), ...columnOptions(usable));
  at("column").value = [...at("column").options].some(({ value }) => value === before) ? before : "";
  for (const group of ["cells", "versus"]) if (!at(group).hidden && !groups[group].list.children.length) groups[group].add(false);
  if (difference && !groups.among.list.children.length) groups.among.add(false);
}
function refresh() {
  const question = asked(), lack = missing(question), by = brokenDownBy(question);
  for (const id of ["table", "bar"]) at(id).replaceChildren();
  for (const id of ["take", "by-hand", "lost"]) at(id).hidden = true;
  if (lack) { at("answer").replaceChildren(make("p", { className: "quiet", textContent: lack })); return; }
  const address = addressOf(question, by);
  if (address !== shownAddress()) location.hash = address;
  const found = question.statistic === "worst" ? showWorst() : by ? showBreakdown(question, by) : showAnswer(question);
  if (found === null) {
    at("answer").replaceChildren(make("p", { textContent: data.phrases.absent }));
    return;
  }
  at("cite").textContent = citation(found.said, address);
  at("take").hidden = false;
  at("table").tabIndex = at("table").scrollWidth > at("table").clientWidth ? 0 : -1; // keys move what is too wide for a phone
  at("copied").textContent = "";
  taken = { csv: csvOf(question, by, found.lines, address), cite: at("cite").textContent };
}
let taken = null; // what the buttons copy
const shownAddress = () => location.hash.slice(1) || "count";
function follow() { // the question that the address asks, unless it is on screen
  const address = shownAddress();
  if (!missing(asked()) && address === addressOf(asked(), brokenDownBy(asked()))) return;
  let lack = "";
  try {
    const wanted = questionAt(address), canonical = addressOf(wanted.question, wanted.by);
    ask(wanted);
    lack = missing(asked()) || (canonical === addressOf(asked(), brokenDownBy(asked())) ? "" : "this page does not ask in that way");
    if (canonical !== address && !lack) location.replace(`#${canonical}`);
  } catch (error) {
    lack = error instanceof URIError ? "it is not written as an address is" : error.message;
  }
  if (lack) { location.replace("#count"); again(); } else refresh();
  at("lost").textContent = `The address asked what this page cannot answer: ${lack.replace(/\.$/, "")}. So here is its first question.`;
  at("lost").hidden = !lack;
}
function ask({ question, by }) { // fills the form in
  at("question").reset();
  at("statistic").value = question.statistic;
  if (question.statistic === "difference") at("of").value = question.column ? "mean" : "share";
  for (const [id, group] of Object.entries(groups)) group.fill(question[id]);
  layout();
  if (question.column) at("column").value = place.get(question.column);
  [...at("columns").querySelectorAll("select")].forEach((select, i) => { select.value = place.get(question.columns[i]) ?? ""; });
  at("by").value = by ? place.get(by) : "";
}
function again() {
  for (const group of Object.values(groups)) group.clear();
  at("question").reset();
  layout();
  refresh();
}
function say([first, ...rest], small = "", known = "") { // small: which of the sentences is; known: how closely, in a word
  at("answer").replaceChildren(...(known ? [make("p", {}, lit(known))] : []), make("p", { className: "claim", textContent: first }),
    ...rest.map((text) => make("p", { className: text === small ? "quiet" : "", textContent: text })));
}
const lit = (known) => make("span", { className: `light ${known}`, textContent: data.phrases[`${known} light`] });
function showAnswer(question) {
  const result = answer(question);
  if (result === null) return null;
  const said = sentences(question, result), { stated, cells } = result, how = evidenceSentence(result.evidence, result.support, result.table);
  if (question.statistic === "table") {
    const kept = question.columns.map((name) => place.get(name));
    const lines = cells.map((one, cell) => ({ names: codesOf(cell, kept).map((code, i) => columns[kept[i]].cells[code]), stated: one, known: light(question, one), how }));
    say(said);
    at("table").append(drawnTable(question, lines));
    return { said: said.slice(0, 1), lines };
  }
  const known = light(question, stated);
  say(said, besideSentence(question, stated), known);
  if (question.statistic !== "median" && stated.low !== null) {
    const drawable = [{ text: "", stated, guess: false }];
    at("bar").append(drawn(question, drawable), keyOf(drawable));
  }
  const beside = besideSentence(question, stated);
  return { said: said.filter((text) => text !== beside).slice(0, stated.disagree ? 3 : 2), lines: [{ names: [], stated, known, how }] };
}
function showBreakdown(question, by) {
  const broken = breakdown(question, by);
  if (broken === null) return null;
  const said = breakdownSentences(question, by), texts = broken.map((line) => lineTexts(question, by, line));
  const lines = broken.map(({ code, answer: { stated } }, i) =>
    ({ names: [texts[i][0]], stated, known: light({ ...question, among: { ...question.among, [by]: [code] } }, stated), how: texts[i].at(-1) }));
  say(said);
  if (lines.some(({ stated }) => stated.value !== null || stated.low !== null)) {
    const drawable = broken.map(({ standing }, i) => ({ text: texts[i][0], stated: lines[i].stated, guess: standing === "guess" }));
    at("bar").append(drawn(question, drawable), keyOf(drawable));
  }
  const titles = [by, "Known", "Answer", "At least", "At most", ...(hasRows ? ["In the rows"] : []), "How it is known"];
  at("table").append(listedTexts(titles, texts.map(([name, ...rest], i) => [name, lit(lines[i].known), ...rest])));
  return { said, lines };
}
function showWorst() {
  const subgroups = data.worst, texts = subgroups.map(subgroupTexts), said = worstSentences(subgroups);
  say(said);
  const titles = ["Subgroup", hasRows ? "In the rows" : "People", "At least", "At most", "Off for sure", "Off at most", "How it is known"];
  if (subgroups.length) at("table").append(listedTexts(titles, texts));
  return { said, lines: subgroups.map((stated, i) => ({ names: [texts[i][0]], stated, known: "", how: texts[i].at(-1) })) };
}
function listedTexts(titles, texts, names = 1, caption = "") { // the first columns, so many, name the line; the others are numbers but for these two
  const kind = (i) => (i < names || ["Known", "How it is known"].includes(titles[i]) ? "" : "n");
  const head = make("tr", {}, ...titles.map((title, i) => make("th", { scope: "col", className: kind(i) }, named(title))));
  const body = make("tbody", {}, ...texts.map((line) => make("tr", {}, ...line.map((text, i) =>
    (i < names ? make("th", { scope: "row" }, named(text)) : make("td", { className: kind(i) }, text))))));
  return make("table", { className: "wide" }, ...(caption ? [make("caption", { textContent: caption })] : []), make("thead", {}, head), body);
}
function part(tag, attributes, text = "") {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text) element.textContent = text;
  return element;
}
function axisOf(statistic, ends) { // from zero where that leaves half of it; a share never beyond what it can be
  const least = Math.min(...ends), most = Math.max(...ends), zero = (["count", "share"].includes(statistic) && 2 * least <= most) || statistic === "difference";
  if (statistic === "median") return [least, Math.max(most, least + 1e-9)];
  const from = zero ? Math.min(0, least) : least, to = zero ? Math.max(0, most) : most, room = (to - from || Math.abs(to) || 1) * 0.06;
  const low = from === 0 ? 0 : from - room, high = to === 0 ? 0 : to + room;
  return statistic === "share" ? [Math.max(0, low), Math.min(1, high)] : statistic === "count" ? [Math.max(0, low), high] : [low, high];
}
function drawn(question, lines) { // lines: {text, stated, guess}; the words beside it say the same
  const ends = lines.flatMap(({ stated }) => [stated.value, stated.low, stated.high, stated.rows]).filter((x) => x !== null);
  const [least, most] = axisOf(question.statistic, ends), step = 26, height = step * lines.length + 24, left = lines[0].text ? 160 : 10;
  const x = (value) => left + (560 - left) * (value - least) / (most - least);
  const svg = part("svg", { viewBox: `0 0 600 ${height}`, width: "600", height: String(height), "aria-hidden": "true" });
  lines.forEach(({ text, stated: { value, low, high, rows }, guess }, i) => {
    const y = step * i + 14;
    if (text) svg.append(part("text", { x: "150", y: String(y + 4), "text-anchor": "end" }, text.length > 22 ? `${text.slice(0, 21)}…` : text));
    svg.append(part("line", { class: "grid", x1: String(x(least)), x2: String(x(most)), y1: String(y), y2: String(y) }));
    if (low !== null) {
      const width = Math.max(3, x(high) - x(low)), from = (x(low) + x(high) - width) / 2;
      svg.append(part("rect", { class: "range", x: String(from), y: String(y - 8), width: String(width), height: "16", rx: "1.5" }));
    }
    if (rows !== null && rows !== value) svg.append(part("circle", { class: "rows", cx: String(x(rows)), cy: String(y), r: "4.5" }));
    if (value !== null) svg.append(part("circle", { class: guess ? "mark guess" : "mark", cx: String(x(value)), cy: String(y), r: "3" }));
  });
  for (const [value, anchor] of [[least, "start"], [most, "end"]]) {
    const text = numberText(question, question.statistic === "median" ? Math.round(value) : value);
    svg.append(part("text", { x: String(x(value)), y: String(height - 4), "text-anchor": anchor }, text));
  }
  return svg;
}
function keyOf(lines) {
  const band = lines.some(({ stated }) => stated.low !== null) ? "Band: the true number, with 95% confidence. " : "";
  const ring = lines.some(({ stated }) => stated.rows !== null && stated.rows !== stated.value) ? " Ring: the synthetic rows." : "";
  return make("p", { className: "quiet", textContent: `${band}Dot: the answer.${ring}` });
}
function drawnTable(question, lines) {
  const share = (value) => (value === null ? "–" : `${rounded(100 * value, 1)}%`);
  const texts = lines.map(({ names, stated: { value, low, high, rows }, known }) => [...names, lit(known), ...[value, low, high, ...(hasRows ? [rows] : [])].map(share)]);
  const titles = [...question.columns, "Known", "Share of the group", "At least", "At most", ...(hasRows ? ["In the rows"] : [])];
  return listedTexts(titles, texts, question.columns.length, "Shares of the group in each cell, with 95% intervals");
}

function start() {
  document.title = `Ask a question: ${visible(data.title)}`;
  at("title").append("Ask a question: ", named(data.title));
  at("alarm").hidden = data.private;
  at("held").textContent = data.held;
  at("counted").textContent = data.counted;
  at("counted").hidden = !data.counted;
  at("claim").append(...data.claim.map((text) => make("p", {}, named(text))));
  at("claim").hidden = !data.claim.length;
  at("warnings").append(...data.warnings.map((text) => make("li", {}, named(text))));
  at("warnings").hidden = !data.warnings.length;
  const usable = { mean: hasMeans, median: hasMedians };
  at("statistic").append(...STATISTICS.filter(([name]) => usable[name] ?? true).map(([name, text]) => option(name, text)));
  at("of").append(...(hasMeans ? [option("mean", "the mean of a column")] : []), option("share", "a share"));
  for (const word of ["First", "Second", "Third", "Fourth"]) {
    const select = make("select", { id: `table${word}` }, option("", "none"), ...columnOptions(() => true));
    at("columns").append(make("label", { htmlFor: select.id, textContent: `${word} column` }), select);
  }
  at("by").append(option("", "nothing"), ...columnOptions(() => true));
  for (const id of ["statistic", "of"]) at(id).addEventListener("change", () => { layout(); refresh(); });
  at("question").addEventListener("change", (event) => { if (event.target.matches("#column, #by, #columns select")) refresh(); });
  at("question").addEventListener("submit", (event) => event.preventDefault());
  at("again").addEventListener("click", () => { again(); at("statistic").focus(); });
  at("copy").addEventListener("click", () => copy(taken.csv, "The numbers are"));
  at("quote").addEventListener("click", () => copy(taken.cite, "The citation is"));
  window.addEventListener("hashchange", follow);
  at("question").hidden = false;
  at("without").hidden = true;
  layout();
  if (shownAddress() === "count") refresh(); else follow();
}
start();
