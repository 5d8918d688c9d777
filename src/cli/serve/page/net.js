// The token game. The markings live here; the server computes what can fire and what a firing does.

const { ask, begin, button, element, picture, short, table } = await import(`/common.js${location.search}`);
const { Zoom } = await import(`/zoom.js${location.search}`);

// Milliseconds between two steps of a play.
const PACE_MS = 500;

// Number of last pictures that are kept; the server draws older ones again.
const KEPT = 50;

const page = document.getElementById("page");
const start = await begin("/net/start");

// One entry per firing, the start first: { view, text, delay_s }. Those after `now` can be redone.
let past = [{ view: start.view, text: "start", delay_s: 0 }];
let now = 0;
let busy = false;
let timer = null;
let zoom = null;

const status = element("p", { className: "status", role: "status" });
const problem = element("p", { className: "problem", role: "alert", hidden: true });
const drawing = element("div", { className: "picture" });
const tables = element("div", { className: "tables" });
const seed = element("input", { type: "number", min: 0, step: 1, value: 0, max: Number.MAX_SAFE_INTEGER });
const undo = button("Undo", () => go(now - 1));
const redo = button("Redo", () => go(now + 1));
const restart = button("Restart", () => go(0));
const step = button("Step", () => { pause(); takeStep(); }, "Fire one transition by chance");
const play = button("Play", () => (timer === null ? resume() : pause()));

document.title = `${start.name || "net"} – tailspn`;
page.replaceChildren(
  element("h1", {}, start.name || "Net"),
  element("div", { className: "bar" }, undo, redo, restart, step, play,
    element("label", {}, "Seed", seed), button("Download PIPE XML", download),
    button("Zoom in", () => zoom?.in(), "Ctrl and the wheel zoom too; dragging moves the picture"),
    button("Zoom out", () => zoom?.out()), button("Whole picture", () => zoom?.whole())),
  element("p", { className: "note" },
    "Click a highlighted transition, or focus it and press Enter, to fire it. Immediate transitions fire before timed ones. " +
    "A step chooses by chance as the simulator does: among immediate transitions by weight, otherwise the timed transition whose delay " +
    "runs out first. Delays are drawn anew at each step; for delays that are not exponential, a simulation remembers the time they ran."),
  status, problem, drawing, tables);
show();

function view() { return past[now].view; }

function tell(error) {
  problem.textContent = error.message;
  problem.hidden = false;
}

async function go(number) {
  if (busy || number < 0 || number >= past.length) return;
  pause();
  busy = true;
  problem.hidden = true;
  try {
    const entry = past[number];
    if (entry.view.picture === undefined) entry.view = await ask("/net/view", { marking: entry.view.marking });
    now = number;
    show();
  } catch (error) {
    tell(error);
  } finally {
    busy = false;
  }
}

// Sends a request about the current marking, and goes to the marking after it. Returns false if nothing fired.
async function move(path, more) {
  if (busy) return true;
  busy = true;
  problem.hidden = true;
  try {
    const fired = await ask(path, { marking: view().marking, ...more });
    if (fired.transition === null) return false;
    past = past.slice(0, now + 1);
    past.push({ view: fired.view, text: fired.transition, delay_s: fired.delay_s });
    now += 1;
    if (now >= KEPT) past[now - KEPT].view.picture = undefined;
    show();
    return true;
  } catch (error) {
    tell(error);
    return false;
  } finally {
    busy = false;
  }
}

async function takeStep() {
  const more = await move("/net/step", { seed: Math.max(0, Math.floor(Number(seed.value) || 0)), step: now });
  if (!more) pause();
}

function resume() {
  timer = setInterval(takeStep, PACE_MS);
  play.textContent = "Pause";
}

function pause() {
  if (timer !== null) clearInterval(timer);
  timer = null;
  play.textContent = "Play";
}

async function download() {
  problem.hidden = true;
  try {
    const file = await ask("/net/pipe", { marking: view().marking });
    const link = element("a", { href: URL.createObjectURL(new Blob([file.xml], { type: "application/xml" })), download: "net.xml" });
    link.click();
    URL.revokeObjectURL(link.href);
    if (file.warnings.length > 0) throw new Error(`PIPE loads this differently: ${file.warnings.join("; ")}`);
  } catch (error) {
    tell(error);
  }
}

function show() {
  const { marking, moves, picture: svg } = view();
  undo.disabled = restart.disabled = now === 0;
  redo.disabled = now === past.length - 1;
  step.disabled = moves.length === 0;
  const delays = past.slice(1, now + 1).map((entry) => entry.delay_s);
  const time = delays.every((delay) => delay !== null) ? `, model time ${short(delays.reduce((a, b) => a + b, 0))} s` : "";
  const last = now > 0 ? `Fired ${past[now].text}. ` : "";
  const end = moves.length === 0 ? " Nothing can fire: the marking is dead." : "";
  status.textContent = `${last}${now} ${now === 1 ? "firing" : "firings"}${time}.${end}`;
  if (svg === null) {
    drawing.replaceChildren(element("p", { className: "note" }, "The net is too large to draw; fire transitions in the table."));
  } else {
    draw(svg, moves);
  }
  showTables(marking, moves);
}

// The boxes and bars of a picture are the transitions in the order of the net.
function draw(svg, moves) {
  const focused = document.activeElement?.dataset?.transition;
  const drawn = picture(svg);
  const boxes = drawn.querySelectorAll("rect.timed, rect.immediate");
  start.transitions.forEach(({ id }, number) => {
    const box = boxes[number];
    if (box === undefined) return;
    const can = moves.some((one) => one.transition === id);
    box.dataset.transition = id;
    box.setAttribute("tabindex", "0");
    box.setAttribute("role", "button");
    box.setAttribute("aria-label", can ? `fire ${id}` : `${id}, cannot fire`);
    box.setAttribute("aria-disabled", String(!can));
    if (!can) return;
    box.classList.add("movable");
    const fire = () => { pause(); move("/net/fire", { transition: id }); };
    box.addEventListener("click", () => { if (!zoom.dragged) fire(); });
    box.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      fire();
    });
  });
  drawing.replaceChildren(drawn);
  zoom = new Zoom(drawn, zoom);
  if (focused !== undefined) [...boxes].find((box) => box.dataset.transition === focused)?.focus();
}

function showTables(marking, moves) {
  const classes = start.classes.length;
  const tokens = (place) => marking.slice(place * classes, (place + 1) * classes).map(String);
  const heads = classes === 1 ? ["tokens"] : start.classes;
  const places = start.places.map(({ id }, place) => [id, ...tokens(place)]);
  const when = (one) => {
    if (one.probability !== undefined) return `at once, probability ${short(one.probability)}`;
    return one.rate_per_s !== undefined ? `rate ${short(one.rate_per_s)} per s` : "another distribution";
  };
  const rows = moves.map((one) => {
    const fire = button("Fire", () => { pause(); move("/net/fire", { transition: one.transition }); });
    fire.setAttribute("aria-label", `fire ${one.transition}`);
    return [one.transition, when(one), fire];
  });
  const focused = tables.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") : null;
  tables.replaceChildren(
    element("section", {}, element("h2", {}, "Enabled transitions"), table(["transition", "when", ""], rows)),
    element("section", {}, element("h2", {}, "Marking"), table(["place", ...heads], places)));
  if (focused === null) return;
  const buttons = [...tables.querySelectorAll("button")];
  (buttons.find((one) => one.getAttribute("aria-label") === focused) ?? buttons[0] ?? step).focus();
}
