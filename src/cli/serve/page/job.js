// The page of a planned job.

const { begin, element } = await import(`/common.js${location.search}`);
const { planned } = await import(`/planned.js${location.search}`);

const start = await begin("/job/start");
document.title = `${start.plan ?? "default job"} – tailspn`;
document.getElementById("page").replaceChildren(
  element("h1", {}, start.plan ?? "The default job"), planned(start.fields));
