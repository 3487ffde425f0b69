"use strict";
// Answers to questions, as dpsynth_core/evaluation/questions computes them; a test compares the two. Names of columns and cells are
// hostile text: nothing in this file makes HTML of a text.
const data = JSON.parse(document.getElementById("data").textContent);
const columns = data.columns, place = new Map(columns.map((column, i) => [column.name, i]));

function bytesOf(base64) {
  const text = atob(base64), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}
const codes = data.codes === null ? null : data.codes.map((base64, i) => {
  const bytes = bytesOf(base64), width = columns[i].cells.length > 65536 ? 4 : columns[i].cells.length > 256 ? 2 : 1;
  if (width === 1) return bytes;
  const view = new DataView(bytes.buffer), numbers = new Uint32Array(bytes.length / width);
  for (let row = 0; row < numbers.length; row++) numbers[row] = width === 2 ? view.getUint16(2 * row, true) : view.getUint32(4 * row, true);
  return numbers;
});
const hasRows = data.rows !== null;

// Vectors and products of vectors: a product is an object from the number of a column to its vector; of others it has ones.
const sum = (vector) => vector.reduce((a, b) => a + b, 0);
const dot = (a, b) => a.reduce((total, x, i) => total + x * b[i], 0);
const size = (column) => columns[column].cells.length;
const ones = (column) => new Array(size(column)).fill(1);
const vectorOf = (product, column) => product[column] ?? ones(column);
function indicator(column, chosen) {
  const vector = new Array(size(column)).fill(0);
  for (const code of chosen) vector[code] = 1;
  return vector;
}
function weights(cells) {
  return Object.fromEntries(Object.entries(cells).map(([name, chosen]) => [place.get(name), indicator(place.get(name), chosen)]));
}
function times(f, g) {
  const product = { ...f };
  for (const column of Object.keys(g)) product[column] = f[column] ? f[column].map((x, i) => x * g[column][i]) : g[column];
  return product;
}

// Tables: flat arrays with the numbers of their columns.
const cellsOf = (clique) => clique.reduce((product, column) => product * size(column), 1);
function places(over, of) { // of each cell of the columns `over`, its cell of some of them, `of`
  const strides = new Array(over.length).fill(0);
  for (let axis = of.length - 1, stride = 1; axis >= 0; stride *= size(of[axis--])) strides[over.indexOf(of[axis])] = stride;
  const found = new Array(cellsOf(over)), index = new Array(over.length).fill(0);
  for (let cell = 0, target = 0; cell < found.length; cell++) {
    found[cell] = target;
    for (let axis = over.length - 1; axis >= 0; axis--) {
      target += strides[axis];
      if (++index[axis] < size(over[axis])) break;
      target -= strides[axis] * size(over[axis]);
      index[axis] = 0;
    }
  }
  return found;
}
function project(values, clique, onto) {
  const result = new Array(cellsOf(onto)).fill(0);
  places(clique, onto).forEach((target, cell) => { result[target] += values[cell]; });
  return result;
}
const spread = (values, from, over) => places(over, from).map((source) => values[source]);
function contract(values, clique, product, kept) { // sums over all columns but `kept`, weighed
  let table = values, left = clique.slice();
  for (let axis = clique.length - 1; axis >= 0; axis--) {
    if (kept.includes(clique[axis])) continue;
    const vector = vectorOf(product, clique[axis]), after = cellsOf(left.slice(axis + 1)), before = table.length / (vector.length * after);
    const result = new Array(before * after).fill(0);
    for (let i = 0; i < before; i++)
      for (let k = 0; k < vector.length; k++)
        if (vector[k] !== 0) for (let j = 0; j < after; j++) result[i * after + j] += vector[k] * table[(i * vector.length + k) * after + j];
    table = result;
    left.splice(axis, 1);
  }
  return project(table, left, kept);
}

// Rows
function smallestTable(needed) {
  return data.tables.find((table) => needed.every((column) => table.columns.includes(column)));
}
function canCount(needed) {
  return hasRows && (codes !== null || smallestTable(needed) !== undefined);
}
function rowsIn(among, kept) {
  if (codes === null) {
    const needed = [...new Set([...Object.keys(among).map(Number), ...kept])], table = smallestTable(needed);
    const counts = contract(table.counts, table.columns, among, kept), inside = kept.map((column) => vectorOf(among, column));
    return kept.reduce((left, column, i) => left.map((x, cell) =>
      x * inside[i][Math.floor(cell / cellsOf(kept.slice(i + 1))) % size(column)]), counts);
  }
  const result = new Array(cellsOf(kept)).fill(0), filters = Object.entries(among).map(([column, vector]) => [codes[column], vector]);
  const targets = kept.map((column) => [codes[column], size(column)]);
  rows: for (let row = 0; row < data.rows; row++) {
    for (const [column, vector] of filters) if (!vector[column[row]]) continue rows;
    let cell = 0;
    for (const [column, cells] of targets) cell = cell * cells + column[row];
    result[cell]++;
  }
  return result;
}

// Noisy counts: one table from all measurements, a sum of orthogonal parts
const subsets = (list) => list.reduce((all, item) => all.concat(all.map((some) => [...some, item])), [[]]);
const estimates = new Map();
function estimateOf(clique) {
  const key = clique.join();
  if (!estimates.has(key)) estimates.set(key, leastSquares(clique));
  return estimates.get(key);
}
function leastSquares(clique) {
  const key = clique.join(), parts = subsets(clique), cells = cellsOf(clique);
  const whole = data.measurements.find((m) => m.spread !== null && m.columns.join() === key);
  if (whole) return { clique, values: whole.values, parts: parts.map((part) => [part, whole.spread ** 2]), bounded: true };
  const lifted = new Map();
  for (const m of data.measurements) {
    const shared = clique.filter((column) => m.columns.includes(column)), name = shared.join();
    const weight = cells / (m.values.length * m.variance), scale = weight * cellsOf(shared) / cells;
    const entry = lifted.get(name) ?? { shared, precision: 0, sums: new Array(cellsOf(shared)).fill(0) };
    project(m.values, m.columns, shared).forEach((x, i) => { entry.sums[i] += scale * x; });
    entry.precision += weight;
    lifted.set(name, entry);
  }
  if (!lifted.has(key)) return null;
  const values = new Array(cells).fill(0), variances = [];
  for (const part of parts) {
    if (!part.length && data.total !== null && data.total.sigma === 0) {
      variances.push([part, 0]);
      for (let i = 0; i < cells; i++) values[i] += data.total.value / cells;
      continue;
    }
    const seen = [...lifted.values()].filter((entry) => part.every((column) => entry.shared.includes(column)));
    const precision = sum(seen.map((entry) => entry.precision)), mean = new Array(cellsOf(part)).fill(0);
    for (const entry of seen)
      project(entry.sums, entry.shared, part).forEach((x, i) => { mean[i] += x * cellsOf(part) / (cellsOf(entry.shared) * precision); });
    spread(depending(mean, part), part, clique).forEach((x, i) => { values[i] += x; });
    variances.push([part, 1 / precision]);
  }
  return { clique, values, parts: variances, bounded: false };
}
function depending(table, clique) { // the part that averages to zero along each column
  let result = table;
  for (const column of clique) {
    const others = clique.filter((other) => other !== column);
    const means = spread(project(result, clique, others).map((x) => x / size(column)), others, clique);
    result = result.map((x, i) => x - means[i]);
  }
  return result;
}
const noisySum = (noisy, f) => contract(noisy.values, noisy.clique, f, [])[0];
function covariance(noisy, f, g) {
  const even = {}, deviating = {};
  for (const column of noisy.clique) {
    const a = vectorOf(f, column), b = vectorOf(g, column);
    even[column] = sum(a) * sum(b) / a.length;
    deviating[column] = dot(a, b) - even[column];
  }
  return sum(noisy.parts.map(([part, variance]) =>
    noisy.clique.reduce((product, column) => product * (part.includes(column) ? deviating : even)[column], variance)));
}
function along(noisy, group, column) {
  let varying = 0, even = 0;
  const others = noisy.clique.filter((other) => other !== column).map((other) => {
    const f = vectorOf(group, other), level = sum(f) ** 2 / f.length;
    return [other, dot(f, f) - level, level];
  });
  for (const [part, variance] of noisy.parts) {
    const ofPart = others.reduce((product, [other, deviating, level]) => product * (part.includes(other) ? deviating : level), variance);
    if (part.includes(column)) varying += ofPart; else even += ofPart;
  }
  const outside = Object.fromEntries(Object.entries(group).filter(([name]) => Number(name) !== column));
  return [contract(noisy.values, noisy.clique, outside, [column]), varying, even];
}

// Intervals
const ratio = (above, below, aa, ab, bb) => ({ above, below, aa, ab, bb, value: below > 0 ? above / below : NaN });
const estimated = (noisy, v, g) =>
  ratio(noisySum(noisy, v), noisySum(noisy, g), covariance(noisy, v, v), covariance(noisy, v, g), covariance(noisy, g, g));
function fieller(e, z) {
  const a = e.below ** 2 - z ** 2 * e.bb;
  if (e.below <= 0 || a <= 0) return [-Infinity, Infinity];
  const b = e.above * e.below - z ** 2 * e.ab, c = e.above ** 2 - z ** 2 * e.aa, root = Math.sqrt(Math.max(0, b * b - a * c));
  return [(b - root) / a, (b + root) / a];
}
function within([low, high], least, most) {
  const half = (high - low) / 2;
  if (high <= least) [low, high] = [least, least + half];
  else if (low >= most) [low, high] = [most - half, most];
  return [Math.max(least, low), Math.min(most, high)];
}
function agreeing(first, second) {
  const low = Math.max(first[0], second[0]), high = Math.min(first[1], second[1]);
  return low <= high ? [low, high] : [Math.min(first[0], second[0]), Math.max(first[1], second[1])];
}
function moved([values, shares], limit) {
  const group = sum(shares), order = values.map((_, i) => i).sort((i, j) => values[i] - values[j] || i - j);
  const least = values[order[0]], most = values[order[order.length - 1]];
  if (limit >= group) return [least, most];
  const mean = dot(values, shares) / group;
  const transported = (cells, target) => {
    let before = 0, change = 0;
    for (const cell of cells) {
      change += (target - values[cell]) * Math.min(Math.max(limit - before, 0), shares[cell]);
      before += shares[cell];
    }
    return change;
  };
  return [Math.max(least, mean + transported([...order].reverse(), least) / group), Math.min(most, mean + transported(order, most) / group)];
}
function differing(first, second, shared, z) {
  const [low1, high1] = fieller(first, z), [low2, high2] = fieller(second, z);
  if (low1 === -Infinity || low2 === -Infinity) return [-Infinity, Infinity];
  const variances = [first, second].map((e) => Math.max(0, e.aa - 2 * e.value * e.ab + e.value ** 2 * e.bb));
  const scale = Math.sqrt(variances[0] * variances[1]);
  const correlation = shared === null ? -1 : scale > 0 ? Math.max(-1, Math.min(1, shared / scale)) : 0;
  const added = (a, b) => Math.sqrt(Math.max(0, a ** 2 + b ** 2 - 2 * correlation * a * b)), gap = first.value - second.value;
  return [gap - added(first.value - low1, high2 - second.value), gap + added(high1 - first.value, second.value - low2)];
}

// Answers
const nothing = () => ({ value: null, low: null, high: null, rows: null, disagree: false });
function answer(question) { // {statistic, among, cells, versus, column, columns}
  const asked = prepared(question), { statistic } = question;
  const mean = statedMean(question);
  if (mean !== null)
    return { stated: { ...nothing(), ...mean }, evidence: ["measured mean"], support: "", table: [], rows: data.rows, cells: [], standing: "" };
  if (!asked.countable) return null;
  if (statistic === "table") {
    const everybody = Object.keys(question.among).length === 0;
    const whole = everybody ? { ...nothing(), value: 1, low: 1, high: 1, rows: hasRows ? 1 : null }
      : meanOf(prepared({ statistic: "share", among: {}, cells: question.among, versus: {}, column: "", columns: [] }));
    return answered(asked, whole, tableOf(asked));
  }
  const ways = { count: countOf, median: medianOf, difference: differenceOf };
  return answered(asked, (ways[statistic] ?? meanOf)(asked), []);
}
function statedMean({ statistic, among, column }) { // of all people, where the release states it
  return statistic === "mean" && !Object.keys(among).length ? columns[place.get(column)].mean : null;
}
function prepared(question) {
  const names = [...Object.keys(question.among), ...Object.keys(question.cells), ...Object.keys(question.versus), ...question.columns];
  if (question.column) names.push(question.column);
  const clique = [...new Set(names.map((name) => place.get(name)))].sort((a, b) => a - b), noisy = estimateOf(clique);
  let cover = data.limits.find((limit) => clique.every((column) => limit.columns.includes(column))) ?? null; // smallest first
  if (noisy !== null && cover !== null && (!clique.length || cover.beside >= 1)) cover = null;
  const { statistic, among, cells, column } = question, ordered = column ? [...Array(columns[place.get(column)].ordered).keys()] : [];
  const ways = { count: among, share: Object.keys(among).length ? {} : cells, median: { [column]: ordered, ...among } };
  const ranged = rangeLimit(ways[statistic] ?? {});
  if (ranged !== null) cover = { ...ranged, columns: clique };
  const limit = cover === null ? null : noisy === null ? cover.alone : cover.beside, z = cover === null ? data.z.alone : data.z.beside;
  return { question, clique, noisy, cover, limit, z, countable: hasRows ? canCount(clique) : true };
}
function rangeLimit(cells) { // of people who are a range of a column, of everybody or within a cell of another column
  const names = Object.keys(cells), of = data.ranges;
  if (of === null || !names.length || names.length > 2) return null;
  const isRange = (name) => of.columns.includes(place.get(name)) && cells[name].length && cells[name][cells[name].length - 1] < columns[place.get(name)].ordered
    && cells[name].every((code, i) => code === cells[name][0] + i);
  if (names.length === 1) return isRange(names[0]) ? of.alone : null;
  const key = names.map((name) => place.get(name)).sort((a, b) => a - b).join(), [one, other] = names;
  const fits = (isRange(one) && cells[other].length === 1) || (isRange(other) && cells[one].length === 1);
  return fits && of.pairs.some((pair) => pair.join() === key) ? of.within : null;
}
function answered(asked, stated, cells) {
  const { noisy, cover, question } = asked, evidence = [];
  if (stated.low !== null || cells.length) {
    if (noisy !== null) evidence.push("noisy counts");
    if (cover !== null) evidence.push("limit of a table");
  }
  return {
    stated, evidence, support: cover === null ? "" : cover.support, table: cover === null ? [] : cover.columns.map((c) => columns[c].name),
    rows: hasRows ? sum(rowsIn(weights(question.among), [])) : null, cells,
    standing: question.column && question.statistic !== "median" ? columns[place.get(question.column)].standing : "",
  };
}
function stating(rows, counted, limited, estimate) {
  const value = estimate === null ? rows : estimate;
  if (counted === null && limited === null) return { ...nothing(), value, rows };
  const [low, high] = counted !== null && limited !== null ? agreeing(counted, limited) : counted ?? limited;
  const slack = 1e-9 * Math.max(1, Math.abs(low), Math.abs(high)), disagree = rows !== null && !(low - slack <= rows && rows <= high + slack);
  return {
    value: value === null ? null : clamped(value, low, high), low: disagree ? Math.min(low, rows) : low,
    high: disagree ? Math.max(high, rows) : high, rows, disagree,
  };
}
const meanOfRows = (rows) => (rows === null || !(sum(rows[1]) > 0) ? null : dot(rows[0], rows[1]) / sum(rows[1]));
const less = (first, second) => (first === null || second === null ? null : first - second);
function estimateIn(e, z, possible) { // null where rows say more, because the group may be empty for all that is counted
  return Number.isNaN(e.value) || (hasRows && fieller(e, z)[0] === -Infinity) ? null : clamped(e.value, ...possible);
}
const rowsShare = (group) => (hasRows ? rowsIn(group, [])[0] / Math.max(1, data.rows) : null);
const clamped = (x, low, high) => Math.min(Math.max(x, low), high);
function countOf({ question, noisy, limit, z }) {
  const group = weights(question.among), share = rowsShare(group), total = data.total;
  const rows = share === null || total === null ? null : share * total.value;
  let counted = null, limited = null, estimate = null;
  if (noisy !== null) {
    const counts = noisySum(noisy, group), margin = z * Math.sqrt(Math.max(0, covariance(noisy, group, group)));
    estimate = Math.max(0, counts);
    counted = within([counts - margin, counts + margin], 0, total === null || total.sigma ? Infinity : total.value);
  }
  if (limit !== null && share !== null && total !== null)
    limited = [Math.max(0, total.value - total.doubt) * Math.max(0, share - limit), (total.value + total.doubt) * Math.min(1, share + limit)];
  return stating(rows, counted, limited, estimate);
}
const valuesOf = (question) => columns[place.get(question.column)].values;
function insideOf(question, among) {
  return vectorOf(weights(among), place.get(question.column));
}
function rangeOf(question, among) {
  const inside = insideOf(question, among), finite = valuesOf(question).filter((x, i) => x !== null && inside[i]);
  return finite.length ? [finite.reduce((a, b) => Math.min(a, b)), finite.reduce((a, b) => Math.max(a, b))] : [NaN, NaN];
}
function over(question, among) { // the mean of the question's column over a group, or the share of it that is in the question's cells
  const group = weights(among), per = Math.max(1, data.rows), { statistic, cells } = question;
  if (statistic === "share" || !question.column) {
    const v = times(group, weights(cells)), inside = rowsShare(v);
    return { v, g: group, rows: inside === null ? null : [[0, 1], [rowsShare(group) - inside, inside]], possible: [0, 1] };
  }
  const column = place.get(question.column), values = valuesOf(question), counts = hasRows ? rowsIn(group, [column]) : null;
  const inside = insideOf(question, among), usable = values.map((_, i) => i).filter((i) => values[i] !== null && inside[i]);
  const g = times(group, { [column]: values.map((x) => (x === null ? 0 : 1)) }), v = times(g, { [column]: values.map((x) => x ?? 0) });
  const rows = counts === null ? null : [usable.map((i) => values[i]), usable.map((i) => counts[i] / per)];
  return { v, g, rows, possible: rangeOf(question, among) };
}
function meanOf({ question, noisy, limit, z }) {
  const { v, g, rows, possible } = over(question, question.among);
  return Number.isNaN(possible[0]) ? nothing() : meanStated(rows, noisy === null ? null : estimated(noisy, v, g), limit, z, possible);
}
function meanStated(rows, e, limit, z, possible) {
  const counted = e === null ? null : within(fieller(e, z), ...possible);
  const limited = limit === null || rows === null ? null : moved(rows, limit);
  return stating(meanOfRows(rows), counted, limited, e === null ? null : estimateIn(e, z, possible));
}
function differenceOf({ question, noisy, limit, z }) {
  const [one, other] = [question.among, question.versus].map((among) => over(question, among)), [least, most] = one.possible;
  if (Number.isNaN(least + other.possible[0])) return nothing();
  let counted = null, limited = null, estimate = null;
  if (noisy !== null) {
    const [first, second] = [one, other].map(({ v, g }) => estimated(noisy, v, g));
    const shared = noisy.bounded ? null : Number.isNaN(first.value) || Number.isNaN(second.value) ? 0
      : covariance(noisy, one.v, other.v) - second.value * covariance(noisy, one.v, other.g) - first.value * covariance(noisy, one.g, other.v)
        + first.value * second.value * covariance(noisy, one.g, other.g);
    counted = within(differing(first, second, shared, z), least - other.possible[1], most - other.possible[0]);
    estimate = less(estimateIn(first, z, one.possible), estimateIn(second, z, other.possible));
  }
  if (limit !== null && one.rows !== null) {
    const [low1, high1] = moved(one.rows, limit), [low2, high2] = moved(other.rows, limit);
    limited = [low1 - high2, high1 - low2];
  }
  return stating(less(meanOfRows(one.rows), meanOfRows(other.rows)), counted, limited, estimate);
}
function medianOf({ question, noisy, limit, z }) {
  const column = place.get(question.column), { ordered } = columns[column], group = weights(question.among);
  const inside = insideOf(question, question.among).map((x, i) => (i < ordered ? x : 0));
  const possible = inside.map((_, i) => i).filter((i) => inside[i] > 0);
  if (!possible.length) return nothing();
  let value = null, counted = null, limited = null, estimate = null;
  const counts = hasRows ? rowsIn(group, [column]).slice(0, ordered) : null;
  if (counts !== null && sum(counts)) {
    let reached = 0;
    value = counts.findIndex((count) => 2 * (reached += count) >= sum(counts));
  }
  if (noisy !== null) [counted, estimate] = countedMedian(noisy, group, column, inside, possible, z);
  if (limit !== null && counts !== null) {
    const shares = counts.map((count) => count / Math.max(1, data.rows));
    let reached = 0;
    const upTo = shares.map((share) => (reached += share)), half = reached / 2;
    const likely = possible.filter((k) => upTo[k] + limit >= half && upTo[k] - shares[k] - limit <= half);
    limited = [likely[0], likely[likely.length - 1]];
  }
  return stating(value, counted, limited, estimate);
}
function countedMedian(noisy, group, column, inside, possible, z) {
  const [whole, varying, even] = along(noisy, group, column), number = sum(inside), counts = whole.map((x, i) => x * inside[i]);
  const half = sum(counts) / 2, overHalf = (total, cells, sign) => {
    const level = (cells - number / 2) ** 2 / whole.length;
    return total - half + sign * z * Math.sqrt(Math.max(0, varying * (number / 4 - level) + even * level));
  };
  let upTo = 0, before = 0, reached = null;
  const likely = [];
  for (let k = 0; k <= possible[possible.length - 1]; k++) {
    upTo += counts[k];
    before += inside[k];
    if (!inside[k]) continue;
    if (reached === null && upTo >= half) reached = k;
    if (overHalf(upTo, before, 1) >= 0 && overHalf(upTo - counts[k], before - inside[k], -1) <= 0) likely.push(k);
  }
  const last = possible[possible.length - 1];
  return [likely.length ? [likely[0], likely[likely.length - 1]] : [possible[0], last], reached ?? last];
}
function tableOf({ question, noisy, limit, z }) {
  const kept = question.columns.map((name) => place.get(name)), group = weights(question.among);
  const counts = hasRows ? rowsIn(group, kept) : null, total = counts === null ? 0 : sum(counts);
  const counted = noisy === null ? null : cellEstimates(noisy, group, kept), inside = kept.map((column) => vectorOf(group, column));
  return Array.from({ length: cellsOf(kept) }, (_, cell) => {
    if (!codesOf(cell, kept).every((code, axis) => inside[axis][code])) return { ...nothing(), value: 0, low: 0, high: 0, rows: hasRows ? 0 : null };
    const rows = counts === null ? null : [[0, 1], [(total - counts[cell]) / Math.max(1, data.rows), counts[cell] / Math.max(1, data.rows)]];
    return meanStated(rows, counted === null ? null : counted[cell], limit, z, [0, 1]);
  });
}
function cellEstimates(noisy, group, kept) {
  const outside = Object.fromEntries(Object.entries(group).filter(([column]) => !kept.includes(Number(column))));
  const above = contract(noisy.values, noisy.clique, outside, kept), one = { ...group };
  for (const column of kept) one[column] = indicator(column, [vectorOf(group, column).findIndex((x) => x > 0)]);
  const moments = [covariance(noisy, one, one), covariance(noisy, one, group), covariance(noisy, group, group)], below = noisySum(noisy, group);
  return above.map((x) => ratio(x, below, ...moments));
}

// How closely it is known
function light(question, { value, low, high, disagree }) { // of a cross table: of one of its cells
  if (value === null || low === null || high === null || disagree) return "unknown";
  const [least, most, middle] = endsOf(question), { statistic } = question;
  const nothing = Number.isFinite(most) ? 1e-9 * (most - least) : 0; // the core computes the same in another order
  if (low <= least + nothing && high >= most - nothing && high - low > nothing) return "unknown";
  if (statistic === "median") return low === high ? "closely" : "roughly";
  const column = question.column ? columns[place.get(question.column)] : null;
  if (column !== null && (column.cut || (column.standing === "means" && statedMean(question) === null))) return "roughly";
  const room = statistic === "count" || statistic === "difference" ? Math.abs(value) : Math.min(value - least, most - value);
  const reach = Math.max(high - value, value - low) + middle;
  return reach <= data.limit * room + 1e-6 * Math.abs(value) + nothing ? "closely" : "roughly";
}
function endsOf(question) { // the least and the largest answer that there can be, and how far values may be from the middles of cells
  const { statistic, column, among, versus } = question, differs = statistic === "difference";
  if (statistic === "count") return [0, data.total === null ? Infinity : data.total.value, 0];
  if (!column) return [differs ? -1 : 0, 1, 0];
  const { half, ordered } = columns[place.get(column)];
  if (statistic === "median") {
    const inside = insideOf(question, among), possible = inside.map((_, i) => i).filter((i) => i < ordered && inside[i]);
    return [possible[0], possible[possible.length - 1], 0];
  }
  const [least, most] = rangeOf(question, among);
  if (!differs) return [least, most, statedMean(question) === null ? half : 0];
  const [least2, most2] = rangeOf(question, versus);
  return [least - most2, most - least2, 2 * half];
}

// Breakdowns
const codesBy = ({ among }, by) => (Object.hasOwn(among, by) ? among[by] : columns[place.get(by)].cells.map((_, code) => code));
function breakdown(question, by) {
  const lines = [];
  for (const code of codesBy(question, by)) {
    const got = answer({ ...question, among: { ...question.among, [by]: [code] } });
    if (got === null) return null;
    const standing = !got.evidence.length ? "guess" : got.evidence.includes("noisy counts") ? "measured" : "bound";
    lines.push({ code, answer: got, standing });
  }
  return lines;
}
function codesOf(cell, table) {
  const found = [];
  for (let axis = table.length - 1, left = cell; axis >= 0; left = Math.floor(left / size(table[axis--]))) found.unshift(left % size(table[axis]));
  return found;
}

// Sentences
const visible = (text) => text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu, " ");
const phrase = (key, values) => data.phrases[key].replace(/\{(\w+)\}/g, (_, name) => values[name]);
function rounded(value, digits) {
  const scaled = BigInt(Math.floor(Math.abs(value) * 10 ** digits + 0.5 + 1e-7)), unit = 10n ** BigInt(digits);
  const whole = (scaled / unit).toString().replace(/\B(?=(\d{3})+$)/g, ","), rest = (scaled % unit).toString().padStart(digits, "0");
  return (value < 0 && scaled ? "-" : "") + whole + (digits ? "." + rest : "");
}
function cellsPhrase(cells) {
  const named = Object.keys(cells).sort((a, b) => place.get(a) - place.get(b));
  return named.map((name) => `${visible(name)} ${listed(columns[place.get(name)].cells, cells[name])}`).join(" and ");
}
function listed(labels, chosen) {
  const sorted = [...new Set(chosen)].sort((a, b) => a - b), more = sorted.length - data.named;
  return sorted.slice(0, data.named).map((code) => `“${visible(labels[code])}”`).join(" or ") + (more > 0 ? ` or ${more} more` : "");
}
const groupPhrase = (cells) => (Object.keys(cells).length ? phrase("people", { cells: cellsPhrase(cells) }) : data.phrases.everybody);
function columnPhrase({ statistic, column }) { // with the bounds that values were cut to, where a mean is asked for
  return column && statistic !== "median" ? columns[place.get(column)].mean_of : visible(column);
}
function numberText(question, value) {
  if (question.statistic === "count") return rounded(value, 0);
  const column = question.column ? columns[place.get(question.column)] : null;
  if (question.statistic === "median") return visible(column.cells[value]);
  if (column !== null) return rounded(value, column.decimals);
  return rounded(100 * value, 1) + (question.statistic === "difference" ? " points" : "%");
}
function sentences(question, { stated, evidence, support, table, rows, standing }) {
  const { statistic } = question, shown = (value) => numberText(question, value), said = [];
  const kind = statistic === "difference" ? (question.column ? "difference of means" : "difference of shares")
    : statistic === "count" && !Object.keys(question.among).length ? "count of everybody" : statistic;
  if (stated.value === null) said.push(data.phrases.nobody);
  else said.push(phrase(kind, {
    value: shown(stated.value), group: groupPhrase(question.among), versus: groupPhrase(question.versus), cells: cellsPhrase(question.cells),
    column: columnPhrase(question), columns: visible(question.columns.join(" × ")),
  }));
  const beside = besideSentence(question, stated);
  if (beside) said.push(beside);
  if (statistic === "table") { if (evidence.length) said.push(data.phrases.intervals); }
  else if (stated.low !== null) {
    const shares = statistic === "share" || (statistic === "difference" && !question.column);
    const open = shares && stated.high >= 1 && stated.low <= (statistic === "share" ? 0 : -1);
    const low = shown(stated.low), high = shown(stated.high);
    said.push(phrase(open ? "open" : low === high ? "same" : statistic === "median" ? "groups" : "interval", { low, high }));
    if (stated.disagree) said.push(data.phrases.disagree);
  }
  said.push(evidenceSentence(evidence, support, table));
  if (standing) {
    const { half, decimals } = columns[place.get(question.column)];
    said.push(phrase(standing, { half: rounded(half, decimals) }));
  }
  if (rows !== null && rows > 0 && rows < data.few) said.push(phrase("few", { rows }));
  return said;
}
function besideSentence(question, { value, rows }) { // what the rows say, where the answer is another one as it is read
  if (value === null || rows === null || question.statistic === "table" || numberText(question, rows) === numberText(question, value)) return "";
  return phrase("rows", { rows: numberText(question, rows) });
}
function evidenceSentence(evidence, support, table) {
  if (!evidence.length) return data.phrases.guess;
  if (support === "ranges") return phrase(evidence.length === 2 ? "both ranges" : "ranges", {});
  if (evidence[0] === "measured mean") return data.phrases["measured mean"];
  const key = evidence.length === 2 ? "both" : evidence[0] === "limit of a table" && support === "inferred" ? "inferred" : evidence[0];
  return phrase(key, { table: visible(table.join(" × ")) || "of all people" });
}
function breakdownSentences(question, by) {
  const values = { by: visible(by), group: groupPhrase(question.among), cells: cellsPhrase(question.cells), column: columnPhrase(question) };
  return [phrase(`${question.statistic} by`, values), data.phrases.lines];
}
function lineTexts(question, by, line) {
  const { value, low, high, rows, disagree } = line.answer.stated;
  const numbers = [value, low, high, ...(hasRows ? [rows] : [])].map((x) => (x === null ? "–" : numberText(question, x)));
  return [visible(columns[place.get(by)].cells[line.code]), ...numbers, data.phrases[`${disagree ? "disagree" : line.standing} line`]];
}
function subgroupTexts(one) {
  const who = cellsPhrase(Object.fromEntries(one.columns.map((column, i) => [columns[column].name, [one.codes[i]]])));
  const people = [one.value, one.low, one.high].map((x) => rounded(x, 0)), shares = [one.surely, one.perhaps].map((x) => (x > 1 ? data.phrases.whole : `${rounded(100 * x, 1)}%`));
  return [who, ...people, ...shares, data.phrases[one.measured ? "measured line" : "bound line"]];
}
function worstSentences(subgroups) {
  if (!subgroups.length) return [data.phrases["worst none"]];
  const [value, people, low, high] = subgroupTexts(subgroups[0]), key = subgroups[0].surely > 0 ? "worst for sure" : "worst";
  return [phrase(key, { value, people, low, high }), phrase("worst of", { least: `${rounded(100 * data.least_share, 0)}% of the people` })];
}
