/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
"use strict";

/* What pages with a canvas have in common: the data in them, colours, the axis of time. */
const element = id => document.getElementById(id);
const AXIS = 24, COLOURS = 24;

async function inflate(id, how) {
	const text = atob(element(id).textContent);
	const bytes = new Uint8Array(text.length);

	for (let i = 0; i < text.length; i++)
		bytes[i] = text.charCodeAt(i);
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream(how));

	return new Response(stream).arrayBuffer();
}

const theme = {
	dark: matchMedia("(prefers-color-scheme: dark)"),
	colours: [],
	dimmed: [],

	/* The canvas has the colours of the style sheet. */
	read() {
		const style = getComputedStyle(document.documentElement);

		for (const name of ["paper", "ink", "faint", "line", "mark", "lost", "lane", "onbar"])
			this[name] = style.getPropertyValue("--" + name).trim();
		const is_dark = this.dark.matches;

		for (let i = 0; i < COLOURS; i++) {
			const hue = (20 + i * 137.5) % 360, more = (i % 3) * 0.03;

			this.colours[i] = is_dark ? `oklch(${0.46 + more} 0.1 ${hue})` : `oklch(${0.8 + more} 0.09 ${hue})`;
			this.dimmed[i] = is_dark ? `oklch(0.3 0.02 ${hue})` : `oklch(0.93 0.02 ${hue})`;
		}
	},
};

/* A canvas of a size, in the page's colours. */
function canvas_of(id, width, height) {
	const canvas = element(id), ratio = devicePixelRatio || 1;

	if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
		canvas.width = Math.round(width * ratio);
		canvas.height = Math.round(height * ratio);
		canvas.style.width = width + "px";
		canvas.style.height = height + "px";
	}
	const context = canvas.getContext("2d");

	context.setTransform(ratio, 0, 0, ratio, 0, 0);
	context.font = "11px ui-monospace, 'DejaVu Sans Mono', monospace";
	context.fillStyle = theme.paper;
	context.fillRect(0, 0, width, height);
	return context;
}

function axis_paint(context, view, clock) {
	const span = view.end - view.begin, step = format.step(span / Math.max(view.width / 130, 1));

	context.fillStyle = theme.paper;
	context.fillRect(0, 0, view.width, AXIS);
	context.textBaseline = "middle";
	context.lineWidth = 1;
	for (let ns = Math.ceil(view.begin / step) * step; ns <= view.end; ns += step) {
		const x = Math.round((ns - view.begin) / span * view.width) + 0.5;

		context.strokeStyle = theme.line;
		context.beginPath();
		context.moveTo(x, AXIS - 6);
		context.lineTo(x, view.height);
		context.stroke();
		context.fillStyle = theme.faint;
		if (x < view.width - 90)
			context.fillText(format.tick(ns, step), x + 4, AXIS / 2);
	}
}
