// An answer to take away: a line that cites it, and its numbers as CSV.
const UNITS = { count: "people", share: "share of the group", table: "share of the group", worst: "people" };
function citation(said, address) { // said: sentences of the answer
  return `${visible(data.title)} (${data.source}). ${said.join(" ")} ${data.file}#${address}`;
}
function csvOf(question, by, lines, address) { // lines: {names: of the line's cells, stated, known, how}
  const { statistic, column } = question, heads = statistic === "worst" ? ["subgroup"] : by ? [by] : question.columns;
  const unit = UNITS[statistic] ?? (column || "difference of shares");
  const titles = [...heads, "known", "answer", "at least", "at most", "in the rows", "unit", "how it is known", "release", "question"];
  const number = (value) => (value === null ? "" : statistic === "median" ? columns[place.get(column)].cells[value] : Number.isFinite(value) ? Number(value.toPrecision(6)) : "");
  const body = lines.map(({ names, stated, known, how }) =>
    [...names, known, ...[stated.value, stated.low, stated.high, stated.rows ?? null].map(number), unit, how, `${data.title} (${data.source})`, address]);
  return [titles, ...body].map((line) => line.map(csvField).join(",")).join("\r\n") + "\r\n";
}
function csvField(value) { // a spreadsheet runs no text
  if (typeof value === "number") return String(value);
  const inert = visible(value).replace(/^[=+\-@\t\r]/, "'$&");
  return /[",]|^\s|\s$/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}
async function copy(text, what) {
  at("by-hand").hidden = true;
  try {
    await navigator.clipboard.writeText(text);
    at("copied").textContent = `${what} copied.`;
  } catch { // a browser may not allow it to a file
    at("copied").textContent = "This browser does not let a page copy. Copy this:";
    at("by-hand").value = text;
    at("by-hand").hidden = false;
    at("by-hand").select();
  }
}
