/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Gives the page's profile to speedscope, which stands behind this script. Speedscope takes a profile from a
 * script that it loads itself, whose name is in the address. Here the profile is in the page: no script is loaded.
 */
"use strict";
(() => {
	const profile = document.getElementById("profile");
	const append = document.head.appendChild;

	if (profile.dataset.calls === "0") {
		const empty = document.createElement("p");

		empty.id = "empty";
		empty.textContent = "No calls: the trace has none, or none passes the filters.";
		empty.style.cssText = "font: 16px sans-serif; padding: 3em; text-align: center; color: CanvasText";
		document.body.append(empty);
		document.title = "no calls";
		return;
	}
	document.head.appendChild = function (element) {
		if (!(element instanceof HTMLScriptElement))
			return append.call(this, element);
		delete document.head.appendChild;
		window.speedscope.loadFileFromBase64("trace.speedscope.json", profile.textContent);
		profile.remove();
		history.replaceState(null, "", location.href.replace(/#.*/, ""));
		return element;
	};
	history.replaceState(null, "", "#localProfilePath=page");
	const program = document.createElement("script");

	program.textContent = document.getElementById("speedscope").textContent;
	document.body.append(program);
})();
