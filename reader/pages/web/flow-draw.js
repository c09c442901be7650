/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
"use strict";

const LANE = 44;

/* Messages over time, a lane for each process. */
const flow = {
	about: null,
	messages: [],		/* as of messages_of(), with group; from and to are lanes, by and at the threads */
	lanes: [],		/* {process, label} */
	groups: [],		/* of messages: from, to and kind as a text */
	view: { begin: 0, end: 1, width: 0, height: 0 },
	selected: null,
	chosen: null,		/* groups that are shown; null: all */
	wanted: false,

	async open() {
		this.about = JSON.parse(new TextDecoder().decode(await inflate("about", "gzip")));
		const { processes, threads } = this.about, lane_of = new Map(), groups = new Map();
		const lane = process => {
			if (!lane_of.has(process)) {
				const [name, pid] = processes[process];

				lane_of.set(process, this.lanes.length);
				this.lanes.push({ process, label: `${name || "process"} ${pid}` });
			}
			return lane_of.get(process);
		};

		this.messages = messages_of(this.about);
		for (const m of this.messages) {
			const sender = threads[m.from][0], receiver = threads[m.to][0], key = `${sender} ${receiver} ${m.kind}`;

			if (!groups.has(key))
				groups.set(key, groups.size);
			Object.assign(m, { group: groups.get(key), by: threads[m.from][1], at: threads[m.to][1],
				from: lane(sender), to: lane(receiver) });
		}
		this.groups = groups;
		this.everything();
	},

	/* ---- the view ---- */

	everything() {
		const span = Math.max(this.about.last, 1);

		this.look(-span * 0.005, span * 1.005);
	},

	look(begin, end) {
		const { last } = this.about, span = Math.min(Math.max(end - begin, 20), Math.max(last, 1) * 1.1);

		begin = Math.min(Math.max((begin + end) / 2 - span / 2, -span * 0.5), last + span * 0.5 - span);
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

	zoom_to(message) {
		const margin = Math.max(Math.abs(message.end - message.begin) * 0.5, 10);

		this.look(Math.min(message.begin, message.end) - margin, Math.max(message.begin, message.end) + margin);
	},

	bring(message) {
		const span = this.view.end - this.view.begin, took = Math.abs(message.end - message.begin);
		const width = took / span;

		if (width < 0.02 || width > 0.9)
			this.look(message.begin - took * 4 - 20, message.end + took * 4 + 20);
		else if (message.begin < this.view.begin || message.end > this.view.end)
			this.look(message.begin - span / 2, message.begin + span / 2);
		this.select(message);
	},

	select(message) {
		this.selected = message;
		details(message);
		this.draw();
	},

	/* ---- places ---- */

	y(lane) {
		return AXIS + LANE * (lane + 0.7) - element("scroll").scrollTop;
	},

	x(ns) {
		return (ns - this.view.begin) / (this.view.end - this.view.begin) * this.view.width;
	},

	is_shown(message) {
		return !this.chosen || this.chosen.has(message.group);
	},

	/* The line of a message: from one lane to another, or, within one, below it. */
	line(m) {
		const y0 = this.y(m.from), y1 = m.from === m.to ? y0 + 12 : this.y(m.to);

		return [this.x(m.begin), y0, this.x(m.end), y1];
	},

	at(x, y) {
		let best = null, distance = 6;

		for (const m of messages_within(this.messages, this.view)) {
			if (!this.is_shown(m))
				continue;
			const [x0, y0, x1, y1] = this.line(m), length = (x1 - x0) ** 2 + (y1 - y0) ** 2;
			const share = Math.min(Math.max(((x - x0) * (x1 - x0) + (y - y0) * (y1 - y0)) / (length || 1), 0), 1);
			const away = Math.hypot(x0 + share * (x1 - x0) - x, y0 + share * (y1 - y0) - y);

			if (away < distance) {
				distance = away;
				best = m;
			}
		}
		return best;
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

	colour(group, is_dimmed) {
		const hue = (20 + group * 137.5) % 360, is_dark = theme.dark.matches;

		return is_dimmed ? theme.line : is_dark ? `oklch(0.75 0.13 ${hue})` : `oklch(0.52 0.16 ${hue})`;
	},

	lanes_paint(context) {
		context.textBaseline = "middle";
		this.lanes.forEach((lane, i) => {
			const y = this.y(i);

			context.fillStyle = theme.lane;
			context.fillRect(0, y - LANE * 0.6, this.view.width, LANE - 4);
			context.fillStyle = theme.faint;
			context.fillRect(0, Math.round(y), this.view.width, 1);
		});
	},

	/* Above the lines, so that they are read. */
	labels_paint(context) {
		this.lanes.forEach((lane, i) => {
			const y = this.y(i) - LANE * 0.42, text = format.fit(lane.label, 60);

			context.globalAlpha = 0.8;
			context.fillStyle = theme.lane;
			context.fillRect(0, y - 8, context.measureText(text).width + 12, 16);
			context.globalAlpha = 1;
			context.fillStyle = theme.ink;
			context.fillText(text, 6, y);
		});
	},

	messages_paint(context) {
		const drawn = new Set();
		let count = 0;

		context.lineWidth = 1;
		for (const is_shown of this.chosen ? [false, true] : [true])
			for (const m of messages_within(this.messages, this.view)) {
				if (this.is_shown(m) !== is_shown)
					continue;
				const pixel = `${m.group} ${Math.round(this.x(m.begin))} ${Math.round(this.x(m.end))}`;

				count++;
				if (drawn.has(pixel))
					continue;
				drawn.add(pixel);
				context.strokeStyle = this.colour(m.group, !is_shown);
				arrow_paint(context, ...this.line(m), 5);
			}
		if (this.selected) {
			context.strokeStyle = theme.ink;
			context.lineWidth = 2.5;
			arrow_paint(context, ...this.line(this.selected), 8);
		}
		document.body.dataset.drawn = count;
	},

	paint() {
		const { view } = this, scroll = element("scroll");

		view.width = Math.max(scroll.clientWidth, 50);
		view.height = scroll.clientHeight;
		element("room").style.height = Math.max(0, this.lanes.length * LANE + AXIS + 8 - view.height) + "px";
		const context = canvas_of("lanes", view.width, view.height);

		if (!this.lanes.length)
			return;
		this.lanes_paint(context);
		axis_paint(context, view);
		context.save();
		context.beginPath();
		context.rect(0, AXIS, view.width, view.height - AXIS);
		context.clip();
		this.messages_paint(context);
		this.labels_paint(context);
		context.restore();
		element("where").textContent = `${format.duration(view.end - view.begin)} in view, from ` +
			format.clock(view.begin, this.about.clock);
	},
};
