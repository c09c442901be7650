/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
"use strict";

/* What the page has in it: chunks of calls and of blocks (reader/pages/levels.h), unpacked when they are looked at. */
const data = {
	about: null,
	chunks: [],		/* {blocks, level, count, begin, end, items, wanted, used} */
	turn: 0,
	unpacked: 0,
	most: 96,		/* chunks that stay unpacked */
	onload: () => {},

	async open() {
		this.about = JSON.parse(new TextDecoder().decode(await inflate("about", "gzip")));
		this.chunks = this.about.chunks.map(([blocks, level, count, begin, end], number) =>
			({ number, blocks: !!blocks, level, count, begin, end, items: null, wanted: null, used: 0 }));
	},

	bound(level) {
		return 64 * Math.pow(4, level);
	},

	/* A chunk's items; null: they come later, and onload() is called. */
	items(chunk) {
		chunk.used = ++this.turn;
		if (!chunk.items && !chunk.wanted)
			this.load(chunk).then(() => this.onload());
		return chunk.items;
	},

	load(chunk) {
		if (!chunk.wanted) {
			chunk.used = ++this.turn;
			chunk.wanted = inflate("c" + chunk.number, "deflate").then(buffer => {
				chunk.items = decode(new Uint8Array(buffer), chunk.blocks ? this.bound(chunk.level) / 16 : 0);
				this.unpacked++;
				this.forget();
				return chunk.items;
			});
		}
		return chunk.wanted;
	},

	/* Those that were not looked at for the longest time go. */
	forget() {
		if (this.unpacked <= this.most + 32)
			return;
		const there = this.chunks.filter(chunk => chunk.items).sort((a, b) => a.used - b.used);

		for (const chunk of there.slice(0, there.length - this.most)) {
			chunk.items = chunk.wanted = null;
			this.unpacked--;
		}
	},
};

/* The columns of a chunk. unit: ns, of the times of blocks; 0: calls, whose times are in ns. */
function decode(bytes, unit) {
	let at = 0;

	function next() {
		let byte = bytes[at++], value = byte & 127, unit = 128;

		while (byte > 127) {
			byte = bytes[at++];
			value += (byte & 127) * unit;
			unit *= 128;
		}
		return value;
	}

	function column(array) {
		for (let i = 0; i < array.length; i++)
			array[i] = next();
		return array;
	}

	function signed(value) {
		return value % 2 ? -(value + 1) / 2 : value / 2;
	}

	function times(of_one) {
		const array = new Float64Array(count);

		for (let i = 0; i < count; i++)
			array[i] = of_one() * (unit || 1);
		return array;
	}

	const count = next();
	let last = 0;
	const begin = times(() => last += signed(next()));
	const items = { count, bytes, blocks: !!unit, begin, duration: times(next), inner: times(next),
		function: column(new Uint32Array(count)),
		thread: column(new Uint32Array(count)), depth: column(new Uint32Array(count)), more: null };

	if (unit) {
		for (let i = 0; i < count; i++)
			items.depth[i] >>>= 1;
		items.more = column(new Float64Array(count));
		return items;
	}
	items.more = new Int32Array(count).fill(-1);
	for (let i = 0; i < count; i++) {
		const more = items.depth[i] & 1;

		items.depth[i] >>>= 1;
		if (!more)
			continue;
		items.more[i] = at;
		next();
		const size = next();	/* which moves `at`, too */

		at += size;
	}
	items.left = position => {
		at = position;
		return signed(next());
	};
	items.text = position => {
		at = position;
		next();
		const size = next();

		return new TextDecoder().decode(bytes.subarray(at, at + size));
	};
	return items;
}

/* Everything about one call, or block. */
function describe(items, i) {
	const call = { begin: items.begin[i], duration: items.duration[i], function: items.function[i],
		thread: items.thread[i], depth: items.depth[i], count: 1, left: 0, arguments: "", result: "" };

	if (items.blocks) {
		call.count = items.more[i];
		call.busy = items.inner[i];
		return call;
	}
	call.self = items.duration[i] - items.inner[i];
	if (items.more[i] >= 0) {
		const text = items.text(items.more[i]).split("\0");

		call.left = items.left(items.more[i]);
		call.arguments = text[0];
		call.result = text[1] || "";
	}
	return call;
}
