/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
"use strict";

/* One function's calls, one after the other. */
const walk = {
	function: -1,
	count: 0,
	order: [],		/* of time: numbers of calls */
	begin: [], duration: [], chunk: [], item: [],	/* by number: longer calls first, about */
	at: -1,			/* in order */
	most: 500000,
	turn: 0,

	async choose(f) {
		const turn = ++this.turn;

		this.function = f;
		this.count = 0;
		this.at = -1;
		this.order = this.begin = this.duration = this.chunk = this.item = [];
		element("walk").hidden = f < 0;
		element("walk").dataset.calls = 0;
		table.fill();
		timeline.highlight = f < 0 ? null : new Set([f]);
		timeline.draw();
		if (f < 0)
			return;
		const [name, object] = data.about.functions[f];

		element("walk-name").textContent = object ? `${name} [${object}]` : name;
		element("walk-at").textContent = "looking for its calls \u2026";
		const found = await this.collect(f, () => turn === this.turn);

		if (turn !== this.turn)
			return;
		Object.assign(this, found);
		this.count = this.begin.length;
		this.order = new Uint32Array(this.count).map((_, i) => i).sort((a, b) => this.begin[a] - this.begin[b]);
		this.tell();
	},

	/* From the level of the longest calls down. */
	async collect(f, is_wanted) {
		const begin = [], duration = [], chunk = [], item = [];
		const chunks = data.chunks.filter(one => !one.blocks).sort((a, b) => b.level - a.level);

		for (const one of chunks) {
			if (begin.length >= this.most || !is_wanted())
				break;
			const items = await data.load(one);

			for (let i = 0; i < items.count && begin.length < this.most; i++)
				if (items.function[i] === f) {
					begin.push(items.begin[i]);
					duration.push(items.duration[i]);
					chunk.push(one.number);
					item.push(i);
				}
		}
		return { begin, duration, chunk, item };
	},

	tell() {
		const row = table.row_of(this.function), more = row ? row.calls - this.count : 0;
		let text = this.at >= 0 ? `call ${format.number(this.at + 1)} of ` : "";

		text += `${format.number(this.count)} call${this.count === 1 ? "" : "s"}`;
		if (more > 0)
			text += `; ${format.number(more)} more, shorter ones, are not listed`;
		if (row)
			text += `. Shortest ${format.duration(row.min)}, longest ${format.duration(row.max)}.`;
		element("walk-at").textContent = text;
		element("walk").dataset.calls = this.count;
	},

	async go(at) {
		if (!this.count)
			return;
		this.at = Math.max(0, Math.min(at, this.count - 1));
		const number = this.order[this.at], items = await data.load(data.chunks[this.chunk[number]]);
		const call = describe(items, this.item[number]);

		this.tell();
		timeline.select(call);
		timeline.bring(call);
	},

	/* The one behind the one that was shown, or else the first one in view. */
	step(by) {
		if (this.at >= 0)
			return this.go((this.at + by + this.count) % this.count);
		const behind = this.order.findIndex(number => this.begin[number] >= timeline.view.begin);

		return this.go(by > 0 ? Math.max(behind, 0) : (behind < 0 ? this.count : behind) - 1);
	},

	longest() {
		let best = 0;

		for (let i = 0; i < this.count; i++)
			if (this.duration[this.order[i]] > this.duration[this.order[best]])
				best = i;
		return this.go(best);
	},
};
