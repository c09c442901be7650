/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
"use strict";

function say_summary() {
	const { about } = data, { threads, rows } = about, notes = [];
	const calls = about.kept + about.merged, plural = (n, word) => `${format.number(n)} ${word}${n === 1 ? "" : "s"}`;
	const places = about.gaps === 1 ? "1 place" : `${format.number(about.gaps)} places`;

	document.title = `${about.title}: timeline`;
	element("title").textContent = about.title;
	element("title").title = about.title;
	element("summary").textContent = calls ? `${plural(calls, "call")} of ${plural(rows.length, "function")} in ` +
		`${plural(threads.filter(thread => thread[3]).length, "thread")}, ` +
		`${format.duration(about.last - about.first)} from ${about.date}` : "";
	if (about.merged)
		notes.push(`${plural(about.merged, "call")} shorter than ${format.duration(data.bound(about.least - 1))} ` +
			"are merged to runs in this page; the table counts all. --from, --to and --function show a part in full.");
	if (about.lost)
		notes.push(`${plural(about.lost, "event")} are lost: calls are missing at the red marks.`);
	if (about.gaps)
		notes.push(`Calls are missing in ${places}: they were lost, or the rule was off then.`);
	if (about.exits_missing)
		notes.push(`${plural(about.exits_missing, "call")} without exit: shown up to what comes next.`);
	if (about.entries_missing)
		notes.push(`${plural(about.entries_missing, "exit")} without entry: not shown.`);
	if (about.open)
		notes.push(`${plural(about.open, "call")} open at the end: shown up to there.`);
	if (about.too_deep)
		notes.push(`${plural(about.too_deep, "call")} deeper than 1000: shown in the last row.`);
	if (about.messages_all > about.messages.length)
		notes.push(`Of ${plural(about.messages_all, "message")} the ${format.number(about.messages.length)} that took ` +
			"longest are shown.");
	if (about.texts_missing)
		notes.push(`${plural(about.texts_missing, "call")} without values: there are too many.`);
	element("notes").textContent = notes.join(" ");
	element("notes").hidden = !notes.length;
	if (!calls && !about.messages.length) {
		const empty = document.createElement("div");

		empty.className = "empty";
		empty.id = "empty";
		empty.textContent = "No calls: the trace has none, or none passes the filters.";
		element("stage").append(empty);
	}
}

function lanes_events() {
	const lanes = element("lanes"), scroll = element("scroll");
	let from = null, moved = false;

	scroll.addEventListener("wheel", event => {
		if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
			if (event.shiftKey)
				scroll.scrollTop += event.deltaY || event.deltaX;
			else
				timeline.move(event.deltaX / timeline.view.width);
		} else {
			const steps = Math.sign(event.deltaY) * Math.min(Math.abs(event.deltaY) / 60, 3);

			timeline.zoom(Math.pow(1.2, steps), event.offsetX);
		}
		event.preventDefault();
	}, { passive: false });
	scroll.addEventListener("scroll", () => timeline.draw());
	lanes.addEventListener("pointerdown", event => {
		from = { x: event.clientX, y: event.clientY, begin: timeline.view.begin, end: timeline.view.end,
			top: scroll.scrollTop };
		moved = false;
		lanes.setPointerCapture(event.pointerId);
	});
	lanes.addEventListener("pointermove", event => {
		const { view } = timeline;

		if (from && (moved || Math.abs(event.clientX - from.x) + Math.abs(event.clientY - from.y) > 4)) {
			const by = (event.clientX - from.x) / view.width * (from.end - from.begin);

			moved = true;
			tip(null);
			scroll.scrollTop = from.top - (event.clientY - from.y);
			timeline.look(from.begin - by, from.end - by);
			return;
		}
		const ns = view.begin + (view.end - view.begin) * event.offsetX / view.width;

		element("where").textContent = `${format.duration(view.end - view.begin)} in view; the pointer is at ` +
			format.clock(ns, data.about.clock);
		tip(timeline.call_at(event.offsetX, event.offsetY), event.clientX, event.clientY);
	});
	lanes.addEventListener("pointerleave", () => tip(null));
	lanes.addEventListener("pointerup", () => {
		from = null;
	});
	lanes.addEventListener("click", event => {
		if (moved)
			return;
		const call = timeline.call_at(event.offsetX, event.offsetY), lane = timeline.lane_at(event.offsetY);

		if (!call && lane && event.offsetY - AXIS + scroll.scrollTop - lane.y < HEAD) {
			lane.folded = !lane.folded;
			timeline.lay();
		}
		timeline.select(call);
	});
	lanes.addEventListener("dblclick", () => timeline.selected && timeline.zoom_to(timeline.selected));
}

function map_events() {
	const canvas = element("map");
	let from = null;

	canvas.addEventListener("pointerdown", event => {
		from = map.ns(event.offsetX);
		canvas.setPointerCapture(event.pointerId);
	});
	canvas.addEventListener("pointermove", event => {
		const to = map.ns(event.offsetX);

		if (from !== null && Math.abs(to - from) > (map.whole.end - map.whole.begin) / 200)
			timeline.look(Math.min(from, to), Math.max(from, to));
	});
	canvas.addEventListener("pointerup", event => {
		const at = map.ns(event.offsetX), half = (timeline.view.end - timeline.view.begin) / 2;

		if (from !== null && Math.abs(at - from) <= (map.whole.end - map.whole.begin) / 200)
			timeline.look(at - half, at + half);
		from = null;
	});
}

const keys = {
	"+": () => timeline.zoom(1 / 1.5), "=": () => timeline.zoom(1 / 1.5), "w": () => timeline.zoom(1 / 1.5),
	"-": () => timeline.zoom(1.5), "s": () => timeline.zoom(1.5),
	"ArrowLeft": () => timeline.move(-0.15), "a": () => timeline.move(-0.15),
	"ArrowRight": () => timeline.move(0.15), "d": () => timeline.move(0.15),
	"ArrowUp": () => { element("scroll").scrollTop -= 3 * ROW; },
	"ArrowDown": () => { element("scroll").scrollTop += 3 * ROW; },
	"0": () => timeline.everything(),
	"f": () => timeline.fold(!timeline.lanes.every(lane => lane.folded)),
	"m": () => {
		timeline.are_messages_hidden = !timeline.are_messages_hidden;
		timeline.draw();
	},
	"/": () => element("search").focus(),
	"?": () => element("keys").showModal(),
	"n": () => walk.step(1), "p": () => walk.step(-1), "l": () => walk.longest(),
	"Enter": () => timeline.selected && timeline.zoom_to(timeline.selected),
	"Escape": () => {
		timeline.select(null);
		walk.choose(-1);
	},
};

function key_events() {
	document.addEventListener("keydown", event => {
		const is_text = event.target.matches("input, select, button, dialog *");

		if (event.ctrlKey || event.metaKey || event.altKey || element("keys").open)
			return;
		if (is_text && event.key !== "Escape")
			return;
		if (keys[event.key]) {
			if (is_text)
				event.target.blur();
			keys[event.key]();
			event.preventDefault();
		}
	});
	element("search").addEventListener("input", () => {
		const text = element("search").value.trim();

		table.fill();
		timeline.highlight = text ? new Set(table.shown.map(row => row.function)) :
			walk.function >= 0 ? new Set([walk.function]) : null;
		timeline.draw();
	});
	element("search").addEventListener("keydown", event => {
		if (event.key !== "Enter" || !table.shown.length)
			return;
		walk.choose(table.shown[0].function);
		element("scroll").focus();
	});
}

function button_events() {
	const on = (id, action) => element(id).addEventListener("click", action);

	on("in", keys["+"]);
	on("out", keys["-"]);
	on("all", keys["0"]);
	on("fold", keys.f);
	on("help", keys["?"]);
	on("first", () => walk.go(0));
	on("next", keys.n);
	on("previous", keys.p);
	on("longest", keys.l);
	on("clear", keys.Escape);
	element("colours").addEventListener("change", event => {
		colours_by = event.target.value;
		table.fill();
		timeline.draw();
	});
	theme.dark.addEventListener("change", () => {
		theme.read();
		table.fill();
		timeline.draw();
	});
	new ResizeObserver(() => timeline.draw()).observe(element("scroll"));
}

async function main() {
	theme.read();
	await data.open();
	data.onload = () => timeline.draw();
	table.open();
	say_summary();
	details(null);
	table.fill();
	timeline.open();
	lanes_events();
	map_events();
	key_events();
	button_events();
	document.body.dataset.ready = "1";
}

main().catch(error => {
	element("notes").hidden = false;
	element("notes").textContent = `This page cannot be shown: ${error.message}. It needs a browser of 2023 or later.`;
});
