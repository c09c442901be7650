/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
"use strict";

/* Messages as reader/pages/messages.c writes them: {from, to, begin, sent, asked, end, bytes, kind}; threads, and ns. */
function messages_of(about) {
	const list = about.messages.map(([from, to, begin, sent, asked, took, bytes, kind]) => ({ from, to, begin,
		sent: begin + sent, asked: begin + asked, end: begin + took, bytes, kind: about.kinds[kind] }));

	list.longest = list.reduce((most, m) => Math.max(most, Math.abs(m.end - m.begin)), 0);
	return list;
}

/* The first message that begins at a time or later. */
function message_at(messages, ns) {
	let low = 0, high = messages.length;

	while (low < high) {
		const middle = (low + high) >> 1;

		if (messages[middle].begin < ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Those that are in a view, at least in part. */
function messages_within(messages, view) {
	return messages.slice(message_at(messages, view.begin - messages.longest),
		message_at(messages, view.end + messages.longest + 1)).filter(m =>
		Math.max(m.begin, m.end) >= view.begin && Math.min(m.begin, m.end) <= view.end);
}

function arrow_paint(context, x0, y0, x1, y1, size) {
	const angle = Math.atan2(y1 - y0, x1 - x0);

	context.beginPath();
	context.moveTo(x0, y0);
	context.lineTo(x1, y1);
	context.moveTo(x1 - size * Math.cos(angle - 0.4), y1 - size * Math.sin(angle - 0.4));
	context.lineTo(x1, y1);
	context.lineTo(x1 - size * Math.cos(angle + 0.4), y1 - size * Math.sin(angle + 0.4));
	context.stroke();
}
