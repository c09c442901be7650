#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 150
#
# A server that was running forks children all the time, as rules for it come and go: each child's calls have their ends,
# those of the ones forked at that very moment, too, and none is left with anything of the tracer's in its code.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
tree_tools
spi_cc servers "$SPI_PROGRAMS/servers.c"
spi_cc servers-ust "$SPI_PROGRAMS/servers.c" -Wl,--no-as-needed -llttng-ust
broker_daemon

# Children that began before the rule went are there for a moment yet.
children_are_as_ever() {
	local child
	for child in $(cat "/proc/$target/task/$target/children"); do
		[ ! -e "/proc/$child/exe" ] || python3 "$SPI_TOP_SRCDIR/tests/lib/text-equal.py" "$child" "$program" >text.out 2>&1 ||
			[ ! -e "/proc/$child/exe" ] || return 1
	done
}
# The calls that they are in when the rule goes have their ends in the session while there is one.
have_ended() { local child; for child in "${forked[@]}"; do [ ! -e "/proc/$child/exe" ] || return 1; done; }
newest() { tr ' ' '\n' <"/proc/$target/task/$target/children" | sort -n | tail -n 1; }
more_children() { local now; now=$(newest); [ "${now:-0}" -ge $((first + 15)) ]; }
is_active() { status_like "^applied.$target.*active"; }
no_rules() { status_unlike '^applied.*active'; }

for program in servers servers-ust; do
	scope=(--exec "$program")
	[ "$program" = servers ] || scope=()
	background "./$program"
	spi_wait 10 file_has target.out ready
	for kind in "-f v_rest -f v_leaf" "--tree=v_serve --lib $program" "--tree=v_serve --lib $program --compact"; do
		read -ra rule <<<"$kind"
		lttng_ok create s --output="$SPI_TMP/t"
		lttng_ok enable-channel -u -s s c --subbuf-size 1M --num-subbuf 8
		lttng_ok add-context -u -s s -c c -t vpid -t vtid -t ip
		lttng_ok start s
		wrong=0
		for ((round = 0; round < (SPI_SOAK ? 20 : 2); round++)); do
			"$SPI_LTTNG" enable-event --spi "${rule[@]}" "${scope[@]}" -s s -c c >on.log 2>&1 || diag "$(cat on.log)"
			spi_wait 20 is_active || fail "$program, $kind: it is in force"
			first=$(newest)
			spi_wait 10 more_children || fail "$program, $kind: it goes on forking"
			"$SPI_LTTNG" disable-event --spi "${rule[@]}" "${scope[@]}" -s s -c c >off.log 2>&1 || diag "$(cat off.log)"
			spi_wait 10 no_rules || fail "$program, $kind: it is off"
			read -ra forked <"/proc/$target/task/$target/children"
			spi_wait 5 children_are_as_ever || wrong=$((wrong + 1))
			spi_wait 10 have_ended || fail "$program, $kind: its children end"
		done
		is "$wrong" 0 "$program, $kind: the children's code is their file's" || diag "$(cat text.out)"
		lttng_ok destroy s
		if [[ $kind = -f* ]]; then
			balanced t "$program, $kind: each call has its end"
		else
			expand=()
			[[ $kind != *--compact* ]] || expand=(--expand "$SPI_EXPAND")
			tree_balanced t "$program, $kind: each call has its end" "${expand[@]}"
		fi
		rm -rf t t.txt
	done
	finish "$target"
	is $? 0 "$program: its status"
	like "$(tail -n 1 target.out)" 'children, right' "$program: and its children's"
done
is "$(status note | grep -c 'may be missing')" 0 "none is said to have begun too early"
tap_done
