/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
"use strict";

const ROW = 16, HEAD = 22, GAP = 8, CHUNKS_MOST = 90;

/* Which levels show a view: calls from `from` on, and blocks of the level below. */
function levels_of(view) {
	const ns = (view.end - view.begin) / view.width;
	let from = data.about.least;

	while (from < 19 && data.bound(from) <= 2 * ns)
		from++;
	const overlaps = chunk => chunk.begin <= view.end && chunk.end >= view.begin;
	const chunks = at => data.chunks.filter(chunk => overlaps(chunk) &&
		(chunk.blocks ? chunk.level === at - 1 : chunk.level >= at));
	let shown = chunks(from);

	for (; from < 19 && shown.length > CHUNKS_MOST; shown = chunks(from))
		from++;
	return { from, chunks: shown.sort((a, b) => a.level - b.level) };
}

/*
 * All calls and blocks of a view, as rectangles by colour. place(thread, depth): where a row is, or -1. Nothing is
 * drawn twice onto the same pixel of a row. is_silent(thread): there are no labels.
 */
function rectangles(view, place, colour_of, highlight, is_silent) {
	const { chunks, from } = levels_of(view);
	const scale = view.width / (view.end - view.begin);
	const plain = Array.from({ length: COLOURS * 2 }, () => []), labels = [], blocks = [], filled = new Map();
	let missing = 0;

	for (const chunk of chunks) {
		const items = data.items(chunk);

		if (!items) {
			missing++;
			continue;
		}
		const { begin, duration, thread, depth, count } = items;

		for (let i = 0; i < count; i++) {
			const x0 = (begin[i] - view.begin) * scale, x1 = x0 + duration[i] * scale;

			if (x1 < 0 || x0 > view.width)
				continue;
			const y = place(thread[i], depth[i]);

			if (y < 0)
				continue;
			const left = Math.max(x0, -2), right = Math.min(x1, view.width + 2);

			if (right - left < 1) {
				/* pixels of this row that have something narrow already, but for what is highlighted */
				let row = filled.get(y);

				if (!row)
					filled.set(y, row = new Uint8Array(view.width + 4));
				const pixel = Math.floor(left) + 2, value = highlight && highlight.has(items.function[i]) ? 2 : 1;

				if (row[pixel] >= value)
					continue;
				row[pixel] = value;
			}
			const f = items.function[i], shown = !highlight || highlight.has(f);

			plain[colour_of(f) + (shown ? 0 : COLOURS)].push(left, y, Math.max(right - left, 1));
			if (items.blocks && right - left >= 3 && items.more[i] > 1)
				blocks.push(left, y, right - left);
			if (right - left >= 28 && !is_silent(thread[i]))
				labels.push(left, y, right - left, f, items.blocks ? items.more[i] : 1);
		}
	}
	return { plain, labels, blocks, missing, from };
}

function rectangles_paint(context, found, height) {
	for (const dim of [1, 0])
		for (let i = 0; i < COLOURS; i++) {
			const list = found.plain[i + dim * COLOURS];

			context.fillStyle = (dim ? theme.dimmed : theme.colours)[i];
			for (let k = 0; k < list.length; k += 3)
				context.fillRect(list[k], list[k + 1], list[k + 2] > 4 ? list[k + 2] - 1 : list[k + 2], height);
		}
}

/* Blocks of several calls are hatched. */
function blocks_paint(context, found, height) {
	const { blocks } = found;

	context.strokeStyle = theme.paper;
	context.lineWidth = 1;
	context.globalAlpha = 0.55;
	context.beginPath();
	for (let k = 0; k < blocks.length; k += 3) {
		const x0 = blocks[k], y = blocks[k + 1], x1 = x0 + blocks[k + 2];

		for (let x = x0 + 3; x < x1; x += 6) {
			context.moveTo(x, y + height);
			context.lineTo(Math.min(x + 4, x1), y);
		}
	}
	context.stroke();
	context.globalAlpha = 1;
}

function labels_paint(context, found, height) {
	const { labels } = found, each = context.measureText("mmmmmmmmmm").width / 10;

	context.fillStyle = theme.onbar;
	context.textBaseline = "middle";
	for (let k = 0; k < labels.length; k += 5) {
		const x = Math.max(labels[k], 0), room = labels[k] + labels[k + 2] - x - 8;
		const name = data.about.functions[labels[k + 3]][0] || "?", most = Math.floor(room / each);
		const count = labels[k + 4] > 1 ? " \u00d7 " + format.number(labels[k + 4]) : "";
		const text = format.fit(name.length + count.length <= most ? name + count : name, most);

		if (text.length > 4 || text === name)
			context.fillText(text, x + 4, labels[k + 1] + height / 2 + 0.5);
	}
}

function marks_paint(context, view) {
	context.fillStyle = theme.lost;
	for (const [ns] of data.about.marks) {
		const x = Math.round((ns - view.begin) / (view.end - view.begin) * view.width);

		if (x >= 0 && x <= view.width)
			context.fillRect(x - 1, AXIS - 8, 3, 8);
	}
}
