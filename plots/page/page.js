// Timelines that can be looked into: the ops of a panel are drawn on a canvas over its picture. All
// panels of a page show the same time and follow the same micro-batch, and each can be switched off.
// Without this script the pictures stay as they are.
"use strict";
(function () {
  const ORDER = ["B", "I", "W", "R", "F", "Q", "DQ", "U"]; // from the foot of a row to its top
  const MOST_ZOOM = 1e6;

  // Flat lists of numbers become columns, so that thousands of ops are cheap to walk.
  function readRow(data, list) {
    const row = { start: [], end: [], op: [] };
    let time = 0;
    for (let i = 0; i < list.length;) {
      time += data.times[list[i++]];
      row.start.push((time - data.from) * data.quantum / data.divisor);
      time += data.times[list[i++]];
      row.end.push((time - data.from) * data.quantum / data.divisor);
      const op = { look: list[i++], mb: list[i++], stage: list[i++], share: list[i++] / 1000 };
      if (op.share >= 0)
        op.second = { look: list[i++], mb: list[i++], stage: list[i++] };
      row.op.push(op);
    }
    return row;
  }

  function digits(value, unit) {
    return Number(value.toPrecision(5)) + " " + unit;
  }

  // The part of a heading that names it: "zbv (VP 2)".
  function nameOf(figure) {
    return figure.querySelector("figcaption").textContent.split(/[:,]/)[0];
  }

  class Panel {
    constructor(figure, page) {
      this.figure = figure;
      this.page = page;
      this.data = JSON.parse(figure.querySelector("script.ops").textContent);
      this.rows = this.data.rows.map((list) => readRow(this.data, list));
      this.end = (this.data.to - this.data.from) * this.data.quantum / this.data.divisor;
      this.lanes = this.data.lanes || [];
      this.share = this.data.share || 1; // of a row's height that its boxes take
      this.kinds = this.data.kinds.map((text) => text.split(" ")[0]);
      this.plot = figure.querySelector(".plot");
      this.axis = document.createElement("div"); // the other one stays for paper
      this.axis.className = "axis drawn";
      figure.querySelector(".axis").after(this.axis);
      this.pipes = 1 + Math.max(0, ...this.data.looks.map((look) => look[3]));
      this.chunks = 1 + Math.max(0, ...this.data.looks.map((look) => look[4]));
      this.picked = null;
      this.addParts();
      this.listen();
      figure.classList.add("live");
      new ResizeObserver(() => this.draw()).observe(this.plot);
    }

    addParts() {
      this.canvas = document.createElement("canvas");
      this.canvas.tabIndex = 0;
      this.canvas.setAttribute("role", "application");
      this.canvas.setAttribute("aria-label", this.figure.querySelector("svg").getAttribute("aria-label") +
        "; arrow keys go from op to op, Enter follows the micro-batch, Escape ends that, plus and minus zoom, 0 shows all");
      this.plot.append(this.canvas);
      this.status = document.createElement("output");
      this.status.className = "status";
      this.figure.querySelector(".chart").after(this.status);
      if (this.page.panels.length === 0)
        this.addTools();
    }

    // One row of buttons for all panels.
    addTools() {
      const tools = document.createElement("p");
      tools.className = "tools";
      this.addButton(tools, "+", "zoom in", () => this.page.zoom(this.middle(), 0.5));
      this.addButton(tools, "\u2212", "zoom out", () => this.page.zoom(this.middle(), 2));
      this.addButton(tools, "\u25c2", "earlier", () => this.page.move(-0.5));
      this.addButton(tools, "\u25b8", "later", () => this.page.move(0.5));
      this.addButton(tools, "all", "show all", () => this.page.show(0, this.page.span));
      const hint = document.createElement("span");
      hint.className = "soft";
      hint.textContent = "drag; pinch or Ctrl and wheel; arrow keys go from op to op; a click or Enter follows a micro-batch, Escape ends that";
      tools.append(hint);
      this.figure.before(tools);
    }

    addButton(tools, text, label, action) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = text;
      button.setAttribute("aria-label", label);
      button.title = label;
      button.addEventListener("click", action);
      tools.append(button);
    }

    // ---- what is where -------------------------------------------------------------------------
    x(time) {
      const { from, to } = this.page;
      return (time - from) / (to - from) * this.width;
    }

    time(x) {
      const { from, to } = this.page;
      return from + x / this.plot.clientWidth * (to - from);
    }

    middle() {
      if (this.picked) {
        const row = this.rows[this.picked.row], i = this.picked.index;
        const time = (row.start[i] + row.end[i]) / 2;
        if (time > this.page.from && time < this.page.to)
          return time;
      }
      return (this.page.from + this.page.to) / 2;
    }

    // The first op of a row that ends behind `time`.
    firstAfter(row, time) {
      let low = 0, high = row.end.length;
      while (low < high) {
        const half = (low + high) >> 1;
        if (row.end[half] > time)
          high = half;
        else
          low = half + 1;
      }
      return low;
    }

    opAt(x, y) {
      const at = Math.min(Math.max(Math.floor(y / this.plot.clientHeight * this.rows.length), 0), this.rows.length - 1);
      const row = this.rows[at];
      const reach = (this.page.to - this.page.from) / this.plot.clientWidth;
      const time = this.time(x), index = this.firstAfter(row, time - reach);
      if (index >= row.start.length || row.start[index] > time + reach || time > this.end + reach)
        return null;
      return { row: at, index };
    }

    // ---- words ---------------------------------------------------------------------------------
    nameOf(op) {
      const look = this.data.looks[op.look], splits = this.data.splits;
      let text = this.data.kinds[look[0]];
      if (op.mb >= 0) {
        const first = Math.floor(op.mb / splits);
        text += look[5] > 1 ? ` of micro-batches ${first} to ${first + look[5] - 1}` : ` of micro-batch ${first}`;
        if (splits > 1)
          text += `, split ${op.mb % splits}`;
      }
      text += `, stage ${op.stage}`;
      if (this.pipes > 1)
        text += `, pipeline ${look[3]}`;
      if (this.chunks > 1)
        text += `, chunk ${look[4] + 1}`;
      return text;
    }

    describe(pick) {
      const row = this.rows[pick.row], op = row.op[pick.index], unit = this.data.unit;
      const start = row.start[pick.index], end = row.end[pick.index];
      const rank = this.data.first + pick.row * this.data.every;
      const names = this.nameOf(op) + (op.second ? " together with " + this.nameOf(op.second) : "");
      return `rank ${rank}: ${names}; starts at ${digits(start + this.data.origin, unit)}, ends at ${digits(end + this.data.origin, unit)}, lasts ${digits(end - start, unit)}`;
    }

    pick(pick) {
      this.picked = pick;
      this.say();
      this.page.redraw();
    }

    say() {
      const texts = [this.picked ? this.describe(this.picked) : "", this.describeFollowed()];
      this.status.textContent = texts.filter((text) => text).join("; ");
    }

    // ---- one micro-batch -----------------------------------------------------------------------
    // The first micro-batch of an op; -1: it has none.
    mbOf(op) {
      return op.mb < 0 ? -1 : Math.floor(op.mb / this.data.splits);
    }

    isFollowed(op) {
      const first = this.mbOf(op), wanted = this.page.followed;
      return first >= 0 && first <= wanted && wanted < first + Math.max(this.data.looks[op.look][5], 1);
    }

    // Where the followed micro-batch is in this panel.
    describeFollowed() {
      let count = 0, from = Infinity, to = -Infinity;
      if (this.page.followed < 0)
        return "";
      for (const row of this.rows)
        row.op.forEach((op, i) => {
          if (!this.isFollowed(op) && !(op.second && this.isFollowed(op.second)))
            return;
          count++;
          from = Math.min(from, row.start[i]);
          to = Math.max(to, row.end[i]);
        });
      const name = `micro-batch ${this.page.followed}`, unit = this.data.unit;
      return count ? `${name} has ${count} ops here, from ${digits(from + this.data.origin, unit)} to ${digits(to + this.data.origin, unit)}`
        : `${name} is not here`;
    }

    // Follow the micro-batch of the picked op, or end that.
    follow() {
      const op = this.picked && this.rows[this.picked.row].op[this.picked.index];
      const mb = op ? this.mbOf(op) : -1;
      this.page.follow(mb === this.page.followed ? -1 : mb);
    }

    // Go to another op by the keyboard, and have it in view.
    step(rows, ops) {
      const from = this.picked || { row: 0, index: -1 };
      const next = { row: from.row + rows, index: from.index + ops };
      next.row = Math.min(Math.max(next.row, 0), this.rows.length - 1);
      const row = this.rows[next.row];
      if (rows && from.index >= 0)
        next.index = this.firstAfter(row, this.rows[from.row].start[from.index]);
      next.index = Math.min(Math.max(next.index, 0), row.start.length - 1);
      if (next.index < 0)
        return;
      this.pick(next);
      this.page.reveal(row.start[next.index], row.end[next.index]);
    }

    // ---- events --------------------------------------------------------------------------------
    listen() {
      const fingers = new Map();
      let dragged = 0;
      this.canvas.addEventListener("pointerdown", (event) => {
        fingers.set(event.pointerId, event.offsetX);
        dragged = 0;
        this.canvas.setPointerCapture(event.pointerId);
      });
      this.canvas.addEventListener("pointermove", (event) => {
        if (!fingers.has(event.pointerId)) {
          this.pick(this.opAt(event.offsetX, event.offsetY));
          return;
        }
        const before = [...fingers.values()];
        fingers.set(event.pointerId, event.offsetX);
        const after = [...fingers.values()];
        dragged += Math.abs(event.movementX) + Math.abs(event.movementY);
        if (after.length === 2)
          this.pinch(before, after);
        else if (dragged > 4)
          this.page.move(-(after[0] - before[0]) / this.plot.clientWidth);
      });
      const release = (event) => {
        fingers.delete(event.pointerId);
        if (event.type !== "pointerup" || dragged > 4)
          return;
        this.pick(this.opAt(event.offsetX, event.offsetY));
        this.follow();
      };
      this.canvas.addEventListener("pointerup", release);
      this.canvas.addEventListener("pointercancel", release);
      this.canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
      this.canvas.addEventListener("keydown", (event) => this.key(event));
    }

    pinch(before, after) {
      const wide = Math.max(Math.abs(after[0] - after[1]), 1), was = Math.max(Math.abs(before[0] - before[1]), 1);
      this.page.zoom(this.time((after[0] + after[1]) / 2), was / wide);
    }

    wheel(event) {
      if (event.ctrlKey || event.metaKey)
        this.page.zoom(this.time(event.offsetX), Math.exp(event.deltaY * 0.002));
      else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
        this.page.move((event.deltaX || event.deltaY) / this.plot.clientWidth);
      else
        return; // the page scrolls
      event.preventDefault();
    }

    key(event) {
      const actions = {
        ArrowLeft: () => this.step(0, -1),
        ArrowRight: () => this.step(0, 1),
        ArrowUp: () => this.step(-1, 0),
        ArrowDown: () => this.step(1, 0),
        "+": () => this.page.zoom(this.middle(), 0.5),
        "=": () => this.page.zoom(this.middle(), 0.5),
        "-": () => this.page.zoom(this.middle(), 2),
        "0": () => this.page.show(0, this.page.span),
        PageUp: () => this.page.move(-0.8),
        PageDown: () => this.page.move(0.8),
        Enter: () => this.follow(),
        " ": () => this.follow(),
        Escape: () => {
          this.picked = null;
          this.page.follow(-1);
        },
      };
      if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(actions, event.key))
        return;
      actions[event.key]();
      event.preventDefault();
    }

    // ---- drawing -------------------------------------------------------------------------------
    draw() {
      if (this.figure.hidden)
        return;
      const scale = window.devicePixelRatio || 1;
      this.width = Math.round(this.plot.clientWidth * scale);
      this.height = Math.round(this.plot.clientHeight * scale);
      if (!this.width || !this.height)
        return;
      if (this.canvas.width !== this.width || this.canvas.height !== this.height) {
        this.canvas.width = this.width;
        this.canvas.height = this.height;
      }
      this.drawn = this.marked = 0;
      this.context = this.canvas.getContext("2d");
      this.context.clearRect(0, 0, this.width, this.height);
      const pitch = this.height / this.rows.length;
      this.context.save();
      this.context.beginPath();
      this.context.rect(0, 0, this.x(this.end), this.height);
      this.context.clip();
      this.context.globalAlpha = this.page.followed < 0 ? 1 : 0.2;
      this.rows.forEach((row, at) => this.drawRow(row, at * pitch, pitch, scale));
      this.lanes.forEach((lane) => lane.rows.forEach((list, at) => this.drawLane(lane, list, at * pitch, pitch, scale)));
      this.context.globalAlpha = 1;
      if (this.page.followed >= 0)
        this.rows.forEach((row, at) => this.drawFollowed(row, at * pitch, pitch, scale));
      this.context.restore();
      this.drawPicked(pitch, scale);
      this.drawAxis();
      this.figure.dataset.view = [this.page.from, this.page.to].map((time) => time.toPrecision(9)).join(" ");
      this.figure.dataset.drawn = this.drawn;
      this.figure.dataset.marked = this.marked;
    }

    // Ops that are narrower than a dot become shares of a column of dots.
    drawRow(row, top, pitch, scale) {
      const place = this.placeOf(top, pitch, scale), column = { at: -1, time: {} };
      for (let i = this.firstAfter(row, this.page.from); i < row.start.length && row.start[i] < this.page.to; i++) {
        const x0 = this.x(row.start[i]), x1 = this.x(row.end[i]), op = row.op[i];
        if (x1 - x0 < 1) {
          this.addToColumn(column, (x0 + x1) / 2, x1 - x0, op, place);
          continue;
        }
        this.flush(column, place);
        const middle = op.second ? x0 + (x1 - x0) * op.share : x1;
        this.drawOp(op, x0, middle, place);
        if (op.second) {
          this.drawOp(op.second, middle, x1, place);
          this.frame(x0, x1, place);
        }
        this.drawn++;
      }
      this.flush(column, place);
    }

    // Copies between memory tiers, below the boxes.
    drawLane(lane, list, top, pitch, scale) {
      const margin = Math.min(pitch / 12, 2 * scale), all = Math.max(pitch - 2 * margin, 1);
      const foot = top + margin + all * (1 - lane.foot), height = Math.max(all * this.data.lane, 1);
      const time = (quanta) => (quanta - this.data.from) * this.data.quantum / this.data.divisor;
      this.context.fillStyle = lane.colour;
      for (let i = 0; i < list.length; i += 2) {
        const x0 = this.x(time(list[i])), x1 = this.x(time(list[i] + list[i + 1]));
        if (x1 >= 0 && x0 <= this.width)
          this.context.fillRect(x0, foot - height, Math.max(x1 - x0, 0.5 * scale), height);
      }
    }

    placeOf(top, pitch, scale) {
      const margin = Math.min(pitch / 12, 2 * scale);
      return { top: top + margin, height: Math.max((pitch - 2 * margin) * this.share, 1), scale };
    }

    // Draw the followed micro-batch over the pale others.
    drawFollowed(row, top, pitch, scale) {
      const place = this.placeOf(top, pitch, scale);
      for (let i = this.firstAfter(row, this.page.from); i < row.start.length && row.start[i] < this.page.to; i++) {
        const x0 = this.x(row.start[i]), x1 = this.x(row.end[i]), op = row.op[i];
        const middle = op.second ? x0 + (x1 - x0) * op.share : x1;
        if (this.isFollowed(op))
          this.drawMarked(op, x0, middle, place);
        if (op.second && this.isFollowed(op.second))
          this.drawMarked(op.second, middle, x1, place);
      }
    }

    drawMarked(op, x0, x1, place) {
      const end = Math.max(x1, x0 + 2 * place.scale);
      this.marked++;
      this.drawOp(op, x0, end, place);
      if (end - x0 < 4 * place.scale)
        return;
      this.context.strokeStyle = "#000";
      this.context.lineWidth = place.scale;
      this.context.strokeRect(x0, place.top, end - x0, place.height);
    }

    addToColumn(column, x, width, op, place) {
      const at = Math.floor(x);
      if (at !== column.at)
        this.flush(column, place);
      column.at = at;
      const add = (one, share) => {
        const kind = this.kinds[this.data.looks[one.look][0]];
        column.time[kind] = column.time[kind] || { width: 0, colour: this.data.looks[one.look][1] };
        column.time[kind].width += share * width;
      };
      add(op, op.second ? op.share : 1);
      if (op.second)
        add(op.second, 1 - op.share);
    }

    flush(column, place) {
      let foot = place.top + place.height;
      for (const kind of column.at < 0 ? [] : ORDER) {
        const part = column.time[kind];
        if (!part)
          continue;
        const height = Math.min(part.width, 1) * place.height;
        this.context.fillStyle = part.colour;
        this.context.fillRect(column.at, foot - height, 1, height);
        foot -= height;
      }
      column.at = -1;
      column.time = {};
    }

    drawOp(op, x0, x1, place) {
      const look = this.data.looks[op.look], left = Math.max(Math.round(x0), 0);
      const width = Math.min(Math.round(x1), this.width) - left;
      this.context.fillStyle = look[1];
      this.context.fillRect(left, place.top, width, place.height);
      if (look[2] > 0) {
        this.context.fillStyle = "#202020";
        this.context.fillRect(left, place.top + place.height * (1 - look[2]), width, place.height * look[2]);
      }
      if (width > 4 * place.scale) {
        this.context.strokeStyle = "#303030";
        this.context.lineWidth = 0.5 * place.scale;
        this.context.strokeRect(left, place.top, width, place.height);
      }
      this.drawNumber(op, look, left, width, place);
    }

    drawNumber(op, look, left, width, place) {
      const size = Math.min(0.7 * place.height, 12 * place.scale), splits = this.data.splits;
      const first = Math.floor(op.mb / splits);
      const text = op.mb < 0 ? this.kinds[look[0]]
        : splits > 1 ? first + "." + op.mb % splits
        : look[5] > 1 ? first + "-" + (first + look[5] - 1) : String(first);
      if (size < 7 * place.scale || width < (0.62 * text.length + 0.4) * size)
        return;
      const rgb = parseInt(look[1].slice(1), 16);
      const light = 0.2126 * (rgb >> 16) + 0.7152 * (rgb >> 8 & 255) + 0.0722 * (rgb & 255);
      this.context.fillStyle = light < 140 ? "#fff" : "#000";
      this.context.font = size + "px system-ui, sans-serif";
      this.context.textAlign = "center";
      this.context.textBaseline = "middle";
      this.context.fillText(text, left + width / 2, place.top + place.height / 2);
    }

    frame(x0, x1, place) {
      if (x1 - x0 < 6 * place.scale)
        return;
      this.context.strokeStyle = "#000";
      this.context.lineWidth = 1.6 * place.scale;
      this.context.strokeRect(x0, place.top, x1 - x0, place.height);
    }

    drawPicked(pitch, scale) {
      if (!this.picked)
        return;
      const row = this.rows[this.picked.row], x0 = this.x(row.start[this.picked.index]);
      const width = Math.max(this.x(row.end[this.picked.index]) - x0, 2 * scale);
      for (const [colour, line] of [["#fff", 4.5], ["#c2185b", 2.5]]) {
        this.context.strokeStyle = colour;
        this.context.lineWidth = line * scale;
        this.context.strokeRect(x0, this.picked.row * pitch + scale, width, pitch - 2 * scale);
      }
    }

    drawAxis() {
      const origin = this.data.origin, from = this.page.from + origin, to = this.page.to + origin;
      const least = (to - from) / Math.max(this.plot.clientWidth / 110, 2);
      const ten = Math.pow(10, Math.floor(Math.log10(least)));
      const step = [1, 2, 5, 10].map((n) => n * ten).find((s) => s >= least * (1 - 1e-9));
      this.axis.replaceChildren();
      for (let k = Math.ceil(from / step - 1e-9); k * step <= to + 1e-9 * step; k++) {
        const tic = document.createElement("span");
        tic.style.left = 100 * (k * step - from) / (to - from) + "%";
        tic.textContent = Number((k * step).toPrecision(9));
        this.axis.append(tic);
      }
    }
  }

  // What all panels have in common: the time that is shown, and the micro-batch that is followed.
  class Page {
    constructor(figures) {
      this.panels = [];
      this.from = this.to = this.span = 0;
      this.followed = -1;
      for (const figure of figures)
        this.panels.push(new Panel(figure, this));
      this.choose();
    }

    // All of the time of the longest panel that is switched on.
    choose() {
      const shown = this.panels.filter((panel) => !panel.figure.hidden);
      this.span = Math.max(...(shown.length ? shown : this.panels).map((panel) => panel.end));
      this.show(0, this.span);
    }

    follow(mb) {
      this.followed = mb;
      this.panels.forEach((panel) => panel.say());
      this.redraw();
    }

    show(from, to) {
      const least = this.span / MOST_ZOOM, wide = Math.min(Math.max(to - from, least), this.span);
      this.from = Math.min(Math.max(from, 0), this.span - wide);
      this.to = this.from + wide;
      this.redraw();
    }

    zoom(around, factor) {
      this.show(around - (around - this.from) * factor, around + (this.to - around) * factor);
    }

    // By a share of what is shown.
    move(share) {
      const by = share * (this.to - this.from);
      this.show(this.from + by, this.to + by);
    }

    reveal(start, end) {
      const wide = this.to - this.from;
      if (start < this.from || end > this.to)
        this.show((start + end - wide) / 2, (start + end + wide) / 2);
    }

    redraw() {
      if (this.asked)
        return;
      this.asked = true;
      requestAnimationFrame(() => {
        this.asked = false;
        this.panels.forEach((panel) => panel.draw());
      });
    }
  }

  // A box for each timeline that switches it on and off.
  function addSwitches(figures, page) {
    const set = document.createElement("fieldset"), legend = document.createElement("legend");
    set.className = "tools switches";
    legend.textContent = "shown";
    set.append(legend);
    for (const figure of figures) {
      const label = document.createElement("label"), box = document.createElement("input");
      box.type = "checkbox";
      box.checked = true;
      box.addEventListener("change", () => {
        figure.hidden = !box.checked;
        if (page)
          page.choose();
      });
      label.append(box, " " + nameOf(figure));
      set.append(label);
    }
    figures[0].before(set);
  }

  const figures = [...document.querySelectorAll("figure.timeline")];
  const live = figures.filter((figure) => figure.querySelector("script.ops"));
  const page = live.length ? new Page(live) : null;
  if (figures.length > 1)
    addSwitches(figures, page);
})();
