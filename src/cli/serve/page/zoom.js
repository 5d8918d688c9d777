// Zoom and pan of a picture: by buttons, by Ctrl and the wheel, and by dragging.

// Factor of a step, and the greatest magnification.
const STEP = 1.5;
const MOST = 400;

export class Zoom {
  // A zoom of the picture that replaces the one of `before`, if any, shows the same part. A picture that is drawn beyond its box slides:
  // its part changes without drawing it anew.
  constructor(svg, before = null) {
    const { x, y, width, height } = svg.viewBox.baseVal;
    this.svg = svg;
    this.all = { x, y, width, height };
    // what is shown, and what fills the box of the picture before it slides
    this.shown = this.drawn = this.all;
    this.slides = getComputedStyle(svg).overflow === "visible";
    // true from a drag until the pointer is pressed again, so that the click at the end of the drag selects nothing
    this.dragged = false;
    if (before?.all.width === width && before.all.height === height) this.show(before.box());
    svg.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      this.by(event.deltaY < 0 ? STEP : 1 / STEP, this.place(event));
    }, { passive: false });
    svg.addEventListener("pointerdown", () => { this.dragged = false; });
    svg.addEventListener("pointermove", (event) => {
      if (event.buttons !== 1 || (event.movementX === 0 && event.movementY === 0)) return;
      this.dragged = true;
      const scale = this.scale();
      const { x, y, width, height } = this.shown;
      this.show({ x: x - event.movementX / scale, y: y - event.movementY / scale, width, height });
    });
  }

  // The part that is shown.
  box() { return this.shown; }

  // Pixels per unit of the picture.
  scale() {
    const { width, height } = this.svg.getBoundingClientRect();
    return Math.min(width / this.drawn.width, height / this.drawn.height);
  }

  // The position under the pointer.
  place(event) {
    const { left, top, width, height } = this.svg.getBoundingClientRect();
    const [scale, { drawn }] = [this.scale(), this];
    const from = (start, size, length) => start + (size - scale * length) / 2;
    return { x: drawn.x + (event.clientX - from(left, width, drawn.width)) / scale,
      y: drawn.y + (event.clientY - from(top, height, drawn.height)) / scale };
  }

  show({ x, y, width, height }) {
    const within = (value, low, high) => Math.min(high, Math.max(low, value));
    const { all, drawn, svg } = this;
    const shown = { x: within(x, all.x, all.x + all.width - width), y: within(y, all.y, all.y + all.height - height), width, height };
    if (this.slides && width === drawn.width && height === drawn.height) {
      const scale = this.scale();
      svg.style.transform = `translate(${(drawn.x - shown.x) * scale}px, ${(drawn.y - shown.y) * scale}px)`;
    } else {
      svg.style.transform = "";
      svg.setAttribute("viewBox", Object.values(shown).join(" "));
      this.drawn = shown;
    }
    this.shown = shown;
  }

  by(factor, centre) {
    const { x, y, width, height } = this.box();
    const at = centre ?? { x: x + width / 2, y: y + height / 2 };
    const now = this.all.width / width;
    const by = Math.min(MOST, Math.max(1, now * factor)) / now;
    this.show({ x: at.x - (at.x - x) / by, y: at.y - (at.y - y) / by, width: width / by, height: height / by });
  }

  // Shows a rectangle with its surroundings.
  to({ x, y, width }) {
    const share = Math.min(1, Math.max(1 / MOST, 4 * width / this.all.width));
    const [wide, high] = [this.all.width * share, this.all.height * share];
    this.show({ x: x + width / 2 - wide / 2, y: y - high / 2, width: wide, height: high });
  }

  whole() { this.show(this.all); }

  in() { this.by(STEP); }

  out() { this.by(1 / STEP); }
}
