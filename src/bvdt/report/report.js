// The report's map: its points are packed in the page.
(() => {
  const source = document.getElementById("map-data");
  if (!source) return;
  const data = JSON.parse(source.textContent);
  const bytes = (name) => data[name] === undefined ? null
    : Uint8Array.from(atob(data[name]), (c) => c.charCodeAt(0));
  const words = (name) => { const b = bytes(name); return b && new Uint16Array(b.buffer); };
  const numbers = (name) => {
    const b = bytes(name);
    return b && new (data.classBytes === 4 ? Uint32Array : Uint16Array)(b.buffer);
  };
  const label = numbers("label"), given = bytes("given"), confidence = words("confidence"), runnerUp = numbers("runnerUp");
  function lines(i) {
    const found = [["tip-id", data.ids[i]]];
    if (label) {
      let text = data.classes[label[i]] || "no label";
      if (given[i]) text += " · given";
      else if (confidence) text += " · " + (confidence[i] / 10).toFixed(0) + " % confidence";
      found.push(["tip-label", text]);
      if (!given[i] && runnerUp && runnerUp[i] < data.classes.length)
        found.push(["tip-next", "or " + data.classes[runnerUp[i]]]);
    }
    if (data.because && data.because[i]) found.push(["tip-because", "because of " + data.because[i]]);
    if (data.texts) found.push(["tip-text", data.texts[i]]);
    return found;
  }
  pointMap(document.getElementById("map"), { n: data.n, xy: words("xy"), marks: data.marks, label, given }, { lines });
})();
