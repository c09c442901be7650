/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
"use strict";

/* The table of functions: the same numbers as `lttng-spi report`. Text of a trace is only ever textContent. */
const table = {
	rows: [],		/* {function, calls, total, self, min, max} */
	by: "total",
	shown: [],		/* rows that the search leaves */
	most: 500,		/* in the document */

	open() {
		this.rows = data.about.rows.map(([f, calls, total, self, min, max]) =>
			({ function: f, calls, total, self, min, max, text: data.about.functions[f].join(" ").toLowerCase() }));
		for (const head of document.querySelectorAll("#table-room th"))
			head.addEventListener("click", () => {
				this.by = head.dataset.by;
				for (const other of document.querySelectorAll("#table-room th"))
					other.classList.toggle("by", other === head);
				this.fill();
			});
	},

	row_of(f) {
		return this.rows.find(row => row.function === f);
	},

	/* Those whose name or object has all words of the text. */
	filter(text) {
		const words = text.toLowerCase().split(/\s+/).filter(word => word);

		return words.length ? this.rows.filter(row => words.every(word => row.text.includes(word))) : this.rows;
	},

	fill() {
		const text = document.getElementById("search").value, body = document.getElementById("rows");
		const by = this.by, name = row => data.about.functions[row.function][0];

		this.shown = this.filter(text).slice().sort((a, b) => by === "name" ?
			(name(a) < name(b) ? -1 : name(a) > name(b) ? 1 : 0) : b[by] - a[by] || b.self - a.self);
		body.replaceChildren(...this.shown.slice(0, this.most).map(row => this.line(row)));
		document.getElementById("more").textContent = this.shown.length > this.most ?
			`${format.number(this.shown.length - this.most)} more: search, or sort by another column` :
			this.shown.length ? "" : text.trim() ? "No function has this in its name." : "No calls.";
		document.getElementById("found").textContent = text.trim() ?
			`${format.number(this.shown.length)} of ${format.number(this.rows.length)}` : format.number(this.rows.length);
	},

	line(row) {
		const line = document.createElement("tr"), [name, object] = data.about.functions[row.function];
		const cell = (text, exact) => {
			const td = line.insertCell();

			td.textContent = text;
			if (exact !== undefined) {
				td.dataset.value = exact;
				td.title = exact;
			}
			return td;
		};
		const first = cell("", undefined), colour = document.createElement("i"), where = document.createElement("small");

		colour.style.background = theme.colours[colour_of(row.function)];
		where.textContent = object;
		first.append(colour, name || "?", " ", where);
		first.title = object ? `${name} [${object}]` : name;
		cell(format.number(row.calls), row.calls);
		cell(format.duration(row.total), row.total);
		cell(format.duration(row.self), row.self);
		line.dataset.function = row.function;
		line.classList.toggle("chosen", walk.function === row.function);
		line.addEventListener("click", () => walk.choose(row.function));
		return line;
	},
};

let colours_by = "function";

function colour_of(f) {
	if (colours_by === "function")
		return f % COLOURS;
	const object = data.about.functions[f][1];

	for (let k = objects.length; k < data.about.functions.length; k++) {
		const name = data.about.functions[k][1];

		if (!object_numbers.has(name))
			object_numbers.set(name, object_numbers.size);
		objects.push(object_numbers.get(name));
	}
	return (object ? objects[f] : 0) % COLOURS;
}
const objects = [], object_numbers = new Map();

/* One function's calls, one after the other. */
const walk = {
	function: -1,
	calls: [],		/* {begin, duration, thread, depth, chunk, item} */
	at: -1,
	most: 1000000,
	turn: 0,

	async choose(f) {
		const turn = ++this.turn;

		this.function = f;
		this.calls = [];
		this.at = -1;
		document.getElementById("walk").hidden = f < 0;
		table.fill();
		timeline.highlight = f < 0 ? null : new Set([f]);
		timeline.draw();
		if (f < 0)
			return;
		const [name, object] = data.about.functions[f];

		document.getElementById("walk-name").textContent = object ? `${name} [${object}]` : name;
		document.getElementById("walk-at").textContent = "looking for its calls \u2026";
		for (const chunk of data.chunks) {
			if (chunk.blocks || this.calls.length >= this.most)
				continue;
			const items = await data.load(chunk);

			if (turn !== this.turn)
				return;
			for (let i = 0; i < items.count && this.calls.length < this.most; i++)
				if (items.function[i] === f)
					this.calls.push({ begin: items.begin[i], duration: items.duration[i], chunk, item: i });
		}
		this.calls.sort((a, b) => a.begin - b.begin);
		this.tell();
	},

	tell() {
		const row = table.row_of(this.function), merged = row ? row.calls - this.calls.length : 0;
		let text = this.at >= 0 ? `call ${format.number(this.at + 1)} of ` : "";

		text += `${format.number(this.calls.length)} call${this.calls.length === 1 ? "" : "s"}`;
		if (merged > 0)
			text += `; ${format.number(merged)} more are merged in this page`;
		if (row)
			text += `. Shortest ${format.duration(row.min)}, longest ${format.duration(row.max)}.`;
		document.getElementById("walk-at").textContent = text;
		document.getElementById("walk").dataset.calls = this.calls.length;
	},

	async go(at) {
		if (!this.calls.length)
			return;
		this.at = Math.max(0, Math.min(at, this.calls.length - 1));
		const { chunk, item } = this.calls[this.at], items = await data.load(chunk);
		const call = describe(items, item);

		this.tell();
		timeline.select(call);
		timeline.bring(call);
	},

	/* The next one behind what is in view, or behind the one that was shown. */
	step(by) {
		if (this.at >= 0)
			return this.go((this.at + by + this.calls.length) % this.calls.length);
		const middle = timeline.view.begin;
		const behind = this.calls.findIndex(call => call.begin >= middle);

		return this.go(by > 0 ? (behind < 0 ? 0 : behind) : (behind < 0 ? this.calls.length : behind) - 1);
	},

	longest() {
		let best = 0;

		this.calls.forEach((call, i) => {
			if (call.duration > this.calls[best].duration)
				best = i;
		});
		return this.go(best);
	},
};
