/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
"use strict";

/* The tables, and what is said of one message. Text of a trace is only ever textContent. */
const tables = {
	show: "edges",
	by: "messages",
	row: null,		/* the edge that is chosen */
	shown: [],
	most: 500,

	columns: {
		edges: [["messages", "messages"], ["bytes", "bytes"], ["median", "median"], ["max", "max"]],
		chains: [["calls", "calls"], ["answers", "answered"], ["median", "median"], ["max", "max"]],
		peers: [["waited", "waited"]],
	},

	value(row, name) {
		const times = row.latency || row.time || {};

		return name in row ? row[name] : times[name];
	},

	who(row) {
		const name = p => `${p.name || "process"} ${p.pid}`;
		const chained = (text, pid) => pid === null || text.includes("(") ? text : `${text} ${pid}`;

		if (this.show === "chains")
			return [`${"\u2003".repeat(row.depth)}${chained(row.from, row.from_pid)} \u2192 ` +
				chained(row.to, row.to_pid), row.kind];
		const ends = row.from_end || row.to_end ? `${row.from_end} \u2192 ${row.to_end}` : "";

		if (this.show === "peers")
			return [`${row.name || "process"} ${row.pid}: ${row.status < 0 ? `not brought in: ${row.reason}` :
				row.status ? "was in already" : "brought in"}`, `by ${name(row.by)}, ${row.kind} ${ends}`];
		const notes = [`${row.kind} ${ends}`];

		if (row.channels > 1)
			notes.push(`${format.number(row.channels)} channels`);
		if (row.unsure)
			notes.push(`of ${format.number(row.unsure)} the receive is not sure`);
		if (row.ambiguous)
			notes.push(`${format.number(row.ambiguous)} more that may be another process's`);
		if (row.late)
			notes.push(`${format.number(row.late)} out before the peer was in`);
		return [`${name(row.from)} \u2192 ${name(row.to)}`, notes.join(", ")];
	},

	group(row) {
		return flow.groups.get(`${row.from.number} ${row.to.number} ${row.kind}`);
	},

	line(row) {
		const line = document.createElement("tr"), first = line.insertCell(), small = document.createElement("small");
		const [text, more] = this.who(row);

		first.className = "who";
		if (this.show === "edges") {
			const colour = document.createElement("i");

			colour.style.background = flow.colour(this.group(row) || 0, false);
			first.append(colour);
		}
		small.textContent = more;
		first.append(text, small);
		for (const [name] of this.columns[this.show]) {
			const value = this.value(row, name), cell = line.insertCell();
			const is_time = name === "median" || name === "max" || name === "waited";

			cell.textContent = value === undefined ? "-" : is_time ? format.duration(value) : format.number(value);
			cell.dataset.value = value;
		}
		line.classList.toggle("chosen", this.row === row);
		if (this.show === "edges")
			line.addEventListener("click", () => this.choose(this.row === row ? null : row));
		return line;
	},

	heads() {
		const first = document.createElement("th");

		first.textContent = this.show === "peers" ? "process that a message led to" : "who to whom";
		element("heads").replaceChildren(first, ...this.columns[this.show].map(([name, text]) => {
			const head = document.createElement("th");

			head.textContent = text;
			if (this.show !== "edges")
				return head;
			head.dataset.by = name;
			head.classList.toggle("by", name === this.by);
			head.addEventListener("click", () => {
				this.by = name;
				this.fill();
			});
			return head;
		}));
	},

	fill() {
		const words = element("search").value.toLowerCase().split(/\s+/).filter(word => word), all = flow.about[this.show];

		this.shown = all.filter(row => words.every(word => this.who(row).join(" ").toLowerCase().includes(word)));
		if (this.show === "edges")
			this.shown.sort((a, b) => (this.value(b, this.by) || 0) - (this.value(a, this.by) || 0));
		this.heads();
		element("rows").replaceChildren(...this.shown.slice(0, this.most).map(row => this.line(row)));
		element("found").textContent = words.length ? `${format.number(this.shown.length)} of ` +
			format.number(all.length) : format.number(all.length);
		element("more").textContent = this.shown.length > this.most ?
			`${format.number(this.shown.length - this.most)} more: search` : this.shown.length ? "" : "None.";
		flow.chosen = this.row ? new Set([this.group(this.row)]) : words.length && this.show === "edges" ?
			new Set(this.shown.map(row => this.group(row))) : null;
		flow.draw();
	},

	choose(row) {
		this.row = row;
		this.fill();
	},
};

function details(m) {
	const panel = element("details"), list = document.createElement("dl"), head = document.createElement("h2");
	const line = (name, text) => {
		const dt = document.createElement("dt"), dd = document.createElement("dd");

		dt.textContent = name;
		dd.textContent = text;
		dd.dataset.name = name;
		list.append(dt, dd);
	};
	const exact = ns => Math.abs(ns) < 1000 ? format.exact(ns) : `${format.duration(ns)} (${format.exact(ns)})`;

	panel.replaceChildren();
	if (!m) {
		const hint = document.createElement("p");

		hint.textContent = "Click on a message for its ends and times; on a row for its messages alone.";
		panel.append(hint);
		return;
	}
	head.textContent = `${flow.lanes[m.from].label} \u2192 ${flow.lanes[m.to].label}`;
	line("channel", m.kind || "?");
	line("bytes", format.number(m.bytes));
	line("sent", `${format.clock(m.begin, flow.about.clock)} by thread ${m.by}, in ${format.duration(m.sent - m.begin)}`);
	line("received", `${format.clock(m.end, flow.about.clock)} by thread ${m.at}`);
	line("took", exact(m.end - m.begin));
	line("in queue", exact(Math.max(m.asked - m.sent, 0)));
	panel.append(head, list);
}

function tip(m, x, y) {
	const box = element("tip"), name = document.createElement("b"), more = document.createElement("span");

	box.hidden = !m;
	if (!m)
		return;
	name.textContent = `${flow.lanes[m.from].label} \u2192 ${flow.lanes[m.to].label}`;
	more.textContent = `${m.kind} ${format.number(m.bytes)} bytes, ${format.duration(m.end - m.begin)}`;
	box.replaceChildren(name, more);
	box.style.left = Math.max(0, Math.min(x + 14, innerWidth - box.offsetWidth - 8)) + "px";
	box.style.top = (y + 18 + box.offsetHeight > innerHeight ? y - box.offsetHeight - 10 : y + 18) + "px";
}
