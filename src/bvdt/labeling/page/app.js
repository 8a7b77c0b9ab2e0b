// The page: keys and buttons become decisions, answers become what is shown.
import { client, get, listen, newId, post, raw } from "/server.js";
import { Ask, make, swatch } from "/ask.js";
import { Board } from "/board.js";

const $ = (id) => document.getElementById(id);
const MANY = 20; // documents labeled at once without a question
let state = { classes: [], marks: 20 }, waiting = 0, line = Promise.resolve(), unsent = [];

const ask = new Ask(decide);
const board = new Board({ open, lasso });
const who = () => $("who").value.trim();
const how = () => {
  const [kind, label] = [$("how").value, $("how").selectedOptions[0]?.dataset.label];
  return label === undefined ? { how: kind } : { how: "class", label };
};

function say(text, failed = false) {
  $("said").textContent = text;
  $("said").classList.toggle("failed", failed);
}

// Whatever fails while a label waits to be sent: that it is not saved is said with it.
const trouble = (reason) => say(unsent.length ? `Not saved: ${reason}` : reason, true);

// -- decisions ----------------------------------------------------------------------------------------------

// A key pressed before the next document is there is about a document that is answered already.
async function decide(kind, label) {
  if (!ask.current || waiting) return;
  const asked = how(), words = { label: `${label}`, skip: "Skipped", unsure: "Not sure" };
  await send({
    path: "/api/decide", said: `Saved: ${words[kind]}`,
    body: { request: newId(), rows: [ask.current.row], kind, label, who: who(), how: ask.came || asked.how, client, next: asked.how, of: asked.label },
  });
}

async function undo() {
  await send({ path: "/api/undo", said: "Undone", body: { request: newId(), who: who() } });
}

// One after another, so that what is said last is about what came last: an undo, a lasso or a new class that
// comes while an answer is under way waits for it.
const inTurn = (job) => (line = line.then(job));

function send(request) {
  waiting += 1;
  document.body.classList.add("busy");
  return inTurn(() => deliver(request)).finally(() => {
    waiting -= 1;
    document.body.classList.toggle("busy", waiting > 0);
  });
}

// A request whose answer was lost is sent again under its old number: the server writes it once.
async function deliver(request) {
  try {
    const answer = await post(request.path, request.body);
    if (request.path === "/api/undo" && !answer.rows.length) say("There is nothing to undo.");
    else say(request.said);
    if (answer.document !== undefined && (answer.document || request.path !== "/api/undo")) show(answer.document);
  } catch (error) {
    const again = !error.status || error.status >= 500;
    if (again) unsent.push(request);
    say(`Not saved: ${error.message}${again ? " It is sent again when the server is back." : ""}`, true);
  }
}

function show(found, came = "") {
  ask.came = came;
  ask.show(found, open);
}

async function open(row) {
  try {
    show(await get(`/api/document/${row}`), "picked");
    $("document").scrollIntoView({ block: "nearest" });
  } catch (error) { say(error.message, true); }
}

async function next() {
  const asked = how(), label = asked.label === undefined ? "" : `&label=${encodeURIComponent(asked.label)}`;
  try {
    show((await get(`/api/next?client=${client}&how=${asked.how}${label}`)).document);
  } catch (error) { say(error.message, true); }
}

const addClass = (name) => inTurn(async () => {
  try {
    await post("/api/class", { name });
    await follow();
    say(`New class: ${name}`);
  } catch (error) { say(error.message, true); }
});

// -- many at once -------------------------------------------------------------------------------------------

function lasso(rows) {
  const box = $("many");
  $("many-title").textContent = `${rows.length.toLocaleString("en")} documents: label them all as`;
  const label = (name) => {
    const go = () => {
      box.close();
      send({ path: "/api/decide", said: `Saved: ${rows.length} × ${name}`, body: { request: newId(), rows, kind: "label", label: name, who: who(), how: "lasso" } });
    };
    if (rows.length <= MANY) return go();
    $("sure").hidden = $("yes").hidden = false;
    $("sure").textContent = `Label ${rows.length} documents as ${name}? One undo takes all of it back.`;
    $("yes").onclick = go;
    return $("yes").focus();
  };
  box.querySelector(".buttons").replaceChildren(...state.classes.map((one, k) =>
    make("button", { "data-class": one.name, onclick: () => label(one.name) }, swatch(k, state.marks), make("bdi", { text: one.name }))));
  if (!state.classes.length) box.querySelector(".buttons").append(make("p", { class: "soft", text: "Add a class first." }));
  $("sure").hidden = $("yes").hidden = true;
  box.showModal();
}
$("no").addEventListener("click", () => $("many").close());

// -- following the server -----------------------------------------------------------------------------------

let following = null, again = false;
async function follow() {
  if (following) { again = true; return following; }
  following = (async () => {
    do {
      again = false;
      // What changed is asked for together with the state: one journey less.
      const changes = board.points ? board.changes() : null;
      state = await get("/api/state");
      const changed = await changes;
      document.title = `${state.title} · ${state.labeled} labels`;
      $("title").textContent = state.title;
      if (!$("who").placeholder) $("who").placeholder = state.who;
      ask.buttons(state.classes, state.marks);
      kinds();
      await board.follow(state, changed);
      if (board.version >= state.version) document.body.dataset.followed = state.followed;
      else again = true;
    } while (again);
  })().finally(() => { following = null; });
  return following;
}

function kinds() {
  const box = $("how"), names = [...box.querySelectorAll("[data-label]")].map((one) => one.dataset.label);
  for (const { name } of state.classes) if (!names.includes(name))
    box.append(make("option", { value: `class ${name}`, "data-label": name, text: `guessed: ${name}` }));
}

async function changed() {
  for (const request of unsent.splice(0)) await send(request);
  await follow().catch((error) => trouble(error.message));
  if (!ask.current && state.documents) await next();
}

// -- keys and buttons ---------------------------------------------------------------------------------------

$("skip").addEventListener("click", () => decide("skip"));
$("unsure").addEventListener("click", () => decide("unsure"));
$("undo").addEventListener("click", undo);
$("how").addEventListener("change", () => { $("how").blur(); next(); });
$("new").addEventListener("submit", (event) => {
  event.preventDefault();
  const name = $("name").value.trim();
  $("name").value = "";
  $("name").blur();
  if (name) addClass(name);
});
$("search").addEventListener("submit", (event) => {
  event.preventDefault();
  board.search($("query").value).catch((error) => say(error.message, true));
});
$("who").value = localStorage.getItem("bvdt-who") || "";
$("who").addEventListener("change", () => localStorage.setItem("bvdt-who", who()));
for (const button of document.querySelectorAll("[data-export]")) button.addEventListener("click", async () => {
  try {
    const kind = button.dataset.export, answer = await raw(`/api/export?format=${kind}`);
    const link = make("a", { href: URL.createObjectURL(await answer.blob()), download: `labels.${kind}` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  } catch (error) { say(error.message, true); }
});

const keys = {
  s: () => decide("skip"), u: () => decide("unsure"), z: undo,
  n: () => $("name").focus(), "/": () => $("query").focus(),
  f: () => $("unfold").hidden || $("unfold").click(),
};
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, select, textarea, dialog");
  if (typing && event.key === "Escape") event.target.blur();
  if (typing || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (/^[1-9]$/.test(event.key)) {
    const chosen = state.classes[Number(event.key) - 1];
    if (chosen) decide("label", chosen.name);
  } else if (event.key === "Enter" && !event.target.closest("button, a, summary, canvas")) {
    const guess = ask.current?.guesses[0];
    if (guess && !ask.current.label && state.classes.length > 1) decide("label", guess.name);
  } else if (keys[event.key]) keys[event.key]();
  else return;
  event.preventDefault();
});

listen(changed, trouble);
