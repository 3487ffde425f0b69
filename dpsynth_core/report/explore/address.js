// The address of a question: what stands behind # in the page's own address, as in  mean:age;in:region=north+south;by:sex
// Names and values are written as addresses write any text, so that none of them has one of the signs between them.
const coded = encodeURIComponent;
const cellsAddress = (cells) => Object.keys(cells).sort((a, b) => place.get(a) - place.get(b))
  .map((name) => `${coded(name)}=${cells[name].map((code) => coded(columns[place.get(name)].cells[code])).join("+")}`).join(",");
function addressOf({ statistic, among, cells, versus, column, columns: names }, by) {
  const of = column ? coded(column) : names.length ? names.map(coded).join(",") : cellsAddress(cells);
  const parts = [["in", cellsAddress(among)], ["versus", cellsAddress(versus)], ["by", coded(by)]];
  return [of ? `${statistic}:${of}` : statistic, ...parts.filter(([, text]) => text).map((part) => part.join(":"))].join(";");
}
function questionAt(address) { // {question, by}; throws an Error that says what this release does not have
  const [[statistic, of = ""], ...rest] = address.split(";").map((part) => part.split(":")), parts = new Map(rest);
  if (![...at("statistic").options].some(({ value }) => value === statistic)) throw new Error("it names no question of this page");
  const cells = of.includes("=") ? cellsAt(of) : {}, names = of && !of.includes("=") ? of.split(",").map(nameAt) : [], table = statistic === "table";
  const question = { statistic, among: cellsAt(parts.get("in")), cells, versus: cellsAt(parts.get("versus")), column: table ? "" : names[0] ?? "", columns: table ? names : [] };
  return { question, by: parts.has("by") ? nameAt(parts.get("by")) : "" };
}
function cellsAt(text) {
  return Object.fromEntries(text ? text.split(",").map((part) => {
    const [name, values = ""] = part.split("="), column = columns[place.get(nameAt(name))];
    const codes = new Set(values.split("+").map((value) => codeAt(column, decodeURIComponent(value))));
    return [column.name, [...codes].sort((a, b) => a - b)];
  }) : []);
}
function nameAt(text) {
  const name = decodeURIComponent(text);
  if (!place.has(name)) throw new Error(`there is no column “${visible(name)}”`);
  return name;
}
function codeAt(column, value) {
  const code = column.cells.indexOf(value);
  if (code < 0) throw new Error(`column “${visible(column.name)}” has no value “${visible(value)}”`);
  return code;
}
