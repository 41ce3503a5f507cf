// Charts on pages: values by pointer and by keys, and zoom. Without it a chart is a picture with tool tips.
"use strict";

const SVG = "http://www.w3.org/2000/svg";

// Units in descending size; the last one is for everything smaller.
const BINARY = (end) => [[2 ** 30, `GiB${end}`], [2 ** 20, `MiB${end}`], [2 ** 10, `KiB${end}`], [1, `B${end}`]];
const UNITS = {
  "ns": [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]],
  "1/s": [[1e6, "M/s"], [1e3, "k/s"], [1, "1/s"]],
  "B/s": BINARY("/s"),
  "B": BINARY(""),
};

function shown(value, unit) {
  const units = UNITS[unit] || [[1, unit]];
  const [size, name] = units.find(([size]) => Math.abs(value) >= size) || units[units.length - 1];
  return `${Number((value / size).toPrecision(3))} ${name}`;
}

// An axis as the server describes it: "linear 0 12.5 s", "log 1000 2e9 ns", "nines 0 4 %".
class Axis {
  constructor(text) {
    [this.kind, this.from, this.to, this.unit] = text.split(" ");
    [this.from, this.to] = [Number(this.from), Number(this.to)];
  }

  // The value at a share of the axis, from 0 to 1.
  at(share) {
    const { from, to } = this;
    if (this.kind === "log") return from * (to / from) ** share;
    const value = from + (to - from) * share;
    return this.kind === "nines" ? 100 * (1 - 10 ** -value) : value;
  }

  text(share) {
    // As many digits as the nines need.
    const nines = this.from + (this.to - this.from) * share;
    if (this.kind === "nines") return `p${Number(this.at(share).toFixed(Math.max(1, Math.ceil(nines) - 1)))}`;
    return shown(this.at(share), this.unit);
  }
}

function made(name, attributes) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

// What can be read in a chart, in the order of the keys: each has a place and a text.
function readings(svg, plot) {
  const tipped = [...svg.querySelectorAll("g:not(.span) > * > title")].map((title) => {
    const box = title.parentNode.getBBox();
    return { x: box.x + box.width / 2, y: box.y + box.height / 2, text: title.textContent };
  });
  if (!plot) return tipped;
  // Lines have no tool tips: their corners are the figures, read at the axes.
  const names = new Map();
  svg.querySelectorAll("g.key > path").forEach((key, index) => {
    names.set(key.getAttribute("stroke"), svg.querySelectorAll("g.name > text")[index]?.textContent);
  });
  const moments = new Map();
  svg.querySelectorAll("g.line > path").forEach((path) => {
    const name = names.get(path.getAttribute("stroke"));
    for (const corner of path.getAttribute("d").matchAll(/[ML]([-\d.]+) ([-\d.]+)/g)) {
      const [x, y] = [Number(corner[1]), Number(corner[2])];
      const value = plot.y.text((plot.top + plot.height - y) / plot.height);
      const moment = moments.get(x) || { x, y, texts: [] };
      moment.texts.push(name ? `${name} ${value}` : value);
      moments.set(x, moment);
    }
  });
  const read = [...moments.values()].sort((one, other) => one.x - other.x).map(({ x, y, texts }) => (
    { x, y, text: `${plot.x.text((x - plot.left) / plot.width)}: ${texts.join(", ")}` }
  ));
  return read.length > 0 ? read : tipped;
}

class Chart {
  constructor(svg, number) {
    this.svg = svg;
    if (svg.dataset.area) {
      const [left, top, width, height] = svg.dataset.area.split(" ").map(Number);
      const [x, y] = [new Axis(svg.dataset.x), new Axis(svg.dataset.y)];
      this.plot = { left, top, width, height, x, y };
    }
    this.readings = readings(svg, this.plot);
    this.at = -1;
    // What is seen of the horizontal axis, as shares of it; how large it is drawn where it has no scale.
    [this.from, this.to, this.size] = [0, 1, 1];
    this.frame(number);
    this.listen();
  }

  // Puts the chart into a box that takes the focus, with buttons and the figure that is read below it.
  frame(number) {
    this.view = document.createElement("div");
    this.view.className = "chart-view";
    this.view.tabIndex = 0;
    this.view.setAttribute("role", "group");
    const name = this.svg.getAttribute("aria-label");
    this.view.setAttribute("aria-label", `${name}. Arrow keys read figures, plus and minus zoom, 0 shows all.`);
    // The box around it needs no focus of its own any more.
    this.svg.closest(".chart-room")?.removeAttribute("tabindex");
    this.svg.replaceWith(this.view);
    this.view.append(this.svg);
    this.tools = document.createElement("div");
    this.tools.className = "chart-tools";
    for (const [text, label, act] of [
      ["+", "Zoom in", () => this.zoom(0.5)],
      ["−", "Zoom out", () => this.zoom(2)],
      ["All", "Show all", () => this.whole()],
    ]) {
      const button = document.createElement("button");
      [button.type, button.textContent] = ["button", text];
      button.setAttribute("aria-label", `${label}: ${name}`);
      button.addEventListener("click", act);
      this.tools.append(button);
    }
    this.output = document.createElement("output");
    this.tools.append(this.output);
    this.view.after(this.tools);
    if (!this.plot) return;
    const { left, top, width, height } = this.plot;
    const clip = made("clipPath", { id: `plot-${number}` });
    clip.append(made("rect", { x: left, y: top - 6, width, height: height + 6 }));
    this.svg.append(clip);
    const moving = "g.line, g.band, g.cell, g.span, g.moment, g.interval, g.point, g.end";
    this.moving = [...this.svg.querySelectorAll(moving)];
    this.moving.forEach((group) => {
      const window = made("g", { "clip-path": `url(#plot-${number})` });
      group.replaceWith(window);
      window.append(group);
      if (!group.matches(".cell")) {
        group.querySelectorAll("path").forEach((path) => path.setAttribute("vector-effect", "non-scaling-stroke"));
      }
    });
    this.ticks = made("g", { class: "zoom-ticks", "font-size": 11, "text-anchor": "middle", fill: "#212121" });
    this.svg.append(this.ticks);
  }

  listen() {
    this.view.addEventListener("keydown", (event) => this.key(event));
    this.svg.addEventListener("pointermove", (event) => this.point(event));
    this.svg.addEventListener("pointerleave", () => { this.start = null; this.mark(null); });
    this.svg.addEventListener("pointerdown", (event) => { if (event.pointerType === "mouse") this.start = this.share(event); });
    this.svg.addEventListener("pointerup", (event) => {
      const ends = [this.start, this.share(event)].sort((one, other) => one - other);
      if (this.plot && this.start !== null && ends[1] - ends[0] > 0.01) this.show(ends[0], ends[1]);
      this.start = null;
    });
    this.svg.addEventListener("dblclick", () => this.whole());
  }

  // Where an event is, in the coordinates of the picture.
  place(event) {
    const place = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.svg.getScreenCTM().inverse());
    return { x: place.x, y: place.y };
  }

  // The same as a share of the horizontal axis.
  share(event) {
    if (!this.plot) return 0;
    const seen = Math.min(1, Math.max(0, (this.place(event).x - this.plot.left) / this.plot.width));
    return this.from + seen * (this.to - this.from);
  }

  // Where a place of the whole picture is drawn at this zoom.
  drawn(x) {
    if (!this.plot) return x;
    const { left, width } = this.plot;
    return left + ((x - left) / width - this.from) / (this.to - this.from) * width;
  }

  point(event) {
    const { x, y } = this.place(event);
    const { plot } = this;
    if (plot && (x < plot.left || x > plot.left + plot.width)) return this.mark(null);
    if (plot && this.readings.length === 0) {
      // A picture of a distribution: the place itself is what can be read.
      const up = Math.min(1, Math.max(0, (plot.top + plot.height - y) / plot.height));
      return this.mark({ x: plot.left + this.share(event) * plot.width, y, text: `${plot.x.text(this.share(event))}, ${plot.y.text(up)}` });
    }
    const far = (reading) => Math.abs(this.drawn(reading.x) - x) + (plot ? 0 : Math.abs(reading.y - y));
    let nearest = 0;
    this.readings.forEach((reading, index) => { if (far(reading) < far(this.readings[nearest])) nearest = index; });
    this.at = nearest;
    this.mark(this.readings[nearest]);
  }

  // Shows a reading, and where it is.
  mark(reading) {
    this.cursor?.remove();
    this.cursor = null;
    this.output.textContent = reading ? reading.text : "";
    if (!reading) return;
    const x = this.drawn(reading.x);
    this.cursor = this.plot
      ? made("path", { d: `M${x} ${this.plot.top}V${this.plot.top + this.plot.height}`, class: "cursor", stroke: "#616161" })
      : made("circle", { cx: x, cy: reading.y, r: 9, class: "cursor", stroke: "#616161", "stroke-width": 2, fill: "none" });
    this.svg.append(this.cursor);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const last = this.readings.length - 1;
    const steps = {
      ArrowRight: this.at + 1, ArrowDown: this.at + 1, ArrowLeft: this.at - 1, ArrowUp: this.at - 1,
      PageDown: this.at + 10, PageUp: this.at - 10, Home: 0, End: last,
    };
    if (event.key in steps && last >= 0) this.step(Math.min(last, Math.max(0, steps[event.key])));
    else if (event.key === "+" || event.key === "=") this.zoom(0.5);
    else if (event.key === "-") this.zoom(2);
    else if (event.key === "0") this.whole();
    else if (event.key === "Escape") this.mark(null);
    else return;
    event.preventDefault();
  }

  // Reads one figure; what is seen moves on with it.
  step(index) {
    this.at = index;
    const reading = this.readings[index];
    if (this.plot) {
      const [share, width] = [(reading.x - this.plot.left) / this.plot.width, this.to - this.from];
      if (share < this.from) this.show(share, share + width);
      if (share > this.to) this.show(share - width, share);
    }
    this.mark(reading);
  }

  // Shows more or less, around what is read.
  zoom(factor) {
    if (!this.plot) {
      this.enlarge(Math.min(4, Math.max(1, this.size / factor)));
      return;
    }
    const reading = this.readings[this.at];
    const middle = reading ? (reading.x - this.plot.left) / this.plot.width : (this.from + this.to) / 2;
    const width = Math.min(1, (this.to - this.from) * factor);
    this.show(middle - width / 2, middle + width / 2);
    if (reading) this.mark(reading);
  }

  whole() {
    if (this.plot) this.show(0, 1);
    else this.enlarge(1);
  }

  // Draws the whole picture larger, to be moved in its box.
  enlarge(size) {
    this.size = size;
    this.svg.style.width = size > 1 ? `${this.svg.getAttribute("width") * size}px` : "";
    this.svg.style.maxWidth = size > 1 ? "none" : "";
  }

  // Shows a part of the horizontal axis.
  show(from, to) {
    const width = Math.min(1, Math.max(to - from, 0.002));
    this.from = Math.min(1 - width, Math.max(0, from));
    this.to = this.from + width;
    const { left } = this.plot;
    const [scale, shift] = [1 / width, this.drawn(left) - left / width];
    this.moving.forEach((group) => group.setAttribute("transform", `matrix(${scale} 0 0 1 ${shift} 0)`));
    this.svg.classList.toggle("zoomed", width < 1);
    this.ticks.replaceChildren();
    if (width < 1) {
      for (let index = 0; index <= 5; index += 1) {
        const text = made("text", { x: left + this.plot.width * index / 5, y: this.plot.top + this.plot.height + 17 });
        text.textContent = this.plot.x.text(this.from + width * index / 5);
        this.ticks.append(text);
      }
    }
    if (this.cursor) this.mark(this.readings[this.at]);
  }
}

document.querySelectorAll("svg.chart").forEach((svg, number) => new Chart(svg, number));
