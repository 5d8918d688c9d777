// A planned job with other values. Answers come from the command `tailspn estimate`.

const { ask, begin, button, element, picture, short, table } = await import(`/common.js${location.search}`);

// Replications of the first, quick answer.
const FEW = 200;

// Milliseconds to wait for more typing.
const TYPING_MS = 300;

const page = document.getElementById("page");
const start = await begin("/job/start");

// Each question has a number; an answer to an older one is dropped.
let asked = 0;
let running = null;
let typing = null;

const inputs = new Map(start.fields.map((field) => {
  const input = element("input", { type: "text", placeholder: `such as ${field.example}`, spellcheck: false, oninput: changed });
  return [field.option, { field, input }];
}));
const reps = element("input", { type: "number", min: 1, step: 1, value: 2000, oninput: changed });
const seed = element("input", { type: "number", min: 0, step: 1, placeholder: "of the plan", oninput: changed });
const status = element("p", { className: "status", role: "status" });
const problem = element("p", { className: "problem", role: "alert", hidden: true });
const answer = element("div");

document.title = `${start.plan ?? "default job"} – tailspn`;
page.replaceChildren(
  element("h1", {}, start.plan ?? "The default job"),
  element("div", { className: "bar" },
    ...[...inputs.values()].map(({ field, input }) => element("label", {}, field.label, input)),
    element("label", {}, "Replications", reps), element("label", {}, "Seed", seed)),
  element("p", { className: "note" }, "An empty field keeps the value of the plan."),
  status, problem, answer);
estimate();

function changed() {
  clearTimeout(typing);
  typing = setTimeout(estimate, TYPING_MS);
}

// Asks with few replications first, then with all of them.
async function estimate() {
  const number = ++asked;
  running?.abort();
  running = new AbortController();
  const { signal } = running;
  problem.hidden = true;
  answer.classList.add("waiting");
  const options = {};
  for (const [option, { input }] of inputs) {
    if (input.value.trim() !== "") options[option] = input.value;
  }
  const all = Math.max(1, Math.floor(Number(reps.value) || 1));
  const settings = { options };
  if (seed.value !== "") settings.seed = Math.max(0, Math.floor(Number(seed.value) || 0));
  try {
    for (const few of all > FEW ? [FEW, all] : [all]) {
      status.textContent = `Estimating with ${few} replications …`;
      const found = await ask("/job/estimate", { ...settings, reps: few }, signal);
      if (number !== asked) return;
      show(found);
      answer.classList.remove("waiting");
    }
    status.textContent = `${all} replications.`;
  } catch (error) {
    if (number !== asked || error.name === "AbortError") return;
    status.textContent = "";
    problem.textContent = error.message;
    problem.hidden = false;
  }
}

// Mean, quantiles and the probability to meet the deadline, from the keys of docs/json.md.
function numbers(result) {
  const ends = (found) => (found && found.low !== null && found.low !== undefined
    ? `${short(found.low)} to ${short(found.high)}` : "");
  const rows = [];
  const add = (name, found, unit = " s") => {
    const value = found?.value ?? found?.value_s;
    if (value !== undefined && value !== null) rows.push([name, `${short(value)}${unit}`, ends(found)]);
  };
  const quantiles = (list, by) => [0.5, 0.95, 0.99].forEach((p) =>
    add(`p${100 * p}${by}`, list?.find((one) => Math.abs(one.p - p) < 1e-9)));
  if (result.analytic) {
    const [low, high] = result.analytic.mean_bounds ?? [];
    add("mean, exact", { value: result.analytic.mean, low, high });
    quantiles(result.analytic.quantiles, ", exact");
  }
  if (result.job_time) {
    add("mean, simulated", result.job_time.mean);
    quantiles(result.job_time.quantiles, ", simulated");
  }
  if (result.kind === "estimate_stages") {
    add("mean of a typical run", result.usual_mean);
    add("mean of the next run", { value: result.mean_s });
    quantiles(result.quantiles, " of the next run");
  }
  const percent = (found) => found && { value: 100 * found.value, low: scaled(found.low), high: scaled(found.high) };
  add(`P(done by ${short(result.deadline?.deadline_s)} s), exact`, percent(result.deadline?.exact), "%");
  add(`P(done by ${short(result.deadline?.deadline_s)} s), simulated`, percent(result.deadline?.simulated), "%");
  return rows;
}

function scaled(value) { return value === null || value === undefined ? value : 100 * value; }

function show({ result, pictures, remarks, command }) {
  const copy = button("Copy as command", async () => {
    try {
      await navigator.clipboard.writeText(command);
      copy.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(text);
    }
  });
  const text = element("code", {}, command);
  answer.replaceChildren(
    element("h2", {}, "Job time"),
    table(["", "value", "interval"], numbers(result)),
    ...remarks.map((remark) => element("p", { className: "note" }, remark)),
    element("p", {}, copy, " ", text),
    ...pictures.map(({ wide }) => element("div", { className: "picture" }, picture(wide))));
}
