// Parts that all pages share: requests with the token, elements, numbers.

const token = new URLSearchParams(location.search).get("token") ?? "";

// The path of this page: empty, or such as /2 for the second of several pages.
const base = location.pathname.replace(/\/$/, "");

// Asks the server. Throws an error with the server's message if it refuses.
export async function ask(path, body, signal) {
  const headers = { "X-Tailspn-Token": token };
  const settings = { headers, signal };
  if (body !== undefined) {
    headers["Content-Type"] = "application/json";
    Object.assign(settings, { method: "POST", body: JSON.stringify(body) });
  }
  let answer;
  try {
    answer = await fetch(base + path, settings);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The server does not answer. Is `tailspn serve` still running?");
  }
  const found = await answer.json().catch(() => ({ error: `The server answers with the status ${answer.status}.` }));
  if (!answer.ok) throw new Error(found.help ? `${found.error} (${found.help})` : found.error);
  return found;
}

// Returns the first answer; if it fails, shows the error instead of the page.
export async function begin(path) {
  try {
    return await ask(path);
  } catch (error) {
    document.getElementById("page").replaceChildren(element("p", { className: "problem", role: "alert" }, error.message));
    throw error;
  }
}

// An element with properties and children; text stays text.
export function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

// A button.
export function button(text, press, title = "") {
  return element("button", { type: "button", textContent: text, title, onclick: press });
}

// A button that copies a text; if copying is not allowed, the text is shown and selected.
export function copier(name, text) {
  const copy = button(name, async () => {
    try {
      await navigator.clipboard.writeText(text);
      copy.textContent = "Copied";
    } catch {
      const shown = element("textarea", { readOnly: true, rows: 8, value: text });
      copy.after(shown);
      shown.select();
    }
  });
  return copy;
}

export function pause(milliseconds) { return new Promise((done) => { setTimeout(done, milliseconds); }); }

// A table of texts; the first cell of each row is its name.
export function table(head, rows) {
  const line = (cells, cell) => element("tr", {}, ...cells.map((text) => element(cell, {}, text)));
  return element("table", {},
    element("thead", {}, line(head, "th")),
    element("tbody", {}, ...rows.map((cells) => line(cells, "td"))));
}

// A picture from the server as an element. It is parsed as a separate document, so that no text in it runs as a
// script.
export function picture(svg) {
  const parsed = new DOMParser().parseFromString(svg, "image/svg+xml");
  return document.importNode(parsed.documentElement, true);
}

// A remark, and a problem.
export function note(text) { return element("p", { className: "note" }, text); }

export function problem(text) { return element("p", { className: "problem", role: "alert" }, text); }

// A number with four significant digits.
export function short(number) {
  if (number === 0 || !Number.isFinite(number)) return String(number);
  const size = Math.abs(number);
  return size >= 1e-3 && size < 1e6 ? String(Number(number.toPrecision(4))) : number.toExponential(3);
}

// A report in a shadow tree, so that its style stays separate. It is parsed as a separate document, in which no
// script runs.
export function report(html) {
  const parsed = new DOMParser().parseFromString(html, "text/html");
  const style = element("style", {}, parsed.querySelector("style").textContent.replaceAll(":root", ":host"));
  const main = document.importNode(parsed.querySelector("main"), true);
  // the page has a main part of its own
  main.setAttribute("role", "presentation");
  const frame = element("div", { className: "report" });
  frame.attachShadow({ mode: "open" }).append(style, main);
  return frame;
}
