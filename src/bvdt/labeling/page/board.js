// Beside the document: the map, the progress and the lists.
import { get, raw } from "/server.js";
import { make, percent, swatch } from "/ask.js";

const $ = (id) => document.getElementById(id);
const NONE = 65535;

export class Board {
  constructor(hooks) {
    this.hooks = hooks; // open(row), lasso(rows)
    this.version = 0;
    this.snippets = new Map();
    $("lasso").addEventListener("click", () => this.lassoing(!this.drawing));
  }

  lassoing(on) {
    this.drawing = on;
    $("lasso").setAttribute("aria-pressed", String(on));
    this.map?.lassoing(on);
  }

  // -- the map ------------------------------------------------------------------------------------------

  async follow(state, fetched) {
    this.state = state;
    if (!this.points && state.documents) {
      this.points = {
        n: state.documents, marks: state.marks,
        label: new Uint16Array(state.documents).fill(NONE), given: new Uint8Array(state.documents),
      };
    }
    const changed = fetched ?? await this.changes();
    if (state.map && !this.map) await this.draw();
    else if (changed && this.map) this.map.relabel();
    this.progress();
    this.legend();
  }

  async changes() {
    const answer = await raw(`/api/changes?since=${this.version}`), view = new DataView(await answer.arrayBuffer());
    for (let at = 0; at < view.byteLength; at += 8) {
      const row = view.getUint32(at, true);
      this.points.label[row] = view.getUint16(at + 4, true);
      this.points.given[row] = view.getUint16(at + 6, true);
    }
    this.version = Number(answer.headers.get("x-version"));
    return view.byteLength > 0;
  }

  async draw() {
    this.points.xy = new Uint16Array(await (await raw("/api/map")).arrayBuffer());
    $("drawing").hidden = true;
    this.map = pointMap($("map"), this.points, {
      lines: (i) => this.lines(i),
      pick: (i) => this.hooks.open(i),
      lasso: (rows) => { this.lassoing(false); this.hooks.lasso(rows); },
    });
    this.map.lassoing(Boolean(this.drawing));
  }

  lines(i) {
    const known = this.snippets.get(i), label = this.points.label[i];
    if (!known) this.look(i);
    const name = this.state.classes[label]?.name || "no guess yet";
    const found = [["tip-id", known ? known.id : "…"], ["tip-label", name + (this.points.given[i] ? " · given" : "")]];
    if (known) found.push(["tip-text", known.text]);
    return found;
  }

  async look(i) {
    this.snippets.set(i, { id: "…", text: "" });
    this.snippets.set(i, await get(`/api/snippet/${i}`).catch(() => ({ id: "", text: "" })));
    if (this.map && this.snippets.size > 2000) this.snippets.clear();
    this.map?.again(i);
  }

  legend() {
    const box = document.querySelector("#map .legend"), { classes, marks } = this.state;
    const shown = classes.slice(0, marks);
    if (box.children.length !== shown.length)
      box.replaceChildren(...shown.map((one, k) => make("button", { "data-mark": k, "aria-pressed": "false" },
        swatch(k, marks), make("bdi", { text: one.name }), make("span", { class: "count soft" }))));
    shown.forEach((one, k) => {
      box.children[k].querySelector(".count").textContent = one.all ? `${one.given} of ${one.all.toLocaleString("en")}` : "";
    });
  }

  // -- progress -----------------------------------------------------------------------------------------

  progress() {
    const { state } = this, expected = state.expected;
    $("labeled").textContent = state.labeled.toLocaleString("en");
    $("summary").textContent = `${state.documents.toLocaleString("en")} documents, ${state.labeled} labeled`
      + (state.skipped ? `, ${state.skipped} skipped` : "");
    $("accuracy").textContent = expected ? percent(expected.accuracy) : "–";
    $("interval").textContent = expected
      ? `expected accuracy, ${percent(expected.low)} to ${percent(expected.high)}`
      : "expected accuracy: after twenty labels";
    $("gain").textContent = state.gain || "";
    this.curve();
    $("suspected").hidden = !state.suspected;
    if (state.suspected) this.suspected();
  }

  curve() {
    const points = this.state.curve, box = $("curve");
    box.toggleAttribute("hidden", points.length < 2);
    if (points.length < 2) return;
    const most = points.at(-1).n_labels, least = points[0].n_labels, low = Math.min(...points.map((p) => p.low));
    const x = (n) => 30 + 284 * (n - least) / Math.max(1, most - least), y = (a) => 74 - 66 * (a - low) / Math.max(0.01, 1 - low);
    const part = (name, attributes) => {
      const element = document.createElementNS(box.namespaceURI, name);
      for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
      return element;
    };
    const text = (at, attributes) => { const t = part("text", attributes); t.textContent = at; return t; };
    const upper = points.map((p) => `${x(p.n_labels)},${y(p.high)}`), lower = points.map((p) => `${x(p.n_labels)},${y(p.low)}`).reverse();
    box.replaceChildren(
      part("polygon", { class: "band", points: [...upper, ...lower].join(" ") }),
      part("polyline", { class: "line", points: points.map((p) => `${x(p.n_labels)},${y(p.accuracy)}`).join(" ") }),
      text("100 %", { x: 0, y: 12 }), text(percent(low), { x: 0, y: 76 }),
      text(String(least), { x: 30, y: 88 }), text(`${most} labels`, { x: 314, y: 88, "text-anchor": "end" }));
    box.setAttribute("aria-label", `Expected accuracy so far: ${percent(points[0].accuracy)} with ${least} labels, `
      + `${percent(points.at(-1).accuracy)} with ${most}`);
  }

  // -- lists --------------------------------------------------------------------------------------------

  listed(one, note) {
    return make("li", {}, make("button", { class: "plain", onclick: () => this.hooks.open(one.row) }, make("bdi", { text: one.id })),
      make("span", { text: note }), make("bdi", { class: "soft", text: one.text }));
  }

  async suspected() {
    const found = await get("/api/suspected").catch(() => []);
    $("suspected").hidden = !found.length;
    document.querySelector("#suspected .list").replaceChildren(...found.map((one) =>
      this.listed(one, ` ${one.label}, or ${one.instead}? ${percent(one.share)} · `)));
  }

  async search(query) {
    const box = $("found");
    if (!query.trim()) { box.replaceChildren(); return; }
    const found = await get(`/api/search?q=${encodeURIComponent(query)}`);
    box.replaceChildren(...found.map((one) => this.listed(one, one.label ? ` ${one.label} · ` : " ")));
    if (!found.length) box.append(make("li", { class: "soft", text: "No document has all these words." }));
  }
}
