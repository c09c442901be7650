/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
"use strict";

function say_summary() {
	const { about } = flow, { counts } = about, notes = [];
	const plural = (n, word) => `${format.number(n)} ${word}${n === 1 ? "" : "s"}`;
	const note = (name, word, text) => counts[name] && notes.push(`${plural(counts[name], word)} ${text}.`);

	document.title = `${about.title}: flow`;
	element("title").textContent = element("title").title = about.title;
	element("summary").textContent = counts.messages + counts.ambiguous ? `${plural(counts.messages, "message")} between ` +
		`${plural(flow.lanes.length, "process").replace(/sss$/, "sses")}, ${format.duration(about.last)} from ${about.date}` : "";
	if (about.messages_all > about.messages.length)
		notes.push(`Drawn are the ${format.number(about.messages.length)} messages that took longest; the tables count all.`);
	note("unsure", "message", "may have come by one of several receives: not drawn");
	note("ambiguous", "message", "may have gone to one of several processes: not drawn");
	note("not_received", "message", "that nobody traced received");
	note("not_sent", "receive", "of what nobody traced sent");
	note("unknown_sends", "send", "without a position");
	note("unknown_receives", "receive", "without a position");
	note("cut", "datagram", "that were cut");
	if (counts.lost !== 0)
		notes.push(`${counts.lost === null ? "Many events" : plural(counts.lost, "event")} are lost.`);
	element("notes").textContent = notes.join(" ");
	element("notes").hidden = !notes.length;
	if (!flow.messages.length) {
		const empty = document.createElement("div");

		empty.className = "empty";
		empty.id = "empty";
		empty.textContent = "No messages: the trace has none with both ends, or none passes the filters.";
		element("stage").append(empty);
	}
}

/* Of the chosen row: the message after or before the selected one, or the slowest. */
const walk = {
	all() {
		return flow.messages.filter(m => flow.is_shown(m));
	},

	step(by) {
		const all = this.all(), at = all.indexOf(flow.selected);
		const next = at < 0 ? (by > 0 ? 0 : all.length - 1) : at + by;

		if (all[next])
			flow.bring(all[next]);
	},

	longest() {
		const all = this.all();

		if (all.length)
			flow.bring(all.reduce((a, b) => b.end - b.begin > a.end - a.begin ? b : a));
	},
};

function lanes_events() {
	const lanes = element("lanes"), scroll = element("scroll");
	let from = null, moved = false;

	scroll.addEventListener("wheel", event => {
		if (event.shiftKey)
			scroll.scrollTop += event.deltaY || event.deltaX;
		else if (Math.abs(event.deltaX) > Math.abs(event.deltaY))
			flow.move(event.deltaX / flow.view.width);
		else
			flow.zoom(Math.pow(1.2, Math.sign(event.deltaY) * Math.min(Math.abs(event.deltaY) / 60, 3)), event.offsetX);
		event.preventDefault();
	}, { passive: false });
	scroll.addEventListener("scroll", () => flow.draw());
	lanes.addEventListener("pointerdown", event => {
		from = { x: event.clientX, y: event.clientY, begin: flow.view.begin, end: flow.view.end, top: scroll.scrollTop };
		moved = false;
		lanes.setPointerCapture(event.pointerId);
	});
	lanes.addEventListener("pointermove", event => {
		if (from && (moved || Math.abs(event.clientX - from.x) + Math.abs(event.clientY - from.y) > 4)) {
			const by = (event.clientX - from.x) / flow.view.width * (from.end - from.begin);

			moved = true;
			tip(null);
			scroll.scrollTop = from.top - (event.clientY - from.y);
			flow.look(from.begin - by, from.end - by);
			return;
		}
		tip(flow.at(event.offsetX, event.offsetY), event.clientX, event.clientY);
	});
	lanes.addEventListener("pointerleave", () => tip(null));
	lanes.addEventListener("pointerup", () => {
		from = null;
	});
	lanes.addEventListener("click", event => !moved && flow.select(flow.at(event.offsetX, event.offsetY)));
	lanes.addEventListener("dblclick", () => flow.selected && flow.zoom_to(flow.selected));
}

const keys = {
	"+": () => flow.zoom(1 / 1.5), "=": () => flow.zoom(1 / 1.5), "w": () => flow.zoom(1 / 1.5),
	"-": () => flow.zoom(1.5), "s": () => flow.zoom(1.5),
	"ArrowLeft": () => flow.move(-0.15), "a": () => flow.move(-0.15),
	"ArrowRight": () => flow.move(0.15), "d": () => flow.move(0.15),
	"ArrowUp": () => { element("scroll").scrollTop -= LANE; },
	"ArrowDown": () => { element("scroll").scrollTop += LANE; },
	"0": () => flow.everything(),
	"/": () => element("search").focus(),
	"?": () => element("keys").showModal(),
	"n": () => walk.step(1), "p": () => walk.step(-1), "l": () => walk.longest(),
	"Enter": () => flow.selected && flow.zoom_to(flow.selected),
	"Escape": () => {
		flow.select(null);
		tables.choose(null);
	},
};

function key_events() {
	document.addEventListener("keydown", event => {
		const is_text = event.target.matches("input, select, button, dialog *");

		if (event.ctrlKey || event.metaKey || event.altKey || element("keys").open)
			return;
		if ((is_text && event.key !== "Escape") || !keys[event.key])
			return;
		if (is_text)
			event.target.blur();
		keys[event.key]();
		event.preventDefault();
	});
	element("search").addEventListener("input", () => tables.fill());
	element("show").addEventListener("change", event => {
		tables.show = event.target.value;
		tables.row = null;
		tables.fill();
	});
	for (const [id, key] of [["in", "+"], ["out", "-"], ["all", "0"], ["help", "?"]])
		element(id).addEventListener("click", keys[key]);
	theme.dark.addEventListener("change", () => {
		theme.read();
		tables.fill();
	});
	new ResizeObserver(() => flow.draw()).observe(element("scroll"));
}

async function main() {
	theme.read();
	await flow.open();
	say_summary();
	details(null);
	tables.fill();
	lanes_events();
	key_events();
	document.body.dataset.ready = "1";
}

main().catch(error => {
	element("notes").hidden = false;
	element("notes").textContent = `This page cannot be shown: ${error.message}. It needs a browser of 2023 or later.`;
});
