// The token game. The history lives here; the server computes what can fire, what a firing changes, and what the simulator fires.

const { ask, begin, button, element, picture, report, short, table } = await import(`/common.js${location.search}`);
const { Zoom } = await import(`/zoom.js${location.search}`);

// Milliseconds after the last firing until the page asks for the rates of the enabled transitions.
const REST_MS = 100;

// Maximum number of tokens drawn as dots, and the positions of one to five dots around the centre of a place, as in
// the pictures of tailspn.
const MOST_DOTS = 5;
const SPOTS = [[], [[0, 0]], [[-1, 0], [1, 0]], [[0, -1], [-1, 0.8], [1, 0.8]], [[-1, -1], [1, -1], [-1, 1], [1, 1]],
  [[-1, -1], [1, -1], [0, 0], [-1, 1], [1, 1]]];

// Maximum number of invariants that are shown.
const MOST_INVARIANTS = 100;

const page = document.getElementById("page");
let start = await begin("/net/start");
const numbers = new Map(start.transitions.map(({ id }, number) => [id, number]));
const title = (id) => start.transitions[numbers.get(id)].title;

// Expressions in place of the rates and weights of the file, by transition.
let rates = {};

// The present marking, and the numbers of the transitions that can fire in it.
let marking = [];
let enabled = new Set();

// The firings of the history: { transition, at, tokens, toggled }. Those from `now` on can be redone.
let steps = [];
let now = 0;

let invariants = [];
let busy = false;
let playing = false;
let resting = null;
let zoom = null;
// Elements of the picture, per place and per transition, and the cells of the table of the marking.
let circles = [];
let boxes = [];
let cells = [];

const field = (properties) => element("input", { type: "number", min: 0, step: 1, value: 0, ...properties });
const status = element("p", { className: "status", role: "status" });
const ended = element("p", { className: "note" });
const problem = element("p", { className: "problem", role: "alert", hidden: true });
const drawing = element("div", { className: "picture net" });
const movesPart = element("section", { className: "moves" });
const invariantsPart = element("section", { className: "invariants" });
const markingPart = element("section", { className: "marking" });
const ratesPart = element("details", { className: "rates" });
const seed = field({ max: Number.MAX_SAFE_INTEGER });
const replication = field({ max: Number.MAX_SAFE_INTEGER });
const until = element("input", { type: "text", placeholder: "nothing can fire", spellcheck: false });
const speed = field({ min: 1, max: 1000, value: 2 });
const slider = element("input", { type: "range", min: 0, max: 0, value: 0, oninput: () => { pause(); go(Number(slider.value)); } });
const undo = button("Undo", () => { pause(); go(now - 1); });
const redo = button("Redo", () => { pause(); go(now + 1); });
const restart = button("Restart", () => { pause(); go(0); });
const step = button("Step", takeStep, "Fire one transition, chosen at random");
const record = button("Record", () => { pause(); recordRun(); }, "Simulate from this marking; the firings can then be played and stepped through");
const play = button("Play", () => (playing ? pause() : resume()));
const labelled = (text, input) => element("label", {}, text, input);
const bar = (...parts) => element("div", { className: "bar" }, ...parts);

document.title = `${start.name} – tailspn`;
page.replaceChildren(
  element("h1", {}, start.name),
  bar(undo, redo, restart, step, button("Download PIPE XML", download, "With this marking and these rates"),
    button("Zoom in", () => zoom?.in(), "Ctrl with the mouse wheel also zooms; dragging moves the picture"),
    button("Zoom out", () => zoom?.out()), button("Whole picture", () => zoom?.whole())),
  bar(record, play, labelled("Seed", seed), labelled("Replication", replication), labelled("Until", until),
    labelled("Firings per second", speed), labelled("Firing", slider)),
  element("p", { className: "note" },
    "Click a highlighted transition, or focus it and press Enter, to fire it. Immediate transitions fire before timed ones. " +
    "Record runs the simulator from this marking, Play shows its firings, and the slider goes to any of them."),
  status, ended, problem, drawing, element("div", { className: "tables" }, movesPart, invariantsPart, markingPart), ratesPart,
  element("h2", {}, "Questions about this marking"), ...start.forms.map(form));
begins();
showRates();
findInvariants();

// Shows the net from its first picture on, with an empty history.
function begins() {
  const svg = start.picture;
  if (svg === null) drawing.replaceChildren(element("p", { className: "note" }, "The net is too large to draw; fire transitions in the table."));
  else draw(picture(svg));
  const heads = start.classes.length === 1 ? ["tokens"] : start.classes.map(({ id }) => id);
  const list = table(["place", ...heads], start.places.map((id) => [id, ...heads.map(() => "")]));
  cells = [...list.querySelectorAll("td:not(:first-child)")];
  markingPart.replaceChildren(element("h2", {}, "Marking"), list);
  reset(start.view.marking, start.view.moves.map((one) => numbers.get(one.transition)), []);
  showMoves(start.view.moves);
}

// Replaces the history.
function reset(from, can, firings) {
  marking = [...from];
  enabled = new Set(can);
  [steps, now] = [firings, 0];
  paint(start.places.keys(), start.transitions.keys());
  show();
}

function tell(error) {
  problem.textContent = error.message;
  problem.hidden = false;
}

// Goes to the marking after `number` firings of the history; `moves` are the transitions that can fire there, if known.
function go(number, moves) {
  if (number < 0 || number > steps.length) return;
  const [places, transitions] = [new Set(), new Set()];
  const change = ({ tokens, toggled }, forward) => {
    for (const [counter, before, after] of tokens) {
      marking[counter] = forward ? after : before;
      places.add(Math.floor(counter / start.classes.length));
    }
    for (const t of toggled) {
      if (!enabled.delete(t)) enabled.add(t);
      transitions.add(t);
    }
  };
  while (now < number) change(steps[now++], true);
  while (now > number) change(steps[--now], false);
  paint(places, transitions);
  show();
  if (moves !== undefined) showMoves(moves);
  else if (!playing) rest();
}

// Asks for the rates of the enabled transitions, once the marking stays as it is.
function rest() {
  clearTimeout(resting);
  movesPart.classList.add("waiting");
  resting = setTimeout(async () => {
    const asked = [steps, now];
    try {
      const { moves } = await ask("/net/view", { marking, rates });
      if (asked[0] === steps && asked[1] === now) showMoves(moves);
    } catch (error) {
      tell(error);
    }
  }, REST_MS);
}

// Sends a request about the present marking, and replaces the firings that could be redone by its own. Returns null if it is refused.
async function extend(path, more) {
  if (busy) return null;
  busy = true;
  problem.hidden = true;
  ended.textContent = "";
  try {
    const found = await ask(path, { marking, rates, ...more });
    const before = timeAt(now);
    const at = (time_s) => (before === null || time_s === null ? null : before + time_s);
    steps = [...steps.slice(0, now), ...found.steps.map((one) => ({ ...one, at: at(one.time_s) }))];
    return found;
  } catch (error) {
    tell(error);
    return null;
  } finally {
    busy = false;
  }
}

// The model time after a number of firings; null after a transition that the user fired.
function timeAt(number) { return number === 0 ? 0 : steps[number - 1].at; }

async function fire(id) {
  pause();
  const found = await extend("/net/fire", { transitions: [id] });
  if (found !== null) go(now + 1, found.view.moves);
}

function whole(input) { return Math.max(0, Math.floor(Number(input.value) || 0)); }

async function takeStep() {
  pause();
  const found = await extend("/net/run", { seed: whole(seed), replication: now, firings: 1 });
  if (found?.steps.length > 0) go(now + 1, found.view.moves);
}

// Records what the simulator fires from this marking on.
async function recordRun() {
  const found = await extend("/net/run", { seed: whole(seed), replication: whole(replication), until: until.value });
  if (found === null) return false;
  const ends = { goal: "the goal is reached", dead: "nothing can fire", firings: "the limit of firings is reached" };
  ended.textContent = `Recorded ${found.steps.length} firings; after ${short(found.end_s)} s ${ends[found.ending] ?? "it stops"}.`;
  show();
  return found.steps.length > 0;
}

async function resume() {
  if (now === steps.length && !(await recordRun())) return;
  playing = true;
  play.textContent = "Pause";
  let last = performance.now();
  const frame = (time) => {
    if (!playing) return;
    const pace = 1000 / Math.max(0.1, Number(speed.value) || 1);
    const due = Math.max(0, Math.floor((time - last) / pace));
    last += due * pace;
    if (due > 0) go(Math.min(now + due, steps.length));
    if (now === steps.length) pause();
    else requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}

function pause() {
  if (!playing) return;
  playing = false;
  play.textContent = "Play";
  rest();
}

async function download() {
  problem.hidden = true;
  try {
    const file = await ask("/net/pipe", { marking, rates });
    const link = element("a", { href: URL.createObjectURL(new Blob([file.xml], { type: "application/xml" })), download: "net.xml" });
    link.click();
    URL.revokeObjectURL(link.href);
    if (file.warnings.length > 0) throw new Error(`PIPE loads this differently: ${file.warnings.join("; ")}`);
  } catch (error) {
    tell(error);
  }
}

// Shows where the history is.
function show() {
  undo.disabled = restart.disabled = now === 0;
  redo.disabled = now === steps.length;
  step.disabled = record.disabled = enabled.size === 0;
  play.disabled = enabled.size === 0 && now === steps.length;
  slider.max = steps.length;
  slider.value = now;
  slider.disabled = steps.length === 0;
  const time = timeAt(now);
  const last = now > 0 ? `Fired ${title(steps[now - 1].transition)}. ` : "";
  const end = enabled.size === 0 ? " Nothing can fire: the marking is dead." : "";
  status.textContent = `${last}${now} ${now === 1 ? "firing" : "firings"}${time === null ? "" : `, model time ${short(time)} s`}.${end}`;
}

// Prepares the picture for tokens and firings. Its circles and boxes are the places and transitions in the order of the net.
function draw(svg) {
  svg.setAttribute("role", "group");
  svg.setAttribute("aria-label", "The net");
  circles = [...svg.querySelectorAll("circle.place")].map((circle) => {
    const group = shape("g");
    circle.after(group);
    return { group, x: circle.cx.baseVal.value, y: circle.cy.baseVal.value };
  });
  boxes = [...svg.querySelectorAll("rect.timed, rect.immediate")];
  start.transitions.forEach(({ id }, number) => {
    boxes[number].dataset.transition = id;
    boxes[number].setAttribute("role", "button");
  });
  const press = (event) => {
    const id = event.target.dataset?.transition;
    if (id !== undefined && enabled.has(numbers.get(id))) fire(id);
  };
  svg.addEventListener("click", (event) => { if (!zoom.dragged) press(event); });
  svg.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    press(event);
  });
  drawing.replaceChildren(svg);
  zoom = new Zoom(svg, zoom);
}

function shape(name, attributes = {}, colour = "", text = "") {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.style.fill = colour;
  made.textContent = text;
  return made;
}

// Brings tokens of places and the look of transitions in line with the marking.
function paint(places, transitions) {
  const classes = start.classes.length;
  for (const place of places) {
    for (let c = place * classes; c < (place + 1) * classes; c += 1) cells[c].textContent = marking[c];
    if (circles.length > 0) paintTokens(circles[place], marking.slice(place * classes, (place + 1) * classes));
  }
  if (boxes.length === 0) return;
  for (const t of transitions) {
    const [box, can, name] = [boxes[t], enabled.has(t), start.transitions[t].title];
    box.classList.toggle("movable", can);
    box.setAttribute("aria-label", can ? `fire ${name}` : `${name}, cannot fire`);
    box.setAttribute("tabindex", can ? "0" : "-1");
    box.setAttribute("aria-disabled", String(!can));
  }
}

function paintTokens({ group, x, y }, tokens) {
  const used = start.classes.map(({ colour }, c) => [tokens[c], `rgb(${colour})`]).filter(([count]) => count > 0);
  const total = used.reduce((sum, [count]) => sum + count, 0);
  const number = ([count, colour], row) =>
    shape("text", { x, y: y + 4 - 5 * (used.length - 1) + 10 * row, "text-anchor": "middle" }, colour, count);
  const dot = (colour, i) => shape("circle", { cx: x + 6 * SPOTS[total][i][0], cy: y + 6 * SPOTS[total][i][1], r: 3.2 }, colour);
  group.replaceChildren(...(total > MOST_DOTS ? used.map(number) : used.flatMap(([count, colour]) => Array(count).fill(colour)).map(dot)));
}

// The enabled transitions with their rates, and the invariants at this marking.
function showMoves(moves) {
  const when = (one) => {
    if (one.probability !== undefined) return `immediately, with probability ${short(one.probability)}`;
    return one.rate_per_s !== undefined ? `rate ${short(one.rate_per_s)} per s` : "another distribution";
  };
  const rows = moves.map((one) => {
    const press = button("Fire", () => fire(one.transition));
    press.setAttribute("aria-label", `Fire ${title(one.transition)}`);
    return [title(one.transition), when(one), press];
  });
  const focused = movesPart.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") : null;
  movesPart.classList.remove("waiting");
  movesPart.replaceChildren(element("h2", {}, "Enabled transitions"), table(["transition", "when", "firing"], rows));
  showInvariants();
  if (focused === null) return;
  const buttons = [...movesPart.querySelectorAll("button")];
  (buttons.find((one) => one.getAttribute("aria-label") === focused) ?? buttons[0] ?? undo).focus();
}

// Finds the weighted sums of tokens that no firing changes.
async function findInvariants() {
  try {
    const { result } = await ask("/net/ask", { marking, rates, command: "structure", values: { only: "invariants" } });
    const counters = new Map(result.rows.map((name, counter) => [name, counter]));
    invariants = result.place_semiflows.vectors.slice(0, MOST_INVARIANTS).map(({ weights }) =>
      weights.map(({ name, weight }) => ({ name, weight: Number(weight), counter: counters.get(name) })));
    showInvariants();
  } catch (error) {
    tell(error);
  }
}

function showInvariants() {
  // of one class, a counter is a place
  const shown = ({ name, counter }) => (start.classes.length === 1 ? start.places[counter] : name);
  const sum = (terms) => terms.map((term) => (term.weight === 1 ? shown(term) : `${term.weight} ${shown(term)}`)).join(" + ");
  const value = (terms) => terms.reduce((total, { weight, counter }) => total + weight * marking[counter], 0);
  const rows = invariants.map((terms) => [sum(terms), String(value(terms))]);
  invariantsPart.replaceChildren(element("h2", {}, "Invariants"), table(["constant sum", "tokens"], rows));
}

// Fields for the rates of exponential and the weights of immediate transitions.
function showRates() {
  const rows = start.transitions.filter(({ rate }) => rate !== null).map(({ id, title: name, rate, immediate }) => {
    const input = element("input", { type: "text", placeholder: rate, spellcheck: false, onchange: () => changeRate(id, input) });
    input.setAttribute("aria-label", `${immediate ? "Weight" : "Rate"} of ${name}`);
    return [name, immediate ? "weight" : "rate per s", input];
  });
  ratesPart.replaceChildren(element("summary", {}, "Rates and weights"), table(["transition", "kind", "value"], rows));
}

// Compiles the net with another rate, or with the file's rate if the field is empty, and starts a new history at this marking.
async function changeRate(id, input) {
  pause();
  problem.hidden = true;
  const before = rates;
  const { [id]: _, ...wanted } = before;
  if (input.value.trim() !== "") wanted[id] = input.value;
  rates = wanted;
  try {
    const found = await ask("/net/start", { marking, rates });
    // an answer to an older change is dropped
    if (rates !== wanted) return;
    start = found;
    begins();
  } catch (error) {
    if (rates === wanted) rates = before;
    tell(error);
  }
}

// A command of tailspn with its fields; its report appears below, with the firing sequences that it found.
function form({ name, title, fields }) {
  const inputs = fields.map(({ option, label, example }) =>
    [option, label, element("input", { type: "text", placeholder: `such as ${example}`, spellcheck: false })]);
  const output = element("div");
  const run = button("Run", async () => {
    const asked = { marking: [...marking], enabled: [...enabled] };
    run.disabled = true;
    output.replaceChildren(element("p", { className: "note", role: "status" }, "Computing …"));
    try {
      const values = Object.fromEntries(inputs.map(([option, , input]) => [option, input.value]));
      const found = await ask("/net/ask", { marking, rates, command: name, values });
      const notes = found.remarks.map((text) => element("p", { className: "note" }, text));
      output.replaceChildren(...notes, ...replays(asked, witnesses(found.result)), report(found.report));
    } catch (error) {
      output.replaceChildren(element("p", { className: "problem", role: "alert" }, error.message));
    } finally {
      run.disabled = false;
    }
  });
  run.setAttribute("aria-label", `Run: ${title}`);
  return element("details", { className: `form ${name}` }, element("summary", {}, title),
    bar(...inputs.map(([, label, input]) => labelled(label, input)), run), output);
}

// A choice of firing sequences to replay.
function replays(asked, sequences) {
  if (sequences.length === 0) return [];
  const choice = element("select", {}, ...sequences.map(([text], number) => element("option", { value: number }, text)));
  return [bar(labelled("Firing sequence", choice), button("Replay", () => replay(asked, ...sequences[choice.value])))];
}

// The firing sequences of a result: for formulas, to a deadlock, without bound, and to the most tokens of a place.
function witnesses(result) {
  const found = [];
  const add = (text, path) => { if (path?.length > 0) found.push([text, path]); };
  for (const { formula, evidence } of result.formulas ?? []) add(formula, evidence && [...evidence.path, ...(evidence.cycle ?? [])]);
  add("the deadlock", result.deadlocks?.path);
  if (result.unbounded) add("unbounded growth", [...result.unbounded.prefix, ...result.unbounded.cycle]);
  for (const { name, bound, path } of result.bounds ?? []) add(`maximum tokens in ${name}: ${bound}`, path);
  return found;
}

// Loads a firing sequence as a history, at its start.
async function replay({ marking: from, enabled: can }, text, path) {
  pause();
  problem.hidden = true;
  try {
    const found = await ask("/net/fire", { marking: from, rates, transitions: path });
    reset(from, can, found.steps.map((one) => ({ ...one, at: null })));
    rest();
    ended.textContent = `Replay of ${text}: ${path.length} firings. Redo fires one at a time, Play fires all of them.`;
    drawing.scrollIntoView();
  } catch (error) {
    tell(error);
  }
}
