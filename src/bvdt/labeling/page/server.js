// Requests to the server, with the token behind the # of the address, and its stream of events.
// A code that serves once stands there where bvdt itself opened the browser: process lists show addresses.
const given = decodeURIComponent(location.hash.slice(1));
const token = await exchanged(given) || sessionStorage.getItem("bvdt-token") || "";
if (token) sessionStorage.setItem("bvdt-token", token);

async function exchanged(code) {
  if (!code.startsWith("once-")) return code;
  history.replaceState(null, "", location.pathname);
  const response = await fetch("/token", { headers: { "X-Bvdt-Once": code }, cache: "no-store" });
  return response.ok ? response.text() : "";
}

export function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
}

// One per tab, the same after a reload: the server gives each another document.
export const client = sessionStorage.getItem("bvdt-client") || newId();
sessionStorage.setItem("bvdt-client", client);

async function answered(path, options = {}) {
  const headers = { "X-Bvdt-Token": token, ...(options.headers || {}) };
  const response = await fetch(path, { ...options, headers, cache: "no-store" });
  if (response.ok) return response;
  let reason = await response.text();
  try { reason = JSON.parse(reason).error; } catch { /* plain text */ }
  throw Object.assign(new Error(reason || "The server gave no answer."), { status: response.status });
}

export const get = async (path) => (await answered(path)).json();
export const raw = (path) => answered(path);
export const post = async (path, body) => (await answered(path, {
  method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
})).json();

// Calls changed() for every new version; comes back by itself when the server was away.
export async function listen(changed, lost) {
  for (let wait = 500; ; wait = Math.min(wait * 2, 10000)) {
    try {
      const reader = (await answered("/api/events")).body.getReader();
      const decoder = new TextDecoder();
      for (let rest = ""; ;) {
        const { done, value } = await reader.read();
        if (done) break;
        const lines = (rest + decoder.decode(value, { stream: true })).split("\n\n");
        rest = lines.pop();
        if (lines.some((line) => line.startsWith("data:"))) { wait = 500; changed(); }
      }
    } catch (error) {
      if (error.status === 401) { lost(error.message); return; }
    }
    lost("The server is away; labels are not saved until it is back.");
    await new Promise((done) => setTimeout(done, wait));
  }
}
