// Draws the state that comes once a second. Everything is text or numbers: nothing is parsed as HTML.
"use strict";

const KINDS = ["task", "irq", "softirq"];
const WIDTH = 300, HEIGHT = 100;
const SVG = "http://www.w3.org/2000/svg";
const at = (id) => document.getElementById(id);

function number(value) {
  if (value === null || value === undefined) return "-";
  if (value === 0) return "0";
  return value >= 100 ? Math.round(value).toLocaleString("en") : value.toPrecision(3);
}

function clock(seconds) {
  const whole = Math.round(seconds), minutes = Math.floor(whole / 60);
  return `${minutes}:${String(whole % 60).padStart(2, "0")}`;
}

function element(name, text, of) {
  const made = of ? document.createElementNS(of, name) : document.createElement(name);
  if (text !== undefined) made.textContent = text;
  return made;
}

// `none`: the text in place of a table without lines.
function rows(table, heads, lines, none) {
  if (!lines.length) [heads, lines] = [[], [[none]]];
  const made = [heads, ...lines].map((cells, index) => {
    const row = element("tr");
    row.append(...cells.map((cell) => element(index ? "td" : "th", cell)));
    return row;
  });
  table.replaceChildren(...made);
}

// Two lines over the last minutes; a point that is not known is a gap, one between gaps a dot.
// Returns the upper end as text.
function plot(svg, points, first, second, unit = 1) {
  const known = points.flatMap((point) => [point[first], point[second]]).filter((v) => v !== null);
  const top = Math.max(1e-9, ...known) * 1.1;
  svg.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
  svg.setAttribute("preserveAspectRatio", "none");
  const lines = [[second, "second"], [first, "first"]].map(([name, look]) => {
    let path = "", drawing = false;
    points.forEach((point, index) => {
      const value = point[name];
      if (value !== null && value !== undefined) {
        const x = (index * WIDTH) / Math.max(1, points.length - 1);
        const place = `${x.toFixed(1)} ${(HEIGHT - (value / top) * HEIGHT).toFixed(1)}`;
        path += drawing ? `L${place}` : `M${place}h1.5`;
      }
      drawing = value !== null && value !== undefined;
    });
    const line = element("path", undefined, SVG);
    line.setAttribute("d", path);
    line.setAttribute("class", look);
    return line;
  });
  svg.replaceChildren(...lines);
  return number(known.length ? top / unit : null);
}

function cores(place, shares) {
  const made = Object.entries(shares).map(([cpu, kinds]) => {
    const row = element("div"), bar = element("svg", undefined, SVG);
    row.className = "core";
    bar.setAttribute("viewBox", "0 0 100 10");
    bar.setAttribute("preserveAspectRatio", "none");
    let from = 0, busy = 0;
    for (const kind of KINDS) {
      const share = Math.min(1, kinds[kind] || 0), box = element("rect", undefined, SVG);
      box.setAttribute("x", from);
      box.setAttribute("width", share * 100);
      box.setAttribute("height", 10);
      box.setAttribute("class", kind);
      bar.append(box);
      from += share * 100;
      busy += share;
    }
    row.append(element("span", `core ${cpu}: ${Math.round(busy * 100)} %`), bar);
    return row;
  });
  place.replaceChildren(...(made.length ? made : [element("p", "not read yet; not at all in a search for a ceiling")]));
}

function show(state) {
  const now = state.now, second = state.second, latency = second.latency_us;
  at("title").textContent = document.title = state.title || state.run || "stackcost";
  at("run").textContent = state.run;
  if (now) {
    const turn = now.of ? `turn ${now.number} of ${Math.max(now.number, now.of)}` : "";
    at("doing").textContent = [turn, now.turn, now.doing].filter(Boolean).join(": ");
    at("bar").max = now.passed_s + now.left_s || 1;
    at("bar").value = now.passed_s;
    const trials = `${state.trials} ${state.trials === 1 ? "trial" : "trials"} stored`;
    at("left").textContent = `about ${clock(now.left_s)} left, ${trials}`;
  } else {
    at("doing").textContent = state.waits;
  }
  const failed = Object.values(second.failed).reduce((sum, each) => sum + each, 0);
  at("offered").textContent = number(state.offered);
  at("completed").textContent = number(second.completed);
  at("failed").textContent = second.completed === null ? "-" : number(failed);
  at("failed").title = Object.entries(second.failed).map(([name, n]) => `${name} ${number(n)}`).join(", ");
  at("p50").textContent = number(latency.p50 === undefined ? null : latency.p50 / 1000);
  at("p99").textContent = number(latency.p99 === undefined ? null : latency.p99 / 1000);
  at("cost").textContent = number(second.busy_us_per_connection);
  at("rates-top").textContent = plot(at("rates"), state.points, "completed", "offered");
  for (const each of document.querySelectorAll(".span")) {
    each.textContent = `${state.points.length} readings, one a second`;
  }
  at("times-top").textContent = plot(at("times"), state.points, "p50", "p99", 1000);
  cores(at("cores"), second.cores);
  rows(at("slab"), ["cache", "KiB"],
    Object.entries(second.slab).map(([name, bytes]) => [name, number(bytes / 1024)]), "not read yet");
  rows(at("costs"), ["system", "load", "us of CPU a connection", "trials"],
    state.costs.map((cost) => [cost.system, cost.load, number(cost.us), String(cost.trials)]),
    "no trial with this figure is over yet; those of a search have none");
  const flags = state.flags.length ? state.flags.slice().reverse() : ["none so far"];
  at("flags").replaceChildren(...flags.map((flag) => element("li", flag)));
}

const events = new EventSource("events");
events.onmessage = (event) => show(JSON.parse(event.data));
events.onerror = () => { at("left").textContent = "the run has ended, or does not answer"; };
