/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
"use strict";

/* What is said of a call, in the panel and in the tooltip. */
function details(call) {
	const panel = element("details"), list = document.createElement("dl"), head = document.createElement("h2");
	const line = (name, text, kind) => {
		const dt = document.createElement("dt"), dd = document.createElement("dd");

		dt.textContent = name;
		dd.textContent = text;
		dd.className = kind || "";
		dd.dataset.name = name;
		list.append(dt, dd);
	};

	panel.replaceChildren();
	if (!call) {
		const hint = document.createElement("p");

		hint.textContent = "Click on a call for its times and values.";
		panel.append(hint);
		return;
	}
	const [name, object] = data.about.functions[call.function];

	head.textContent = call.count > 1 ? `${format.number(call.count)} calls, mostly ${name}` : name || "?";
	const exact = ns => ns < 1000 ? format.exact(ns) : `${format.duration(ns)} (${format.exact(ns)})`;
	const is_run = call.busy !== undefined;
	if (object)
		line("object", object);
	line("thread", timeline.lane_of[call.thread].label);
	line("begins", `${format.clock(call.begin, data.about.clock)} (+${format.exact(call.begin - data.about.first)})`);
	line(is_run ? "within" : "took", is_run ? format.duration(call.duration) : exact(call.duration));
	if (is_run) {
		line("in calls", format.duration(call.busy));
		line("", "About: zoom in for each call. What this page has merged, --from, --to and --function show.");
	} else {
		line("self", exact(call.self));
		if (call.arguments)
			line("arguments", call.arguments, "value");
		if (call.result)
			line("result", call.result, "value");
		if (call.left)
			line("ended", left_names[call.left] || "in another way");
	}
	panel.append(head, list);
	const button = document.createElement("button");

	button.textContent = "All calls of this function";
	button.addEventListener("click", () => walk.choose(call.function));
	panel.append(button);
}

function tip(call, x, y) {
	const box = element("tip"), name = document.createElement("b"), more = document.createElement("span");

	box.hidden = !call;
	if (!call)
		return;
	const [text] = data.about.functions[call.function];

	name.textContent = call.count > 1 ? `${format.number(call.count)} calls, mostly ${text}` :
		text + (call.arguments ? `(${format.fit(call.arguments, 200)})` : "") +
		(call.result ? ` = ${format.fit(call.result, 80)}` : "");
	more.textContent = call.count > 1 ? `${format.duration(call.busy)} in ${format.duration(call.duration)}` :
		`${format.duration(call.duration)}${call.self === undefined ? "" : `, self ${format.duration(call.self)}`}`;
	box.replaceChildren(name, more);
	box.style.left = Math.max(0, Math.min(x + 14, innerWidth - box.offsetWidth - 8)) + "px";
	box.style.top = (y + 18 + box.offsetHeight > innerHeight ? y - box.offsetHeight - 10 : y + 18) + "px";
}

/* The whole trace, small, above the view: where the view is, and another one by dragging. */
const map = {
	height: 48,
	whole: null,		/* {begin, end, width} */

	paint() {
		const canvas = element("map"), width = Math.max(element("stage").clientWidth, 50);
		const { first, last } = data.about, context = canvas_of("map", width, this.height);
		const rows = Math.max(1, timeline.lanes.reduce((sum, lane) => sum + Math.min(lane.rows, 12), 0));
		const each = Math.min(6, (this.height - 6) / rows), tops = [];
		let y = 3;

		this.whole = { begin: first, end: Math.max(last, first + 1), width };
		for (const lane of timeline.lanes) {
			tops[lane.thread] = y;
			y += Math.min(lane.rows, 12) * each;
		}
		const found = rectangles(this.whole, (thread, depth) => depth < 12 && tops[thread] !== undefined ?
			Math.floor(tops[thread] + depth * each) : -1, colour_of, timeline.highlight, () => true);

		rectangles_paint(context, found, Math.max(each, 1));
		const x = ns => (ns - first) / (this.whole.end - first) * width;
		const from = Math.max(x(timeline.view.begin), 0);
		const to = Math.max(Math.min(x(timeline.view.end), width), from + 2);

		context.fillStyle = theme.paper;
		context.globalAlpha = 0.65;
		context.fillRect(0, 0, from, this.height);
		context.fillRect(to, 0, width - to, this.height);
		context.globalAlpha = 1;
		context.strokeStyle = theme.mark;
		context.lineWidth = 2;
		context.strokeRect(from + 1, 1, Math.max(to - from - 2, 1), this.height - 2);
		canvas.dataset.missing = found.missing;
	},

	ns(x) {
		return this.whole.begin + (this.whole.end - this.whole.begin) * x / this.whole.width;
	},
};
