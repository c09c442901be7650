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
			`${format.number(this.shown.length)} of ${format.number(this.rows.length)}` :
			format.number(this.rows.length);
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
		const first = cell("", undefined), colour = document.createElement("i");
		const where = document.createElement("small");

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
