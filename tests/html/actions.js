// Played on a page of --html by browser.sh: each line of the result is "ok WHAT" or "not ok WHAT: WHY".
"use strict";
(function () {
  const lines = [], errors = [];
  window.addEventListener("error", (event) => errors.push(event.message));
  // A browser without a screen may never ask for a frame.
  window.requestAnimationFrame = (draw) => setTimeout(draw, 5);
  const frame = () => new Promise((done) => setTimeout(done, 30));

  function check(what, is_true, why) {
    lines.push(is_true ? "ok " + what : "not ok " + what + ": " + why);
  }

  function view(figure) {
    return figure.dataset.view.split(" ").map(Number);
  }

  function wide(figure) {
    const [from, to] = view(figure);
    return to - from;
  }

  async function play() {
    const figures = [...document.querySelectorAll("figure.live")], figure = figures[0];
    const canvas = figure.querySelector("canvas"), status = figure.querySelector("output");
    const button = (label) => document.querySelector(`.tools button[aria-label="${label}"]`);
    const key = (name) => canvas.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true }));
    const all = view(figure), drawn = Number(figure.dataset.drawn);

    check("every timeline with ops is live", figures.length === document.querySelectorAll("script.ops").length, figures.length);
    check("the picture gives way", getComputedStyle(figure.querySelector(".plot > svg")).display === "none", "it does not");
    check("nothing is wider than the page", document.documentElement.scrollWidth <= window.innerWidth, document.documentElement.scrollWidth);
    const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    const axes = [...figure.querySelectorAll(".axis")].map((axis) => getComputedStyle(axis).display);
    check("the axis of the picture is for paper", axes[0] === "none" && axes[1] !== "none", axes.join());
    check("something is drawn", pixels.some((value) => value > 0), "it is blank");

    button("zoom in").click();
    await frame();
    check("a button zooms", Math.abs(wide(figure) - (all[1] - all[0]) / 2) < 1e-6 * all[1], figure.dataset.view);
    check("all panels show the same time", figures.every((one) => one.dataset.view === figure.dataset.view), "they do not");
    button("earlier").click();
    await frame();
    check("a button pans", view(figure)[0] < all[1] / 4 && wide(figure) < all[1], figure.dataset.view);
    button("show all").click();
    await frame();
    check("all again", figure.dataset.view === all.map((time) => time.toPrecision(9)).join(" ") && Number(figure.dataset.drawn) === drawn, figure.dataset.view);

    const box = canvas.getBoundingClientRect();
    canvas.dispatchEvent(new WheelEvent("wheel", { ctrlKey: true, deltaY: -2000, clientX: box.left + box.width / 4, clientY: box.top + 5, cancelable: true }));
    await frame();
    const around = all[1] / 4, [from, to] = view(figure);
    check("Ctrl and wheel zoom around the pointer", to - from < 0.1 * all[1] && from < around && around < to, figure.dataset.view);
    const scroll = new WheelEvent("wheel", { deltaY: 100, cancelable: true });
    canvas.dispatchEvent(scroll);
    check("the wheel alone scrolls the page", !scroll.defaultPrevented, "it was taken");
    for (let i = 0; i < 60; i++)
      button("zoom in").click();
    await frame();
    check("zoom has an end", wide(figure) > 0 && Number(figure.dataset.drawn) <= drawn + 1000, figure.dataset.view);
    key("0");
    await frame();
    check("a key shows all", wide(figure) === all[1] - all[0], figure.dataset.view);

    key("ArrowRight");
    await frame();
    check("keys go to ops", /^rank 0: F forward of micro-batch(es)? 0\b.*, stage \d+.*; starts at 0 .*, ends at .*, lasts [0-9.]+ (units|s|ms|µs)$/.test(status.textContent), status.textContent);
    key("ArrowRight");
    key("ArrowRight");
    const third = status.textContent;
    key("ArrowLeft");
    check("and back", status.textContent !== third && status.textContent.startsWith("rank 0: "), status.textContent);
    key("ArrowDown");
    check("and to other ranks", status.textContent.startsWith("rank 1: "), status.textContent);
    key("+");
    key("+");
    await frame();
    check("keys zoom", Math.abs(wide(figure) - (all[1] - all[0]) / 4) < 1e-6 * all[1], figure.dataset.view);
    key("Enter");
    await frame();
    const others = figures.slice(1).every((one) => /^micro-batch \d+ (has [0-9]+ ops here, from .* to |is not here)/.test(one.querySelector("output").textContent));
    check("Enter follows a micro-batch", /^rank 1: .*; micro-batch \d+ has [0-9]+ ops here, from .* to /.test(status.textContent) && Number(figure.dataset.marked) > 0, status.textContent);
    check("on all ranks and in all panels", others && [...figure.querySelectorAll(".ranks span")].length > 0, "it does not");
    key("Enter");
    await frame();
    check("Enter again ends that", Number(figure.dataset.marked) === 0 && !/has \d+ ops/.test(status.textContent), status.textContent);
    key(" ");
    key("Escape");
    await frame();
    check("Escape forgets", figures.every((one) => one.querySelector("output").textContent === "") && Number(figure.dataset.marked) === 0, status.textContent);
    key("0");
    await frame();

    const at = (type, x, y, id) => canvas.dispatchEvent(new PointerEvent(type, { pointerId: id, clientX: box.left + x, clientY: box.top + y, bubbles: true }));
    canvas.setPointerCapture = () => {}; // of pointers that are made up
    at("pointermove", 2, 4, 1);
    at("pointerdown", 2, 4, 1);
    at("pointerup", 2, 4, 1);
    await frame();
    check("a click follows a micro-batch", /; micro-batch \d+ has [0-9]+ ops here, from /.test(status.textContent) && Number(figure.dataset.marked) > 1, status.textContent);
    key("Escape");
    at("pointermove", 2, 4, 1);
    check("the pointer names an op", status.textContent.startsWith("rank 0: F forward"), status.textContent);
    key("+");
    await frame();
    const before = view(figure)[0];
    at("pointerdown", 100, 5, 1);
    canvas.dispatchEvent(new PointerEvent("pointermove", { pointerId: 1, clientX: box.left + 60, clientY: box.top + 5, movementX: -40 }));
    at("pointerup", 60, 5, 1);
    await frame();
    check("dragging pans", view(figure)[0] > before, figure.dataset.view);
    const was = wide(figure);
    at("pointerdown", 100, 5, 1);
    at("pointerdown", 140, 5, 2);
    at("pointermove", 220, 5, 2);
    at("pointerup", 100, 5, 1);
    at("pointerup", 220, 5, 2);
    await frame();
    check("two fingers zoom", wide(figure) < was, figure.dataset.view);
    key("0");
    await frame();
    const boxes = [...document.querySelectorAll(".switches input")];
    check("a switch for each of several timelines", boxes.length === (figures.length > 1 ? figures.length : 0), boxes.length);
    if (boxes.length) {
      boxes[0].click();
      await frame();
      check("a switch hides", getComputedStyle(figure).display === "none" && getComputedStyle(figures[1]).display !== "none", "it does not");
      boxes[0].click();
      await frame();
      check("and shows", getComputedStyle(figure).display !== "none" && figure.dataset.view === all.map((time) => time.toPrecision(9)).join(" "), figure.dataset.view);
      check("switches have names", boxes.every((one) => one.labels[0].textContent.trim() && one.tabIndex === 0), "they do not");
    }
    check("buttons have names and can be reached", [...document.querySelectorAll(".tools button")].every((one) => one.getAttribute("aria-label") && one.tabIndex === 0) && canvas.tabIndex === 0, "they do not");
  }

  window.addEventListener("load", async () => {
    try {
      await frame();
      await play();
    } catch (fault) {
      errors.push(String(fault));
    }
    check("no error", errors.length === 0, errors.join("; "));
    const result = document.createElement("pre");
    result.id = "played";
    result.textContent = lines.join("\n");
    document.body.append(result);
  });
})();
