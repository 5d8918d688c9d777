// The log of a job: its timeline, its report, and why tasks were slow. Answers come from `tailspn trace` and `tailspn diagnose`.

const { ask, begin, button, element, picture, report } = await import(`/common.js${location.search}`);
const { Zoom } = await import(`/zoom.js${location.search}`);

const page = document.getElementById("page");
const status = element("p", { className: "status", role: "status" }, "Reading the log …");
page.replaceChildren(status);
await load();

async function load() {
  const found = await begin("/log/start");
  document.title = `${found.log} – tailspn`;
  const drawing = element("div", { className: "picture timeline", tabIndex: 0, role: "application" });
  drawing.setAttribute("aria-label", "Timeline; arrow keys go from task to task, Enter zooms to the task");
  const svg = picture(found.timeline);
  drawing.append(svg);
  const zoom = new Zoom(svg);
  const causes = element("div", {}, element("p", { className: "note" }, "Looking for causes …"));
  status.textContent = "Choose a task to see its numbers.";
  choose(drawing, svg, zoom);
  page.replaceChildren(
    element("h1", {}, found.log),
    element("div", { className: "bar" }, ...zoom.buttons(), button("Read again", load, "Read the log again, as it grows")),
    element("p", { className: "note" }, "Click a task to zoom to it. With the keyboard: arrow keys go from task to task, Enter zooms, Escape shows the whole job."),
    status, drawing,
    element("h2", {}, "Stages and tasks"), report(found.report),
    element("h2", {}, "Why tasks were slow"), causes);
  try {
    const answer = await ask("/log/causes");
    causes.replaceChildren(report(answer.report), ...answer.remarks.map(note));
  } catch (error) {
    causes.replaceChildren(element("p", { className: "problem", role: "alert" }, error.message));
  }
}

function note(text) { return element("p", { className: "note" }, text); }

// Clicks and keys that choose a task. Pictures of many tasks have no element for each.
function choose(drawing, svg, zoom) {
  const tasks = [...svg.querySelectorAll("rect")].filter((one) => one.querySelector("title") !== null)
    .sort((a, b) => a.x.baseVal.value - b.x.baseVal.value);
  let at = -1;
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
