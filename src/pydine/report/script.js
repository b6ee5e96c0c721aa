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
    const value = number(table.value[k]), error = number(table.error[k]);
    return {
      value,
      low: Math.max(value - 1.959964 * error, 0),
      high: Math.max(value + 1.959964 * error, 0),
      p: number(table.p[k]),
      adjusted: number(table.adjusted[k]),
      base: data.bases[table.base[k]],
    };
  }
  const alone = (i, j) => answer(data.pairs, i, j, p);
  const within = data.rest && new Map(data.rest.columns.map((column, k) => [column, k]));
  const givenRest = (i, j) =>
    within && within.has(i) && within.has(j) ? answer(data.rest, within.get(i), within.get(j), within.size) : null;
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
    const letters = Array.from(text);
    let most = letters.length;
    while (most > 1 && context.measureText(letters.slice(0, most).join("") + "…").width > room) most--;
    return letters.slice(0, most).join("") + "…";
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
        const fill = colour(stops, hidden ? 0 : correlation(value));
        context.fillStyle = css(fill);
        context.fillRect(x, y, cell - gap, cell - gap);
        if (cell >= 34 && !hidden) {
          context.fillStyle = isBright(fill) ? "#1d2126" : "#ffffff";
          context.font = font(11);
          context.textAlign = "center";
          context.textBaseline = "middle";
          context.fillText(value === Infinity ? "∞" : fixed(value, 2), x + cell / 2, y + cell / 2);
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
    for (const value of [0, 0.02, 0.1, 0.3, 1]) context.fillText(String(value), 12 + correlation(value) * width, 15);
    context.fillText("∞", 12 + width, 15);
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
      `p ${pvalue(a.p)}, adjusted ${pvalue(a.adjusted)}, ${a.base} base`,
    ];
  }

  function showTip(i, j, x, y, rest = false) {
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
    tip.style.left = `${Math.max(8, Math.min(x + 14, innerWidth - box.width - 8))}px`;
    tip.style.top = `${y + 18 + box.height > innerHeight ? Math.max(8, y - box.height - 12) : y + 18}px`;
  }
  const hideTip = () => { tip.hidden = true; };

  const unpack = (packed) => {
    const bytes = Uint8Array.from(atob(packed.steps), (c) => c.charCodeAt(0));
    const view16 = new DataView(bytes.buffer);
    const m = data.points.n;
    return (column) => {
      const [low, high] = packed.ends[column];
      return Array.from({ length: m }, (_, row) => {
        const t = view16.getUint16(2 * (column * m + row), true) / 65535;
        return low * (1 - t) + high * t;
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
      ["p, adjusted", `${pvalue(a.p)}, ${pvalue(a.adjusted)}`],
      ["base", a.base],
    ];
    if (rest) facts.push(["given the rest", `${nats(rest.value)} nats, adjusted p ${pvalue(rest.adjusted)}`]);
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

  function scatter(canvas, xs, ys, xName, yName) {
    const width = Math.max(200, Math.floor(canvas.parentElement.clientWidth)), height = Math.round(Math.min(0.58 * width, 280));
    const context = prepare(canvas, width, height);
    const frame = { left: 52, right: width - 8, top: 8, bottom: height - 38 };
    const range = (v) => {
      const low = Math.min(...v), high = Math.max(...v), pad = 0.04 * (high - low) || 0.5;
      return [low - pad, high + pad];
    };
    const [x0, x1] = range(xs), [y0, y1] = range(ys);
    const px = (x) => frame.left + ((x - x0) / (x1 - x0)) * (frame.right - frame.left);
    const py = (y) => frame.bottom - ((y - y0) / (y1 - y0)) * (frame.bottom - frame.top);
    context.font = font(11);
    context.fillStyle = ink.muted;
    context.strokeStyle = ink.rule;
    context.lineWidth = 1;
    context.textBaseline = "top";
    context.textAlign = "center";
    const across = ticks(x0, x1, width < 300 ? 4 : 6), up = ticks(y0, y1, 5);
    for (const mark of across.marks) {
      line(context, px(mark), frame.top, px(mark), frame.bottom);
      context.fillText(tickText(mark, across.step), px(mark), frame.bottom + 5);
    }
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const mark of up.marks) {
      line(context, frame.left, py(mark), frame.right, py(mark));
      context.fillText(tickText(mark, up.step), frame.left - 5, py(mark));
    }
    context.fillStyle = ink.ink;
    context.textAlign = "right";
    context.textBaseline = "bottom";
    context.fillText(fit(context, xName, frame.right - frame.left), frame.right, height - 3);
    context.save();
    context.translate(11, frame.top);
    context.rotate(-Math.PI / 2);
    context.textBaseline = "middle";
    context.fillText(fit(context, yName, frame.bottom - frame.top), 0, 0);
    context.restore();
    context.fillStyle = ink.accent;
    context.globalAlpha = 0.55;
    const radius = xs.length > 250 ? 2.2 : 2.8;
    for (let k = 0; k < xs.length; k++) {
      context.beginPath();
      context.arc(px(xs[k]), py(ys[k]), radius, 0, 2 * Math.PI);
      context.fill();
    }
    context.globalAlpha = 1;
    canvas.setAttribute("aria-label", `${xs.length} rows of ${yName} against ${xName}`);
  }
  function line(context, xa, ya, xb, yb) {
    context.beginPath();
    context.moveTo(Math.round(xa) + 0.5, Math.round(ya) + 0.5);
    context.lineTo(Math.round(xb) + 0.5, Math.round(yb) + 0.5);
    context.stroke();
  }

  function drawPair() {
    if (!chosen) return;
    const [i, j] = chosen, x = data.names[j], y = data.names[i];
    scatter(at("raw"), values(j), values(i), x, y);
    scatter(at("latent"), latents(j), latents(i), x, y);
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
      some.length > SHOWN ? `${some.length.toLocaleString("en")} pairs; the ${SHOWN} with most information are shown.` : `${some.length} pairs.`;
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
      [nats(a.value), "number"], [interval(a), "number wide"], [pvalue(a.p), "number wide"],
      [pvalue(a.adjusted), "number"], [a.base, "wide"],
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
    if (event) showTip(i, j, event.clientX, event.clientY);
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
    if (element && element.dataset.given) showTip(...columnsOf(element), event.clientX, event.clientY, true);
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
  at("filter").addEventListener("input", fillTable);
  at("table").addEventListener("toggle", fillTable);

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
