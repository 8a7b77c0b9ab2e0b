// A map of points on a canvas, for the report and for labeling: the nearest point is found through a grid; no library.
//
// figure: holds the canvas, .tip and, if wanted, [data-zoom] and [data-mark] buttons.
// points: n, xy (Uint16Array, two per point), marks (how many classes have a mark of their own; half as many
//   colors, circles then squares), label (a number per point, or null) and given (0 or 1 per point).
// hooks: lines(i), the tip's lines as [class, text]; pick(i), a click or Enter on a point; lasso(list), points that
//   were drawn around, offered only where it is there.
// Returns relabel(), after label or given have changed; show(i); again(i), after its lines have changed;
// lassoing(on); resize().
"use strict";
function pointMap(figure, points, hooks) {
  const canvas = figure.querySelector("canvas");
  const tip = figure.querySelector(".tip");
  // The points are painted on a sheet of their own; moving the mouse only lays it under the mark of one point.
  const sheet = document.createElement("canvas"), pen = sheet.getContext("2d"), front = canvas.getContext("2d");
  const { n, xy, marks } = points, colors = marks / 2;
  const markOf = (i) => points.label ? Math.min(points.label[i], marks) : 0;

  // Points by mark, the given ones apart: they are drawn last, with a rim.
  let groups = [], rimmed = [];
  function group() {
    groups = Array.from({ length: marks + 1 }, () => []);
    rimmed = [];
    for (let i = 0; i < n; i++) (points.given[i] ? rimmed : groups[markOf(i)]).push(i);
  }
  group();

  // Grid: the points of cell c are order[first[c]] … order[first[c + 1] - 1].
  const G = Math.max(1, Math.min(256, Math.ceil(Math.sqrt(n / 2))));
  const cellOf = (v) => Math.min(G - 1, Math.max(0, Math.floor(v * G / 65536)));
  const first = new Uint32Array(G * G + 1), order = new Uint32Array(n);
  const cell = (i) => cellOf(xy[2 * i + 1]) * G + cellOf(xy[2 * i]);
  for (let i = 0; i < n; i++) first[cell(i) + 1]++;
  for (let c = 0; c < G * G; c++) first[c + 1] += first[c];
  const next = first.slice();
  for (let i = 0; i < n; i++) order[next[cell(i)]++] = i;

  let width = 0, height = 0, zoom = 1, left = 0, top = 0, current = -1, only = -1, printing = false;
  const margin = 14;
  const box = [65535, 0, 65535, 0]; // of all points: least and greatest x, then y
  for (let k = 0; k < 2 * n; k++) {
    const axis = 2 * (k % 2);
    box[axis] = Math.min(box[axis], xy[k]);
    box[axis + 1] = Math.max(box[axis + 1], xy[k]);
  }
  const scale = () => zoom * Math.min(
    (width - 2 * margin) / Math.max(1, box[1] - box[0]), (height - 2 * margin) / Math.max(1, box[3] - box[2]));
  const screenX = (i) => left + xy[2 * i] * scale();
  const screenY = (i) => top + (65535 - xy[2 * i + 1]) * scale();

  function home() {
    zoom = 1;
    left = width / 2 - (box[0] + box[1]) / 2 * scale();
    top = height / 2 - (65535 - (box[2] + box[3]) / 2) * scale();
  }
  function zoomAt(x, y, factor) {
    const before = scale();
    zoom = Math.min(64, Math.max(1, zoom * factor));
    left = x - (x - left) * scale() / before;
    top = y - (y - top) * scale() / before;
    if (zoom === 1) home();
    canvas.classList.toggle("zoomed", zoom > 1);
    show(-1);
    draw();
  }

  const style = getComputedStyle(document.documentElement);
  const value = (name) => style.getPropertyValue((printing ? "--print-" : "--") + name).trim();
  const palette = () => {
    const list = [];
    for (let k = 0; k < marks; k++) list.push(value("c" + k % colors));
    return list.concat(value("other"));
  };
  const radius = () => Math.max(1.1, Math.min(5, 150 / Math.sqrt(n))) * Math.pow(zoom, 0.35);

  function trace(i, mark, r) {
    const x = screenX(i), y = screenY(i);
    if (x < -r || y < -r || x > width + r || y > height + r) return;
    if ((mark >= colors && mark < marks) || r < 1.4) pen.rect(x - 0.88 * r, y - 0.88 * r, 1.76 * r, 1.76 * r);
    else { pen.moveTo(x + r, y); pen.arc(x, y, r, 0, 6.2832); }
  }
  let waiting = 0, stale = true;
  function draw(anew = true) {
    stale = stale || anew;
    if (!waiting) waiting = requestAnimationFrame(() => { waiting = 0; paint(); });
  }
  function paint() {
    if (stale) paintSheet();
    stale = false;
    front.setTransform(1, 0, 0, 1, 0, 0);
    front.clearRect(0, 0, canvas.width, canvas.height);
    if (sheet.width && sheet.height) front.drawImage(sheet, 0, 0);
    const ratio = window.devicePixelRatio || 1;
    front.setTransform(ratio, 0, 0, ratio, 0, 0);
    if (loop.length > 1) paintLoop();
    if (current < 0) return;
    front.strokeStyle = value("ink");
    front.lineWidth = 2.5;
    front.beginPath();
    front.arc(screenX(current), screenY(current), radius() + 6, 0, 6.2832);
    front.stroke();
  }
  function paintLoop() {
    front.strokeStyle = front.fillStyle = value("ink");
    front.lineWidth = 1.5;
    front.beginPath();
    for (const [x, y] of loop) front.lineTo(x, y);
    front.closePath();
    front.stroke();
    front.globalAlpha = 0.08;
    front.fill();
    front.globalAlpha = 1;
  }
  function repaint() { stale = true; paint(); }
  function paintSheet() {
    const ratio = window.devicePixelRatio || 1, color = palette(), r = radius();
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    const visible = (mark) => only < 0 || only === mark;
    for (const pass of [false, true]) for (let m = 0; m <= marks; m++) {
      if (visible(m) !== pass || !groups[m].length) continue;
      pen.globalAlpha = pass ? 0.8 : 0.07;
      pen.fillStyle = color[m];
      // Short paths: one path of many thousand parts is slow, and overlapping parts must add up.
      for (let at = 0; at < groups[m].length; at += 50) {
        pen.beginPath();
        for (const i of groups[m].slice(at, at + 50)) trace(i, m, r);
        pen.fill();
      }
    }
    pen.lineWidth = Math.max(1, r / 2.5);
    pen.strokeStyle = value("ink");
    for (const i of rimmed) {
      const m = markOf(i);
      pen.globalAlpha = visible(m) ? 1 : 0.07;
      pen.fillStyle = color[m];
      pen.beginPath();
      trace(i, m, r * 1.35 + 0.6);
      pen.fill();
      pen.stroke();
    }
    pen.globalAlpha = 1;
  }

  function nearest(px, py, reach) {
    const s = scale(), x = (px - left) / s, y = 65535 - (py - top) / s, far = reach / s;
    let best = -1, least = far * far;
    for (let row = cellOf(y - far); row <= cellOf(y + far); row++)
      for (let column = cellOf(x - far); column <= cellOf(x + far); column++) {
        const c = row * G + column;
        for (let k = first[c]; k < first[c + 1]; k++) {
          const i = order[k];
          if (only >= 0 && markOf(i) !== only) continue;
          const dx = xy[2 * i] - x, dy = xy[2 * i + 1] - y, d = dx * dx + dy * dy;
          if (d < least) { least = d; best = i; }
        }
      }
    return best;
  }

  const line = (name, text) => {
    const part = document.createElement("div");
    part.className = name;
    part.dir = "auto";
    part.textContent = text;
    tip.append(part);
  };
  function show(i) {
    if (i === current) return;
    current = i;
    tip.hidden = i < 0;
    draw(false);
    if (i < 0) return;
    tip.replaceChildren();
    for (const [name, text] of hooks.lines(i)) line(name, text);
    const x = screenX(i), y = screenY(i), w = tip.offsetWidth, h = tip.offsetHeight;
    // Beside the point, away from the middle; where that is too narrow, as on a phone, above or below it.
    const sides = x < width / 2 ? [x - w - 18, x + 18] : [x + 18, x - w - 18];
    const side = sides.find((at) => at >= 4 && at + w <= width - 4);
    const above = y - h - 16 >= 4 ? y - h - 16 : y + 16;
    tip.style.left = (side ?? Math.max(4, Math.min(width - w - 4, x - w / 2))) + "px";
    tip.style.top = (side === undefined ? above : Math.max(4, Math.min(height - h - 4, y - h / 2))) + "px";
  }

  // Mouse and finger: hover or tap shows the nearest point; dragging moves a zoomed map, or draws around points.
  let grip = null, loop = [], lassoing = false, travelled = 0;
  function inside(x, y) {
    let odd = false;
    for (let a = 0, b = loop.length - 1; a < loop.length; b = a++) {
      const [ax, ay] = loop[a], [bx, by] = loop[b];
      if (ay > y !== by > y && x < (bx - ax) * (y - ay) / (by - ay) + ax) odd = !odd;
    }
    return odd;
  }
  function closeLoop() {
    const found = [];
    if (loop.length > 2)
      for (let i = 0; i < n; i++) if ((only < 0 || markOf(i) === only) && inside(screenX(i), screenY(i))) found.push(i);
    loop = [];
    draw(false);
    if (found.length) hooks.lasso(found);
  }
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = place(event);
    if (grip) travelled += Math.abs(x - grip[0]) + Math.abs(y - grip[1]);
    if (loop.length) {
      loop.push([x, y]);
      grip = [x, y];
      draw(false);
    } else if (grip && zoom > 1) {
      left += x - grip[0];
      top += y - grip[1];
      grip = [x, y];
      show(-1);
      draw();
    } else if (!grip) show(nearest(x, y, 24));
  });
  canvas.addEventListener("pointerdown", (event) => {
    grip = place(event);
    travelled = 0;
    if (hooks.lasso && (lassoing || event.shiftKey)) {
      loop = [grip];
      canvas.setPointerCapture(event.pointerId);
      show(-1);
    } else show(nearest(...grip, 28));
  });
  canvas.addEventListener("pointerup", () => {
    grip = null;
    if (loop.length) closeLoop();
    else if (hooks.pick && current >= 0 && travelled < 6) hooks.pick(current);
  });
  canvas.addEventListener("pointercancel", () => { grip = null; loop = []; draw(false); });
  canvas.addEventListener("pointerleave", (event) => { if (loop.length) return; grip = null; if (event.pointerType === "mouse") show(-1); });
  canvas.addEventListener("dblclick", (event) => zoomAt(...place(event), 2));
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return; // the page scrolls; a pinch on a touchpad arrives with ctrlKey
    event.preventDefault();
    zoomAt(...place(event), Math.exp(-event.deltaY / 100));
  }, { passive: false });
  for (const button of figure.querySelectorAll("[data-zoom]"))
    button.addEventListener("click", () => zoomAt(width / 2, height / 2, Number(button.dataset.zoom)));

  // Keyboard: arrows go to the nearest point that way, + and - zoom, Escape closes.
  const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
  function step(way) {
    if (current < 0) return show(nearest(width / 2, height / 2, 1e9));
    let best = -1, least = Infinity;
    for (let i = 0; i < n; i++) {
      if (i === current || (only >= 0 && markOf(i) !== only)) continue;
      const dx = xy[2 * i] - xy[2 * current], dy = xy[2 * i + 1] - xy[2 * current + 1];
      const along = dx * way[0] + dy * way[1], aside = Math.abs(dx * way[1]) + Math.abs(dy * way[0]);
      if (along > 0 && along >= aside && along + 2 * aside < least) { least = along + 2 * aside; best = i; }
    }
    if (best >= 0) show(best);
  }
  canvas.addEventListener("keydown", (event) => {
    if (ways[event.key]) step(ways[event.key]);
    else if (event.key === "+" || event.key === "=") zoomAt(width / 2, height / 2, 1.6);
    else if (event.key === "-") zoomAt(width / 2, height / 2, 1 / 1.6);
    else if (event.key === "Escape") show(-1);
    else if (event.key === "Enter" && hooks.pick && current >= 0) hooks.pick(current);
    else return;
    event.preventDefault();
  });
  canvas.addEventListener("blur", () => show(-1));

  // Legend: a class alone, then all again.
  figure.addEventListener("click", (event) => {
    const key = event.target.closest("[data-mark]");
    if (!key) return;
    only = only === Number(key.dataset.mark) ? -1 : Number(key.dataset.mark);
    for (const other of figure.querySelectorAll("[data-mark]"))
      other.setAttribute("aria-pressed", String(Number(other.dataset.mark) === only));
    show(-1);
    draw();
  });

  function resize() {
    const ratio = window.devicePixelRatio || 1;
    if (width === canvas.clientWidth && height === canvas.clientHeight && canvas.width === Math.round(width * ratio)) return;
    width = canvas.clientWidth;
    height = canvas.clientHeight;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    sheet.width = canvas.width;
    sheet.height = canvas.height;
    show(-1);
    home();
    repaint();
  }
  new ResizeObserver(resize).observe(canvas);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => draw());
  window.addEventListener("beforeprint", () => { printing = true; show(-1); repaint(); });
  window.addEventListener("afterprint", () => { printing = false; repaint(); });
  resize();
  return {
    relabel() { group(); repaint(); },
    show,
    again(i) { if (i === current) { current = -1; show(i); } },
    lassoing(on) { lassoing = on; canvas.classList.toggle("lassoing", on); },
    resize,
  };
}
