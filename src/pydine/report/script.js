// Draws the matrix and the rows behind a pair. Names come from a file that nobody has checked: they are only ever
// written as text (textContent, fillText), never as HTML.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const p = data.names.length;
  const at = (id) => document.getElementById(id);
  const cells = at("cells"), board = at("board"), tip = at("tip");

  // Light pages go from pale to dark, dark pages from dark to bright: in both, more information stands out more, and
  // lightness alone tells the order, whatever colours one sees.
  const PALETTES = {
    light: ["#f1f2ee", "#d6e2dc", "#a9cbcb", "#74aebd", "#4189aa", "#1d618f", "#133c68", "#0c1f40"],
    dark: ["#1d222a", "#1f3448", "#234d6e", "#2d6b90", "#4a8cab", "#79aebd", "#b0d0c9", "#f0f3d9"],
  };
  const dark = matchMedia("(prefers-color-scheme: dark)");
  let printing = false;
  const palette = () => PALETTES[dark.matches && !printing ? "dark" : "light"].map(rgb);
  const rgb = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
  function colour(stops, t) {
    const x = Math.min(Math.max(t, 0), 1) * (stops.length - 1);
    const k = Math.min(Math.floor(x), stops.length - 2);
    return stops[k].map((c, i) => Math.round(c + (x - k) * (stops[k + 1][i] - c)));
  }
  const css = (c) => `rgb(${c[0]},${c[1]},${c[2]})`;
  const isBright = (c) => 0.299 * c[0] + 0.587 * c[1] + 0.114 * c[2] > 140;
  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const font = (size, weight = "") => `${weight} ${size}px ${style("--text")}`;

  // --- numbers -------------------------------------------------------------------------------------------------------
  const number = (v) => (v === null ? NaN : Number(v));
  const nats = (v) => (v === Infinity ? "∞" : fixed(v, 3));
  const fixed = (v, digits) => {
    const text = v.toFixed(digits);
    return (Number(text) === 0 ? (0).toFixed(digits) : text).replace("-", "−");
  };
  const pvalue = (v) => (isNaN(v) ? "–" : v < 1e-4 ? "< 0.0001" : v < 0.01 ? v.toPrecision(2) : v.toFixed(3));
  const short = (text, most = 40) => {
    const letters = Array.from(text);
    const half = (most - 1) >> 1;
    return letters.length <= most ? text : letters.slice(0, half).join("") + "…" + letters.slice(-half).join("");
  };
  // The correlation of a Gaussian pair with so many nats: what colours follow, and columns are ordered by.
  const correlation = (v) => Math.sqrt(Math.max(0, -Math.expm1(-2 * Math.max(v, 0))));
  // Where the pair i < j of q variables stands in the upper triangle, row by row.
  const place = (i, j, q) => i * q - (i * (i + 1)) / 2 + j - i - 1;

  function answer(table, i, j, q) {
    const k = place(Math.min(i, j), Math.max(i, j), q);
    return {
      value: number(table.value[k]),
      low: number(table.low[k]),
      high: number(table.high[k]),
      p: number(table.p[k]),
      n: table.n[k],
      adjusted: number(table.adjusted[k]),
      base: data.bases[table.base[k]],
    };
  }
  const rank = (i, j) => number(data.spearman[place(Math.min(i, j), Math.max(i, j), p)]);
  const alone = (i, j) => answer(data.pairs, i, j, p);
  const within = data.rest && new Map(data.rest.columns.map((column, k) => [column, k]));
  const givenRest = (i, j) =>
    within && within.has(i) && within.has(j) ? answer(data.rest, within.get(i), within.get(j), within.size) : null;
  const inUnit = (v) => (at("unit").value === "nats" ? v : correlation(v));
  const interval = (a) => (isFinite(a.value) && isFinite(a.low) ? `${nats(a.low)} to ${nats(a.high)}` : "–");
  const pairName = (i, j, most) => `${short(data.names[i], most)} and ${short(data.names[j], most)}`;

  // --- the matrix ----------------------------------------------------------------------------------------------------
  let order = data.order;
  let cursor = null; // places in the order: [row, column]
  let chosen = null; // columns: [i, j]
  const view = { cell: 0, left: 0, top: 0, names: false };
  const picture = document.createElement("canvas"); // the matrix without marks, so that pointing redraws no cells
  const side = () => view.left + p * view.cell + 2;

  function prepare(canvas, width, height) {
    const ratio = Math.max(window.devicePixelRatio || 1, printing ? 3 : 1);
    const [w, h] = [width, height].map((side) => Math.round(side * ratio));
    if (canvas.width !== w) canvas.width = w;
    if (canvas.height !== h) canvas.height = h;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    return context;
  }

  function fit(context, text, room) {
    if (context.measureText(text).width <= room) return text;
    let most = Array.from(text).length; // beginnings and ends are what differs
    while (most > 3 && context.measureText(short(text, most)).width > room) most--;
    return short(text, most);
  }

  function layout() {
    at("pair").parentElement.classList.toggle("large", p > 24);
    const room = board.clientWidth;
    const context = cells.getContext("2d");
    context.font = font(12, "600");
    const longest = Math.max(...data.names.map((name) => context.measureText(short(name, 24)).width));
    const margin = Math.min(Math.ceil(longest) + 10, room < 480 ? 86 : 130);
    const smallest = p > 80 ? 4 : p > 40 ? 9 : 22;
    view.cell = Math.max(smallest, Math.min(52, Math.floor((room - margin - 2) / p)));
    view.names = view.cell >= 9;
    if (!view.names) view.cell = Math.max(smallest, Math.min(52, Math.floor((room - 4) / p)));
    view.left = view.top = view.names ? margin : 2;
  }

  function paint() {
    const { cell, left, top } = view;
    const stops = palette();
    const fade = at("fade").checked;
    const context = prepare(picture, side(), side());
    const gap = cell >= 12 ? 1 : 0;
    const size = Math.min(12, cell - 1);
    for (let r = 0; r < p; r++) {
      for (let c = 0; c < p; c++) {
        const x = left + c * cell, y = top + r * cell;
        if (r === c) {
          context.fillStyle = ink.rule;
          if (cell >= 12) context.fillRect(x + cell / 2 - 1, y + cell / 2 - 1, 3, 3);
          continue;
        }
        const k = place(Math.min(order[r], order[c]), Math.max(order[r], order[c]), p);
        const value = number(data.pairs.value[k]);
        const hidden = fade && !(number(data.pairs.adjusted[k]) <= data.alpha);
        const fill = colour(stops, hidden || isNaN(value) ? 0 : correlation(value));
        context.fillStyle = css(fill);
        context.fillRect(x, y, cell - gap, cell - gap);
        if (cell >= 34 && !hidden) {
          context.fillStyle = isBright(fill) ? "#1d2126" : "#ffffff";
          context.font = font(11);
          context.textAlign = "center";
          context.textBaseline = "middle";
          context.fillText(isNaN(value) ? "–" : inUnit(value) === Infinity ? "∞" : fixed(inUnit(value), 2), x + cell / 2, y + cell / 2);
        }
      }
    }
    if (view.names) {
      for (let k = 0; k < p; k++) {
        const isTarget = order[k] === data.target;
        context.font = font(size, isTarget ? "600" : "");
        context.fillStyle = isTarget ? ink.accent : ink.ink;
        context.textBaseline = "middle";
        context.textAlign = "right";
        const label = fit(context, data.names[order[k]], left - 10);
        context.fillText(label, left - 6, top + (k + 0.5) * cell);
        context.save();
        context.translate(left + (k + 0.5) * cell, top - 6);
        context.rotate(-Math.PI / 2);
        context.textAlign = "left";
        context.fillText(label, 0, 0);
        context.restore();
      }
    }
    draw();
  }

  function draw() {
    const context = prepare(cells, side(), side());
    context.drawImage(picture, 0, 0, side(), side());
    outline(context, cursor, ink.warm, 2);
    if (chosen) outline(context, [order.indexOf(chosen[0]), order.indexOf(chosen[1])], ink.accent, 2);
  }
  let ink = {}; // colours of the page
  const readStyle = () => {
    ink = Object.fromEntries(["ink", "muted", "rule", "accent", "warm", "page"].map((n) => [n, style(`--${n}`)]));
  };

  function outline(context, where, stroke, width) {
    if (!where) return;
    context.strokeStyle = stroke;
    context.lineWidth = width;
    context.strokeRect(view.left + where[1] * view.cell - 0.5, view.top + where[0] * view.cell - 0.5, view.cell, view.cell);
  }

  function drawScale() {
    const width = Math.min(260, board.clientWidth - 60), height = 30;
    const context = prepare(at("scale"), width + 24, height);
    const stops = palette();
    for (let x = 0; x < width; x++) {
      context.fillStyle = css(colour(stops, x / (width - 1)));
      context.fillRect(12 + x, 0, 1.5, 10);
    }
    context.fillStyle = ink.muted;
    context.font = font(11);
    context.textAlign = "center";
    context.textBaseline = "top";
    const inNats = at("unit").value === "nats";
    at("scale-unit").textContent = inNats ? "nats" : "correlation scale";
    if (inNats) for (const value of [0, 0.02, 0.1, 0.3, 1]) context.fillText(String(value), 12 + correlation(value) * width, 15);
    else for (const value of [0, 0.2, 0.4, 0.6, 0.8, 1]) context.fillText(String(value), 12 + value * width, 15);
    if (inNats) context.fillText("∞", 12 + width, 15);
  }

  function hit(event) {
    const box = cells.getBoundingClientRect();
    const r = Math.floor((event.clientY - box.top - view.top) / view.cell);
    const c = Math.floor((event.clientX - box.left - view.left) / view.cell);
    return r >= 0 && c >= 0 && r < p && c < p && r !== c ? [r, c] : null;
  }

  // --- what is said of a pair ----------------------------------------------------------------------------------------
  function describe(i, j, rest) {
    const a = rest ? givenRest(i, j) : alone(i, j);
    return [
      `${nats(a.value)} nats${rest ? " given the rest" : ""}, 95% interval ${interval(a)}`,
      rest ? `p ${pvalue(a.adjusted)}` : `p ${pvalue(a.adjusted)}, Spearman ${isNaN(rank(i, j)) ? "–" : fixed(rank(i, j), 2)}`,
      `${a.n.toLocaleString("en")} rows, ${a.base} base`,
    ];
  }

  // Beside the cell (a box on the screen), never over it.
  function showTip(i, j, around, rest = false) {
    const title = document.createElement("strong");
    title.textContent = pairName(i, j);
    const lines = describe(i, j, rest).map((text) => {
      const line = document.createElement("div");
      line.textContent = text;
      return line;
    });
    tip.replaceChildren(title, ...lines);
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    const below = around.bottom + 10 + box.height <= innerHeight;
    tip.style.left = `${Math.max(8, Math.min(around.left, innerWidth - box.width - 8))}px`;
    tip.style.top = `${below ? around.bottom + 10 : around.top - box.height - 10}px`;
  }
  const hideTip = () => { tip.hidden = true; };

  const unpack = (packed) => {
    const bytes = Uint8Array.from(atob(packed.steps), (c) => c.charCodeAt(0));
    const view16 = new DataView(bytes.buffer);
    const m = data.points.n;
    return (column) => {
      const [low, high] = packed.ends[column];
      return Array.from({ length: m }, (_, row) => {
        const step = view16.getUint16(2 * (column * m + row), true);
        return step === 65535 ? NaN : low * (1 - step / 65534) + high * (step / 65534);
      });
    };
  };
  const values = unpack(data.points.values), latents = unpack(data.points.latents);

  function choose(i, j, scroll = false) {
    chosen = [i, j];
    at("pair-title").textContent = pairName(i, j, 60);
    const a = alone(i, j), rest = givenRest(i, j);
    const facts = [
      ["information", `${nats(a.value)} nats` + (isFinite(a.value) ? ` (${fixed(a.value / Math.LN2, 3)} bits)` : "")],
      ["95% interval", interval(a)],
      ["as a correlation", isNaN(a.value) ? "–" : fixed(correlation(a.value), 2)],
      ["Spearman", isNaN(rank(i, j)) ? "–" : fixed(rank(i, j), 2)],
      ["p", pvalue(a.adjusted)],
      ["rows, base", `${a.n.toLocaleString("en")}, ${a.base}`],
    ];
    if (rest) facts.push(["given the rest", `${nats(rest.value)} nats, p ${pvalue(rest.adjusted)}`]);
    at("pair-facts").replaceChildren(...facts.flatMap(([term, text]) => {
      const dt = document.createElement("dt"), dd = document.createElement("dd");
      dt.textContent = term;
      dd.textContent = text;
      return [dt, dd];
    }));
    const { n } = data.points;
    at("pair-rows").textContent = n < data.n ? `${n.toLocaleString("en")} of ${data.n.toLocaleString("en")} rows, drawn at random.` : "";
    drawPair();
    draw();
    if (scroll) at("pair").scrollIntoView({ block: "nearest" });
  }

  // --- scatter plots -------------------------------------------------------------------------------------------------
  function ticks(low, high, most) {
    const raw = (high - low) / most;
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw);
    const marks = [];
    for (let k = Math.ceil(low / step); k * step <= high + 1e-9 * step && marks.length < 20; k++) marks.push(k * step);
    return { marks, step };
  }
  function tickText(value, step) {
    if (Math.abs(value) >= 1e5 || (value !== 0 && Math.abs(value) < 1e-3)) return value.toExponential(0).replace("-", "−");
    return value.toFixed(Math.max(0, Math.min(6, -Math.floor(Math.log10(step) + 1e-9)))).replace("-", "−");
  }

  // A frame with axes; a side with levels has a slot for each of them. Gives the context and where values are.
  function axes(canvas, x, y) {
    const width = Math.max(200, Math.floor(canvas.parentElement.clientWidth)), height = Math.round(Math.min(0.58 * width, 280));
    const context = prepare(canvas, width, height);
    context.font = font(11);
    // Names of levels have the room that they need, up to a third of the picture.
    const widest = y.levels ? Math.max(...y.levels.map((text) => context.measureText(text).width)) : 0;
    const room = Math.min(Math.max(34, Math.ceil(widest)), Math.floor(width / 3));
    const frame = { left: room + (y.levels ? 26 : 18), right: width - 8, top: 8, bottom: height - 38 };
    const range = (side) => {
      if (side.levels) return [-0.5, side.levels.length - 0.5];
      const low = Math.min(...side.values), high = Math.max(...side.values), pad = 0.04 * (high - low) || 0.5;
      return [low - pad, high + pad];
    };
    const [x0, x1] = range(x), [y0, y1] = range(y);
    const px = (v) => frame.left + ((v - x0) / (x1 - x0)) * (frame.right - frame.left);
    const py = (v) => frame.bottom - ((v - y0) / (y1 - y0)) * (frame.bottom - frame.top);
    const marks = (side, low, high, most) => {
      if (side.levels) return side.levels.map((text, k) => [k, text]);
      const { marks, step } = ticks(low, high, most);
      return marks.map((v) => [v, tickText(v, step)]);
    };
    context.fillStyle = ink.muted;
    context.strokeStyle = ink.rule;
    context.lineWidth = 1;
    context.textBaseline = "top";
    context.textAlign = "center";
    const slot = (frame.right - frame.left) / (x.levels ? x.levels.length : 1);
    for (const [v, text] of marks(x, x0, x1, width < 300 ? 4 : 6)) {
      if (!x.levels) line(context, px(v), frame.top, px(v), frame.bottom);
      context.fillText(x.levels ? fit(context, text, slot - 4) : text, px(v), frame.bottom + 5);
    }
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const [v, text] of marks(y, y0, y1, 5)) {
      if (!y.levels) line(context, frame.left, py(v), frame.right, py(v));
      context.fillText(y.levels ? fit(context, text, room) : text, frame.left - 5, py(v));
    }
    context.fillStyle = ink.ink;
    context.textBaseline = "bottom";
    context.fillText(fit(context, x.name, frame.right - frame.left), frame.right, height - 3);
    context.save();
    context.translate(11, frame.top);
    context.rotate(-Math.PI / 2);
    context.textBaseline = "middle";
    context.fillText(fit(context, y.name, frame.bottom - frame.top), 0, 0);
    context.restore();
    canvas.setAttribute("aria-label", `${x.values.length} rows of ${y.name} against ${x.name}`);
    return { context, px, py, frame };
  }

  const quantile = (sorted, q) => {
    const at = q * (sorted.length - 1), k = Math.floor(at);
    return sorted[k] + (at - k) * ((sorted[k + 1] ?? sorted[k]) - sorted[k]);
  };

  // Points, and the running median as a trend.
  function scatter(canvas, x, y) {
    const { context, px, py } = axes(canvas, x, y);
    context.fillStyle = ink.accent;
    context.globalAlpha = 0.5;
    const radius = x.values.length > 250 ? 2.2 : 2.8;
    x.values.forEach((v, k) => dot(context, px(v), py(y.values[k]), radius));
    context.globalAlpha = 1;
    const order = x.values.map((_, k) => k).sort((a, b) => x.values[a] - x.values[b]);
    const span = Math.max(12, Math.round(order.length / 8));
    if (order.length < 3 * span) return;
    context.strokeStyle = ink.warm;
    context.lineWidth = 2;
    context.beginPath();
    for (let k = 0; k + span <= order.length; k += Math.max(1, span >> 2)) {
      const part = order.slice(k, k + span);
      const middle = (side) => quantile(part.map((i) => side.values[i]).sort((a, b) => a - b), 0.5);
      context.lineTo(px(middle(x)), py(middle(y)));
    }
    context.stroke();
  }

  // Boxes from quartile to quartile with the rows beside them, one for each level of a side.
  function boxes(canvas, x, y) {
    const { context, px, py, frame } = axes(canvas, x, y);
    const across = Boolean(x.levels), [by, of] = across ? [x, y] : [y, x];
    const slot = (across ? frame.right - frame.left : frame.bottom - frame.top) / by.levels.length;
    const mark = (level, v, draw) => (across ? draw(px(level), py(v)) : draw(px(v), py(level)));
    by.levels.forEach((_, level) => {
      const rows = of.values.filter((_, k) => by.values[k] === level).sort((a, b) => a - b);
      if (!rows.length) return;
      context.fillStyle = ink.accent;
      context.globalAlpha = 0.35;
      rows.forEach((v, k) => {
        const shift = (((k * 0.618034) % 1) - 0.5) * 0.5 * slot;
        mark(level, v, (cx, cy) => dot(context, across ? cx + shift : cx, across ? cy : cy + shift, 1.9));
      });
      context.globalAlpha = 1;
      context.strokeStyle = ink.warm;
      context.lineWidth = 1.6;
      const half = Math.min(0.3 * slot, 26), [low, middle, high] = [0.25, 0.5, 0.75].map((q) => quantile(rows, q));
      const a = across ? [px(level) - half, py(high), 2 * half, py(low) - py(high)] : [px(low), py(level) - half, px(high) - px(low), 2 * half];
      context.strokeRect(...a);
      context.lineWidth = 3;
      if (across) line(context, px(level) - half, py(middle), px(level) + half, py(middle));
      else line(context, px(middle), py(level) - half, px(middle), py(level) + half);
    });
  }

  // Tiles as wide as a level of x is frequent, divided as y is within it.
  function mosaic(canvas, x, y) {
    const { context, frame } = axes(canvas, x, { ...y, levels: null, values: [0, 1], name: `${y.name} (share)` });
    const stops = palette(), n = x.values.length;
    context.clearRect(frame.left, frame.top, frame.right - frame.left + 8, frame.bottom - frame.top + 20);
    context.font = font(11);
    context.textAlign = "center";
    let left = frame.left;
    x.levels.forEach((label, level) => {
      const column = y.values.filter((_, k) => x.values[k] === level);
      const width = (column.length / n) * (frame.right - frame.left);
      let top = frame.bottom;
      y.levels.forEach((text, other) => {
        const share = column.filter((v) => v === other).length / (column.length || 1);
        const tall = share * (frame.bottom - frame.top);
        top -= tall;
        const fill = colour(stops, 0.15 + (0.7 * other) / Math.max(1, y.levels.length - 1));
        context.fillStyle = css(fill);
        context.fillRect(left + 0.5, top + 0.5, Math.max(0, width - 1), Math.max(0, tall - 1));
        context.fillStyle = isBright(fill) ? "#1d2126" : "#ffffff";
        context.textBaseline = "middle";
        if (tall > 14 && width > 16) context.fillText(fit(context, text, width - 4), left + width / 2, top + tall / 2);
      });
      context.fillStyle = ink.muted;
      context.textBaseline = "top";
      if (width > 10) context.fillText(fit(context, label, width), left + width / 2, frame.bottom + 5);
      left += width;
    });
  }
  function dot(context, x, y, radius) {
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.fill();
  }
  function line(context, xa, ya, xb, yb) {
    context.beginPath();
    context.moveTo(Math.round(xa) + 0.5, Math.round(ya) + 0.5);
    context.lineTo(Math.round(xb) + 0.5, Math.round(yb) + 0.5);
    context.stroke();
  }

  function drawPair() {
    if (!chosen) return;
    const [i, j] = chosen;
    const both = (get) => {
      const xs = get(j), ys = get(i);
      const rows = xs.map((_, k) => k).filter((k) => !isNaN(xs[k]) && !isNaN(ys[k]));
      return [[j, xs], [i, ys]].map(([column, v]) => ({ name: data.names[column], values: rows.map((k) => v[k]) }));
    };
    const [x, y] = both(values);
    const leveled = (side, column) => {
      const levels = data.levels[column];
      if (!levels.length) return side;
      return { ...side, levels, values: side.values.map(Math.round) }; // values are places of levels
    };
    const [lx, ly] = [leveled(x, j), leveled(y, i)];
    const draw = lx.levels && ly.levels ? mosaic : lx.levels || ly.levels ? boxes : scatter;
    const how = new Map([[mosaic, "shares of each value"], [boxes, "as in the file, with quartiles"], [scatter, "as in the file, with the running median"]]);
    at("raw-caption").textContent = how.get(draw);
    draw(at("raw"), lx, ly);
    at("latent-figure").hidden = draw !== scatter;
    if (draw === scatter) scatter(at("latent"), ...both(latents));
  }

  // --- the table -----------------------------------------------------------------------------------------------------
  const SHOWN = 200;
  let sorted = null;
  function fillTable() {
    if (!at("table").open) return;
    if (!sorted) {
      sorted = [];
      for (let i = 0; i < p; i++) for (let j = i + 1; j < p; j++) sorted.push([i, j, number(data.pairs.value[place(i, j, p)])]);
      sorted.sort((a, b) => (a[2] === b[2] ? 0 : b[2] - a[2]));
    }
    const wanted = at("filter").value.trim().toLowerCase();
    const matches = data.names.map((name) => name.toLowerCase().includes(wanted));
    const some = sorted.filter(([i, j]) => matches[i] || matches[j]);
    at("table-count").textContent =
      some.length > SHOWN ? `${some.length.toLocaleString("en")} pairs; the ${SHOWN} with the most information are shown.` : `${some.length} pairs.`;
    at("table-rows").replaceChildren(...some.slice(0, SHOWN).map(([i, j]) => row(i, j)));
  }
  function row(i, j) {
    const a = alone(i, j);
    const tr = document.createElement("tr");
    const button = document.createElement("button");
    button.type = "button";
    button.className = "link";
    button.dataset.pair = `${i},${j}`;
    const name = document.createElement("span");
    name.className = "name";
    name.textContent = pairName(i, j);
    button.append(name);
    const head = document.createElement("th");
    head.scope = "row";
    head.append(button);
    tr.append(head);
    const faint = a.adjusted <= data.alpha ? "" : " faint";
    for (const [text, kind] of [
      [nats(a.value), "number"], [interval(a), "number wide"], [isNaN(rank(i, j)) ? "–" : fixed(rank(i, j), 2), "number wide"],
      [pvalue(a.adjusted), "number"], [a.n.toLocaleString("en"), "number wide"], [a.base, "wide"],
    ]) {
      const td = document.createElement("td");
      td.className = kind + faint;
      td.textContent = text;
      tr.append(td);
    }
    return tr;
  }

  // --- what people do ------------------------------------------------------------------------------------------------
  function point(where, event) {
    const same = where && cursor && where[0] === cursor[0] && where[1] === cursor[1];
    if (!same && (where || cursor)) {
      cursor = where;
      draw();
    }
    if (!where) return hideTip();
    const [i, j] = where.map((k) => order[k]);
    if (event) {
      const box = cells.getBoundingClientRect();
      const left = box.left + view.left + where[1] * view.cell, top = box.top + view.top + where[0] * view.cell;
      showTip(i, j, { left, top, bottom: top + view.cell });
    }
  }
  cells.addEventListener("mousemove", (event) => point(hit(event), event));
  cells.addEventListener("mouseleave", () => point(null));
  cells.addEventListener("click", (event) => {
    const where = hit(event);
    if (where) choose(order[where[0]], order[where[1]], true);
  });
  cells.addEventListener("keydown", (event) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    const from = cursor || [0, 0];
    if (event.key === "Enter" && cursor) return choose(order[cursor[0]], order[cursor[1]]);
    if (!step) return;
    event.preventDefault();
    const to = from.map((k, axis) => Math.min(Math.max(k + step[axis], 0), p - 1));
    if (to[0] === to[1]) { // over the diagonal, or back where that is a corner
      const over = to.map((k, axis) => k + step[axis]);
      if (Math.min(...over) < 0 || Math.max(...over) >= p) return;
      to.splice(0, 2, ...over);
    }
    cursor = to;
    draw();
    const [i, j] = to.map((k) => order[k]);
    at("said").textContent = `${pairName(i, j)}: ${describe(i, j).join("; ")}`;
  });
  cells.addEventListener("blur", () => { at("said").textContent = ""; point(null); });

  const pairOf = (event) => event.target.closest && event.target.closest("[data-pair]");
  const columnsOf = (element) => element.dataset.pair.split(",").map(Number);
  document.addEventListener("click", (event) => {
    const element = pairOf(event);
    if (element) { choose(...columnsOf(element)); at("pair").scrollIntoView({ block: "center" }); }
  });
  document.addEventListener("keydown", (event) => {
    const element = pairOf(event);
    if (element && element.tagName !== "BUTTON" && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      choose(...columnsOf(element));
      at("pair").scrollIntoView({ block: "center" });
    }
  });
  document.addEventListener("mouseover", (event) => {
    const element = pairOf(event);
    if (element && element.dataset.given) showTip(...columnsOf(element), { left: event.clientX + 12, top: event.clientY - 6, bottom: event.clientY + 6 }, true);
    else if (event.target !== cells) hideTip();
  });

  const byTarget = () => {
    const told = (k) => (k === data.target ? Infinity : correlation(alone(k, data.target).value));
    return data.names.map((_, k) => k).sort((a, b) => (told(a) === told(b) ? a - b : told(b) - told(a)));
  };
  at("order").addEventListener("change", (event) => {
    const orders = { clustered: () => data.order, file: () => data.names.map((_, k) => k), target: byTarget };
    order = orders[event.target.value]();
    paint();
  });
  at("fade").addEventListener("change", paint);
  at("unit").addEventListener("change", () => { paint(); drawScale(); });
  at("filter").addEventListener("input", fillTable);
  at("table").addEventListener("toggle", fillTable);

  // --- tables to take away -------------------------------------------------------------------------------------------
  function pairTable(table, columns) {
    const rows = [];
    columns.forEach((i, a) => columns.slice(a + 1).forEach((j, b) => {
      const k = place(a, a + 1 + b, columns.length), v = answer(table, a, a + 1 + b, columns.length);
      rows.push([data.names[i], data.names[j], table.value[k], table.error[k], v.low, v.high, table.p[k], table.adjusted[k], v.base, v.n]);
    }));
    return { header: ["x", "y", "information", "standard_error", "low", "high", "pvalue", "adjusted_pvalue", "base", "n"], rows };
  }
  function tableOf(which) {
    if (which === "pairs") {
      const table = pairTable(data.pairs, data.names.map((_, k) => k));
      return { header: [...table.header, "spearman"], rows: table.rows.map((row, k) => [...row, data.spearman[k]]) };
    }
    return which === "rest" ? data.rest && pairTable(data.rest, data.rest.columns) : data.tables[which];
  }
  // A spreadsheet would compute a name that begins as a formula does.
  const cell = (v) => {
    if (typeof v !== "string") return v === null || Number.isNaN(v) ? "" : String(v);
    const text = /^[=+@\t\r-]/.test(v) ? `'${v}` : v;
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const asCsv = ({ header, rows }) => [header, ...rows].map((row) => row.map(cell).join(",")).join("\n") + "\n";
  const asJson = ({ header, rows }) =>
    JSON.stringify(rows.map((row) => Object.fromEntries(row.map((v, k) => [header[k], v]))), null, 1);
  for (const holder of document.querySelectorAll("[data-table]")) {
    const which = holder.dataset.table;
    const table = tableOf(which);
    if (!table || !table.rows.length) continue;
    holder.append("Download: ");
    for (const [kind, write, type] of [["CSV", asCsv, "text/csv"], ["JSON", asJson, "application/json"]]) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "link take";
      button.textContent = kind;
      button.addEventListener("click", () => {
        const link = document.createElement("a");
        link.href = URL.createObjectURL(new Blob([write(tableOf(which))], { type }));
        link.download = `${which}.${kind.toLowerCase()}`;
        link.click();
        setTimeout(() => URL.revokeObjectURL(link.href), 1000);
      });
      holder.append(button, " ");
    }
  }

  function redraw() {
    readStyle();
    layout();
    paint();
    drawScale();
    drawPair();
  }
  let width = 0;
  new ResizeObserver(() => {
    if (board.clientWidth !== width) { width = board.clientWidth; redraw(); }
  }).observe(board);
  dark.addEventListener("change", redraw);
  const print = (now) => () => { printing = now; redraw(); };
  addEventListener("beforeprint", print(true));
  addEventListener("afterprint", print(false));

  // The first pair to see: what tells most about the target.
  const [first] = data.names.map((_, k) => k).filter((k) => k !== data.target)
    .sort((a, b) => correlation(alone(b, data.target).value) - correlation(alone(a, data.target).value));
  width = board.clientWidth;
  readStyle();
  layout();
  paint();
  drawScale();
  choose(data.target, first);
})();
