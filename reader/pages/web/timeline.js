/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
"use strict";

const left_names = { "-1": "its exit is missing: it ended before what comes next", "-2": "open where the trace ends",
	1: "left by an exception", 2: "left by longjmp", 3: "its thread ended", 4: "its process ended",
	5: "left by a tail call", 6: "tracing ended" };

const timeline = {
	view: { begin: 0, end: 1, width: 0, height: 0 },
	lanes: [],		/* {thread, label, y, rows, folded} */
	lane_of: [],
	highlight: null,	/* functions */
	selected: null,
	wanted: false,
	messages: [],
	are_messages_hidden: false,

	/* ---- lanes ---- */

	open() {
		const { threads } = data.about;

		this.messages = messages_of(data.about);
		const ends = new Set(this.messages.flatMap(m => [m.from, m.to]));

		this.lanes = threads.map(([process, pid, tid, rows], thread) => ({ thread, rows: rows || 1, folded: false, pid, tid,
			label: `${process || "process"}${pid >= 0 ? " " + pid : ""} \u00b7 thread ${tid >= 0 ? tid : "?"}` }))
			.filter(lane => threads[lane.thread][3] || ends.has(lane.thread)).sort((a, b) => a.pid - b.pid || a.tid - b.tid);
		for (const lane of this.lanes)
			this.lane_of[lane.thread] = lane;
		this.fold(this.lanes.length > 40);
		this.everything();
	},

	/* All lanes: a folded one has its outermost calls behind its name. */
	fold(is_folded) {
		for (const lane of this.lanes)
			lane.folded = is_folded;
		this.lay();
		this.draw();
	},

	lay() {
		let y = 4;

		for (const lane of this.lanes) {
			lane.y = y;
			y += HEAD + (lane.folded ? 0 : lane.rows * ROW + GAP);
		}
		this.total = y + AXIS;
		element("room").style.height = Math.max(0, this.total - this.view.height) + "px";
	},

	/* Where a row is on the canvas; -1: not on it. */
	place(thread, depth) {
		const lane = this.lane_of[thread];

		if (!lane || (lane.folded && depth))
			return -1;
		const y = AXIS + lane.y + (lane.folded ? (HEAD - ROW) / 2 : HEAD + depth * ROW) - element("scroll").scrollTop;

		return y < AXIS - ROW || y > this.view.height ? -1 : y;
	},

	/* ---- the view ---- */

	everything() {
		const { first, last } = data.about, span = Math.max(last - first, 1);

		this.look(first - span * 0.005, last + span * 0.005);
	},

	look(begin, end) {
		const { first, last } = data.about, most = Math.max(last - first, 1) * 1.1;
		let span = Math.min(Math.max(end - begin, 20), most);
		const middle = (begin + end) / 2;

		begin = Math.min(Math.max(middle - span / 2, first - span * 0.5), last + span * 0.5 - span);
		this.view.begin = begin;
		this.view.end = begin + span;
		this.draw();
	},

	zoom(factor, x = this.view.width / 2) {
		const { begin, end, width } = this.view, at = begin + (end - begin) * x / width;

		this.look(at - (at - begin) * factor, at + (end - at) * factor);
	},

	move(share) {
		const span = this.view.end - this.view.begin;

		this.look(this.view.begin + span * share, this.view.end + span * share);
	},

	zoom_to(call) {
		const margin = Math.max(call.duration * 0.1, 10);

		this.look(call.begin - margin, call.begin + call.duration + margin);
	},

	/* A call comes into view, with what is around it. */
	bring(call) {
		const lane = this.lane_of[call.thread], scroll = element("scroll");

		if (lane) {
			lane.folded = false;
			this.lay();
			const y = lane.y + HEAD + call.depth * ROW;

			if (y < scroll.scrollTop || y > scroll.scrollTop + this.view.height - AXIS - 2 * ROW)
				scroll.scrollTop = Math.max(0, y - this.view.height / 2);
		}
		const span = this.view.end - this.view.begin, width = call.duration / span;

		if (width < 0.01 || width > 0.9) {
			const wide = Math.max(call.duration * 8, 200);

			this.look(call.begin + call.duration / 2 - wide / 2, call.begin + call.duration / 2 + wide / 2);
		} else if (call.begin < this.view.begin || call.begin + call.duration > this.view.end) {
			this.look(call.begin + call.duration / 2 - span / 2, call.begin + call.duration / 2 + span / 2);
		} else {
			this.draw();
		}
	},

	/* ---- drawing ---- */

	draw() {
		if (this.wanted)
			return;
		this.wanted = true;
		requestAnimationFrame(() => {
			this.wanted = false;
			this.paint();
		});
	},

	paint() {
		const { view } = this, scroll = element("scroll");

		view.width = Math.max(scroll.clientWidth, 50);
		if (view.height !== scroll.clientHeight) {
			view.height = scroll.clientHeight;
			this.lay();
		}
		const context = canvas_of("lanes", view.width, view.height);
		if (!this.lanes.length)
			return;
		const found = rectangles(view, (thread, depth) => this.place(thread, depth), colour_of, this.highlight,
			thread => this.lane_of[thread].folded);

		this.lanes_paint(context);
		axis_paint(context, view);
		context.save();
		context.beginPath();
		context.rect(0, AXIS, view.width, view.height - AXIS);
		context.clip();
		rectangles_paint(context, found, ROW - 1);
		blocks_paint(context, found, ROW - 1);
		labels_paint(context, found, ROW - 1);
		this.messages_paint(context);
		this.selected_paint(context);
		this.names_paint(context);
		context.restore();
		marks_paint(context, view);
		map.paint();
		element("where").textContent = `${format.duration(view.end - view.begin)} in view, from ` +
			format.clock(view.begin, data.about.clock);
		document.body.dataset.missing = found.missing;
		document.body.dataset.from = found.from;
	},

	lanes_paint(context) {
		const top = AXIS - element("scroll").scrollTop;

		context.fillStyle = theme.lane;
		for (const lane of this.lanes) {
			const y = top + lane.y, height = HEAD + (lane.folded ? 0 : lane.rows * ROW);

			if (y + height > AXIS && y < this.view.height)
				context.fillRect(0, y, this.view.width, height);
		}
	},

	/* An arrow from the sender's outermost call to the receiver's, once for a pixel. */
	messages_paint(context) {
		const { view } = this, drawn = new Set(), x = ns => (ns - view.begin) / (view.end - view.begin) * view.width;
		const y = thread => {
			const lane = this.lane_of[thread];

			return AXIS + lane.y + (lane.folded ? HEAD / 2 : HEAD + ROW / 2) - element("scroll").scrollTop;
		};

		if (this.are_messages_hidden)
			return;
		context.strokeStyle = theme.ink;
		context.lineWidth = 1;
		for (const m of messages_within(this.messages, view)) {
			const pixel = `${m.from} ${m.to} ${Math.round(x(m.begin))} ${Math.round(x(m.end))}`;

			if (m.from !== m.to && !drawn.has(pixel))
				arrow_paint(context, x(m.begin), y(m.from), x(m.end), y(m.to), 5);
			drawn.add(pixel);
		}
		document.body.dataset.messages = drawn.size;
	},

	names_paint(context) {
		const top = AXIS - element("scroll").scrollTop;

		context.textBaseline = "middle";
		for (const lane of this.lanes) {
			const y = top + lane.y, text = (lane.folded ? "\u25b8 " : "\u25be ") + lane.label;

			if (y + HEAD <= AXIS || y >= this.view.height)
				continue;
			if (lane.folded) {	/* its calls are behind the name */
				context.globalAlpha = 0.8;
				context.fillStyle = theme.lane;
				context.fillRect(0, y, context.measureText(text).width + 12, HEAD);
				context.globalAlpha = 1;
			}
			context.fillStyle = theme.ink;
			context.fillText(text, 6, y + HEAD / 2);
		}
	},

	selected_paint(context) {
		const call = this.selected, { begin, end, width } = this.view;
		const y = call ? this.place(call.thread, call.depth) : -1;

		if (y < 0)
			return;
		const x0 = Math.max((call.begin - begin) / (end - begin) * width, -4);
		const x1 = Math.min((call.begin + call.duration - begin) / (end - begin) * width, width + 4);

		context.strokeStyle = theme.ink;
		context.lineWidth = 2;
		if (x1 >= -4 && x0 <= width + 4)
			context.strokeRect(x0 - 1, y - 1, Math.max(x1 - x0, 1) + 2, ROW + 1);
	},

	/* ---- what is where ---- */

	lane_at(y) {
		const at = y - AXIS + element("scroll").scrollTop;

		return y < AXIS ? undefined : this.lanes.find(lane => at >= lane.y &&
			at < lane.y + HEAD + (lane.folded ? 0 : lane.rows * ROW));
	},

	/* The call or block of a point; null: none. */
	call_at(x, y) {
		const lane = this.lane_at(y), { begin, end, width } = this.view;
		const down = lane ? y - AXIS + element("scroll").scrollTop - lane.y : -1;
		const row = lane && lane.folded ? 0 : Math.floor((down - HEAD) / ROW);
		const ns = begin + (end - begin) * x / width, near = (end - begin) / width;
		let best = null, distance = 2 * near;

		if (!lane || row < 0)
			return null;
		for (const chunk of levels_of(this.view).chunks) {
			const { items } = chunk;

			for (let i = 0; items && i < items.count; i++) {
				if (items.depth[i] !== row || items.thread[i] !== lane.thread)
					continue;
				const away = Math.max(items.begin[i] - ns, ns - items.begin[i] - items.duration[i], 0);

				if (away < distance || (away === 0 && best && best.items.blocks)) {
					distance = away;
					best = { items, i };
				}
			}
		}
		return best && describe(best.items, best.i);
	},

	select(call) {
		this.selected = call;
		details(call);
		this.draw();
	},
};
