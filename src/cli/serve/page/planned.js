// A planned job with other values. Answers come from the commands `tailspn estimate` and `tailspn study`.

const { ask, button, copier, element, note, pause, picture, problem, report, short, table } =
  await import(`/common.js${location.search}`);

// Milliseconds to wait for more typing, and between two requests for the progress of a search.
const TYPING_MS = 300;
const POLL_MS = 500;

// The fields, numbers and pictures of a job. `plan` is the text of a fitted plan; without it, the server has the plan.
export function planned(fields, plan) {
  // each question has a number; an answer to an older one is dropped
  let asked = 0;
  let running = null;
  let typing = null;
  let pinned = null;
  let last = null;
  const later = () => {
    clearTimeout(typing);
    typing = setTimeout(estimate, TYPING_MS);
  };
  const inputs = fields.map((field) => control(field, later, estimate));
  const reps = element("input", { type: "number", min: 1, step: 1, value: 2000, oninput: later });
  const seed = element("input", { type: "number", min: 0, step: 1, placeholder: "of the plan", oninput: later });
  const status = element("p", { className: "status", role: "status" });
  const problems = element("div");
  const answer = element("div");
  const pin = button("Pin these values", () => {
    pinned = pinned === null ? options() : null;
    pin.textContent = pinned === null ? "Pin these values" : "Unpin";
    estimate();
  }, "Keep these values, and compare later values with them");
  estimate();
  return element("div", {},
    element("div", { className: "bar" }, ...inputs.map(({ box }) => box)),
    note("An empty field keeps the value of the plan."),
    element("div", { className: "bar" },
      element("label", {}, "Replications", reps), element("label", {}, "Seed", seed), pin), status, problems, answer, cheapest(() => last));

  function options() {
    const filled = inputs.filter(({ input }) => input.value.trim() !== "");
    return Object.fromEntries(filled.map(({ option, input }) => [option, input.value]));
  }

  // Asks for a quick answer of fewer replications first, then for all of them.
  async function estimate() {
    clearTimeout(typing);
    const number = ++asked;
    running?.abort();
    running = new AbortController();
    const { signal } = running;
    problems.replaceChildren();
    answer.classList.add("waiting");
    const all = Math.max(1, Math.floor(Number(reps.value) || 1));
    const question = { options: options() };
    if (plan !== undefined) question.plan = plan;
    if (pinned !== null) question.pinned = pinned;
    if (seed.value !== "") question.seed = Math.max(0, Math.floor(Number(seed.value) || 0));
    try {
      status.textContent = "Estimating …";
      for (let first = true, reached = 0; reached < all; first = false) {
        const found = await ask("/job/estimate", { ...question, reps: all, first }, signal);
        if (number !== asked) return;
        reached = found.reps;
        status.textContent = `${reached} of ${all} replications …`;
        last = found;
        answer.replaceChildren(...shown(found));
        answer.classList.remove("waiting");
      }
      status.textContent = `${all} replications.`;
    } catch (error) {
      if (number !== asked || error.name === "AbortError") return;
      status.textContent = "";
      problems.replaceChildren(problem(error.message));
    }
  }
}

// A text field with a slider; at the value of the plan, the slider empties the field.
function control({ option, label, hint, choices, at }, later, now) {
  const input = element("input", { type: "text", placeholder: hint, spellcheck: false });
  const box = element("div", { className: "field" }, element("label", {}, label, input));
  input.oninput = later;
  if (choices.length > 1) {
    const middle = Math.floor(choices.length / 2);
    const slider = element("input", { type: "range", min: 0, max: choices.length - 1, step: 1, value: at ?? middle });
    slider.setAttribute("aria-label", `${label}, slider`);
    const say = () => slider.setAttribute("aria-valuetext", input.value || `${hint}`);
    slider.oninput = () => {
      input.value = Number(slider.value) === at ? "" : choices[slider.value];
      say();
      now();
    };
    input.oninput = () => {
      const place = input.value.trim() === "" ? at ?? middle : choices.indexOf(input.value.trim());
      if (place >= 0) slider.value = place;
      say();
      later();
    };
    say();
    box.append(slider);
  }
  return { option, input, box };
}

// Mean, quantiles and the probability of meeting the deadline, from the keys of docs/json.md.
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
  add(`P(finished within ${short(result.deadline?.deadline_s)} s), exact`, percent(result.deadline?.exact), "%");
  add(`P(finished within ${short(result.deadline?.deadline_s)} s), simulated`, percent(result.deadline?.simulated), "%");
  return rows;
}

function scaled(value) { return value === null || value === undefined ? value : 100 * value; }

function drawn(svg) { return element("div", { className: "picture" }, picture(svg)); }

function shown({ result, pictures, remarks, command, toml, pinned }) {
  const isNarrow = matchMedia("(max-width: 40rem)").matches;
  const figures = pictures.map(({ title, wide, narrow }) =>
    element("figure", {}, element("figcaption", {}, title), drawn(isNarrow ? narrow : wide)));
  return [
    element("h2", {}, "Job time"),
    table(["", "value", "interval"], numbers(result)),
    ...(pinned ? compared(pinned) : []),
    ...remarks.map(note),
    element("p", {}, copier("Copy as command", command), " ", copier("Copy as TOML", toml), " ", element("code", {}, command)),
    element("div", { className: "pair" }, ...figures),
    ...(pictures.some(({ name }) => name === "critical") ? [] : work(result))];
}

// The share of the slot time of each phase or stage, for a job without a critical path.
function work(result) {
  const rows = (result.phases ?? result.stages ?? [])
    .map(({ name, tasks, mean_s, work_s }) => [name, work_s ?? tasks * mean_s]);
  const all = rows.reduce((sum, [, time]) => sum + time, 0);
  return [element("h2", {}, "Share of the task time of each phase or stage"),
    table(["", "time of all tasks", "share"],
      rows.map(([name, time]) => [name, `${short(time)} s`, `${short(100 * time / all)}%`]))];
}

// The difference to the pinned values, pair by pair of replications with the same random numbers.
function compared({ command, difference_s, low_s, high_s, level, pairs, picture: svg, result }) {
  const signed = (value) => `${value > 0 ? "+" : ""}${short(value)} s`;
  const mean = result.job_time?.mean ?? result.usual_mean;
  return [
    element("h2", {}, "Compared with the pinned values"),
    table(["", "value", `${100 * level}% interval`], [
      ["mean time, now minus pinned", signed(difference_s), `${signed(low_s)} to ${signed(high_s)}`],
      ["mean of the pinned values, simulated", `${short(mean?.value)} s`, ""]]),
    note(`${pairs} pairs of replications with the same random numbers.`),
    ...(svg === null ? [] : [drawn(svg)]),
    element("p", {}, "Pinned: ", element("code", {}, command))];
}

// A search for the cheapest size of the job with the values of its last answer.
function cheapest(last) {
  const price = element("input", { type: "text", placeholder: "0.40/node-hour", spellcheck: false });
  const progress = element("progress", { hidden: true });
  progress.setAttribute("aria-label", "Replications of the current size");
  const found = element("div", { role: "status" });
  const stop = button("Stop", () => ask("/job/study/stop", {}));
  const start = button("Cheapest plan that meets the deadline", search);
  stop.disabled = true;
  return element("section", {},
    element("h2", {}, "Cost"),
    element("div", { className: "bar" }, element("label", {}, "Price of machines", price), start, stop, progress),
    note("A price by the node-hour, or for a job of stages by the executor-hour or core-hour."), found);

  async function search() {
    start.disabled = true;
    stop.disabled = progress.hidden = false;
    found.replaceChildren(note("Searching …"));
    try {
      if (last() === null) throw new Error("There is no estimate yet.");
      let state = await ask("/job/study", { plan: last().result.plan, price: price.value });
      while (state.is_running) {
        if (state.planned > 0) [progress.max, progress.value] = [state.planned, state.done];
        await pause(POLL_MS);
        state = await ask("/job/study");
      }
      found.replaceChildren(report(state.answer.report), ...state.answer.remarks.map(note));
    } catch (error) {
      found.replaceChildren(problem(error.message));
    }
    start.disabled = false;
    stop.disabled = progress.hidden = true;
  }
}
