/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
"use strict";

/* Numbers and times as people read them. Times are in ns. */
const format = {
	number(n) {
		return String(n).replace(/\B(?=(\d{3})+$)/g, "\u202f");
	},

	duration(ns) {
		const n = Math.abs(ns), sign = ns < 0 ? "-" : "";

		if (n < 1e3)
			return sign + n.toFixed(0) + " ns";
		if (n < 1e6)
			return sign + (n / 1e3).toFixed(2) + " \u00b5s";
		if (n < 1e9)
			return sign + (n / 1e6).toFixed(2) + " ms";
		return sign + (n / 1e9).toFixed(3) + " s";
	},

	exact(ns) {
		return format.number(ns) + " ns";
	},

	/* The time of day of an offset: `clock` is the time of day where offsets begin. */
	clock(ns, clock) {
		const day = 86400e9, at = (((ns + clock) % day) + day) % day;
		const two = n => String(Math.floor(n)).padStart(2, "0");
		const seconds = Math.floor(at / 1e9);

		return `${two(seconds / 3600)}:${two(seconds / 60 % 60)}:${two(seconds % 60)}.` +
			String(Math.floor(at % 1e9)).padStart(9, "0");
	},

	/* Distances of ticks: 1, 2 or 5 times a power of ten. */
	step(ns) {
		const power = Math.pow(10, Math.floor(Math.log10(Math.max(ns, 1))));

		return [1, 2, 5, 10].map(n => n * power).find(n => n >= ns);
	},

	/* A tick's label, with as many digits as its step has. */
	tick(ns, step) {
		const units = [[1e9, "s"], [1e6, "ms"], [1e3, "\u00b5s"], [1, "ns"]];
		const [unit, name] = units.find(([size]) => step >= size) || units[3];

		if (ns === 0)
			return "0";
		return "+" + format.number(Math.round(ns / unit)) + " " + name;
	},

	/* As much of a text as fits. */
	fit(text, most) {
		return text.length <= most ? text : most < 2 ? "" : text.slice(0, most - 1) + "\u2026";
	},
};
