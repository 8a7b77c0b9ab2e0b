// The document that is asked about: its text, the guess, the classes' buttons, and why.
import { get } from "/server.js";

const $ = (id) => document.getElementById(id);
const FOLD = 900; // characters beyond which a text folds

export function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "text") element.textContent = value;
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

export function swatch(mark, marks) {
  const box = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  box.setAttribute("viewBox", "0 0 12 12");
  box.setAttribute("class", "swatch");
  box.setAttribute("aria-hidden", "true");
  const half = marks / 2, square = mark >= half && mark < marks;
  const shape = document.createElementNS(box.namespaceURI, square ? "rect" : "circle");
  const place = square ? { x: 1.5, y: 1.5, width: 9, height: 9 } : { cx: 6, cy: 6, r: 5 };
  for (const [key, value] of Object.entries(place)) shape.setAttribute(key, value);
  shape.style.fill = mark < marks ? `var(--c${mark % half})` : "var(--other)";
  box.append(shape);
  return box;
}

export const percent = (share) => (100 * share).toFixed(share > 0.995 && share < 1 ? 1 : 0) + " %";

export class Ask {
  constructor(decide) {
    this.current = null;
    this.decide = decide;
    $("unfold").addEventListener("click", () => this.fold($("text").classList.contains("folded")));
  }

  show(found, open) {
    this.current = found;
    this.open = open;
    document.body.dataset.row = found ? found.row : "";
    $("asked").textContent = found ? found.id : "Nothing left to ask";
    $("text").textContent = found ? found.text + (found.cut ? "\n\n… the rest is too long to be shown" : "") : "";
    const long = found && (found.text.length > FOLD || found.text.split("\n").length > 16);
    $("unfold").hidden = !long;
    this.fold(false, long);
    this.guess();
    $("why").hidden = true;
    if (found) this.why(found.row);
  }

  fold(open, long = true) {
    $("text").classList.toggle("folded", long && !open);
    $("unfold").textContent = open ? "Fold the text" : "Show the whole text";
    $("unfold").setAttribute("aria-expanded", String(open));
  }

  guess() {
    const found = this.current, line = $("guess");
    line.replaceChildren();
    if (!found) return;
    if (found.label) line.append("Labeled ", make("bdi", { text: found.label, class: "name" }), ". Another class replaces it.");
    else if (found.guesses.length && this.classes?.length > 1) {
      const [first, second] = found.guesses;
      line.append("Probably ", make("bdi", { text: first.name, class: "name" }), `, ${percent(first.share)}`);
      if (second && second.share > 0.005) line.append(" · or ", make("bdi", { text: second.name }), `, ${percent(second.share)}`);
    } else line.append("No guess yet.");
    for (const button of document.querySelectorAll("#classes [data-class]"))
      button.classList.toggle("guessed", found.guesses[0]?.name === button.dataset.class && !found.label);
  }

  buttons(classes, marks) {
    this.classes = classes;
    const box = $("classes"), same = box.children.length === classes.length;
    if (same && classes.every((one, k) => box.children[k].dataset.class === one.name)) return this.guess();
    box.replaceChildren(...classes.map((one, k) => {
      const button = make("button", { "data-class": one.name, onclick: () => this.decide("label", one.name) },
        swatch(k, marks), make("bdi", { text: one.name }));
      if (k < 9) button.append(make("kbd", { text: String(k + 1), "aria-hidden": "true" }));
      if (k < 9) button.setAttribute("aria-keyshortcuts", String(k + 1));
      return button;
    }));
    return this.guess();
  }

  async why(row) {
    const found = await get(`/api/why/${row}`).catch(() => []);
    if (this.current?.row !== row || !found.length) return;
    document.querySelector("#why ul").replaceChildren(...found.map((one) => make("li", {},
      make("button", { class: "plain", onclick: () => this.open(one.row) }, make("bdi", { text: one.id })),
      make("span", { class: "soft", text: ` ${percent(one.share)} of it · ` }),
      make("bdi", { class: "soft", text: one.text }))));
    $("why").hidden = false;
  }
}
