// The log of a job: its timeline, its report, why tasks were slow, a fitted plan, and the time left. Answers come from `tailspn why`,
// `why`, `fit` and `remaining`.

const { ask, begin, button, element, note, pause, picture, problem, report } = await import(`/common.js${location.search}`);
const { planned } = await import(`/planned.js${location.search}`);
const { Zoom } = await import(`/zoom.js${location.search}`);

// Milliseconds between two checks of a log that may grow.
const POLL_MS = 2000;

const page = document.getElementById("page");
const status = element("p", { className: "status", role: "status" }, "Reading the log …");
const left = element("div", { role: "status" });
const model = element("div");
const causes = element("div");
const drawing = element("div", { className: "picture timeline", tabIndex: 0, role: "application" });
drawing.setAttribute("aria-label", "Timeline; arrow keys go from task to task, Enter zooms to the task");
const stages = element("div");
let zoom = null;
let tasks = [];
// The text of the plan that was fitted.
let fitted = null;
let at = -1;

page.replaceChildren(status);
const start = await begin("/log/start");
document.title = `${start.log} – tailspn`;
const fit = button("Fit a plan", fitPlan, "Estimate the job at other sizes");
page.replaceChildren(
  element("h1", {}, start.log),
  element("div", { className: "bar" },
    button("Zoom in", () => zoom.in(), "Ctrl with the mouse wheel also zooms; dragging moves the picture"),
    button("Zoom out", () => zoom.out()), button("Whole picture", () => zoom.whole()),
    button("Read again", load, "Read the log again, with the lines that were added"), fit),
  note("Click a task to zoom to it. With the keyboard: arrow keys go from task to task, Enter zooms, Escape shows the whole job."),
  left, status, drawing,
  element("h2", {}, "Stages and tasks"), stages,
  element("h2", {}, "Why tasks were slow"), causes, model);
choose();
show(start);
follow();

// Reads the log again.
async function load() {
  try {
    show(await ask("/log/start"));
  } catch (error) {
    status.replaceChildren(problem(error.message));
  }
}

async function show(found) {
  const svg = picture(found.timeline);
  drawing.replaceChildren(svg);
  zoom = new Zoom(svg, zoom);
  tasks = [...svg.querySelectorAll("rect")].filter((one) => one.querySelector("title") !== null)
    .sort((a, b) => a.x.baseVal.value - b.x.baseVal.value);
  at = -1;
  stages.replaceChildren(report(found.report));
  status.textContent = "Select a task to see its numbers.";
  causes.replaceChildren(note("Looking for causes …"));
  try {
    const answer = await ask("/log/why");
    causes.replaceChildren(report(answer.report), ...answer.remarks.map(note));
  } catch (error) {
    causes.replaceChildren(problem(error.message));
  }
}

// Shows the time left as long as the log grows, by the fitted plan once there is one, and reads the log again when it has grown.
async function follow() {
  let [before, used] = [null, null];
  try {
    for (;;) {
      const { size } = await ask("/log/size");
      if (size !== before || used !== fitted) {
        if (before !== null && size !== before) await load();
        used = fitted;
        const found = await ask("/log/estimate", { plan: used });
        if (found.is_final && before === null) return;
        const parts = [found.note && note(found.note), found.report && report(found.report)];
        left.replaceChildren(element("h2", {}, "Remaining time"), ...parts.filter(Boolean));
        if (found.is_final) return;
        before = size;
      }
      await pause(POLL_MS);
    }
  } catch (error) {
    left.replaceChildren(problem(error.message));
  }
}

// Fits a plan to the log; its fields and numbers follow below.
async function fitPlan() {
  fit.disabled = true;
  model.replaceChildren(element("h2", {}, "The job at other sizes"), note("Fitting …"));
  try {
    const { plan, report: about, remarks } = await ask("/log/plan", {});
    fitted = plan;
    const { fields } = await ask("/job/start", { plan });
    model.replaceChildren(
      element("h2", { tabIndex: -1 }, "The job at other sizes"), planned(fields, plan),
      element("details", {}, element("summary", {}, "The fit"), report(about), ...remarks.map(note)));
    model.firstChild.focus();
  } catch (error) {
    model.replaceChildren(problem(error.message));
  }
  fit.disabled = false;
}

// Clicks and keys that select a task. Pictures of many tasks do not have one element per task.
function choose() {
  const select = (index, nearer) => {
    tasks[at]?.classList.remove("chosen");
    at = Math.min(tasks.length - 1, Math.max(0, index));
    tasks[at].classList.add("chosen");
    status.textContent = tasks[at].querySelector("title").textContent;
    if (nearer) zoom.to(tasks[at].getBBox());
  };
  drawing.addEventListener("click", (event) => {
    const index = tasks.indexOf(event.target);
    if (index >= 0 && !zoom.dragged) select(index, true);
  });
  drawing.addEventListener("keydown", (event) => {
    if (event.key === "Escape") zoom.whole();
    else if (tasks.length === 0) return;
    else if (event.key === "ArrowRight" || event.key === "ArrowDown") select(at + 1, false);
    else if (event.key === "ArrowLeft" || event.key === "ArrowUp") select(at - 1, false);
    else if (event.key === "Enter" && at >= 0) select(at, true);
    else return;
    event.preventDefault();
  });
}
