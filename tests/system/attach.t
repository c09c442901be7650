#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 170
# soak-timeout: 7200
#
# A running, busy C++ process of four threads that throws: attach, record, detach,
# attach again. After each detach its code is byte for byte its files', and at
# the end all its values are right. 10 times in check, 1 000 in soak.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
spi_cc thrower thrower.cc
times=10
[ -z "${SPI_SOAK:-}" ] || times=1000

background ./thrower 0 4
text() { python3 "$SPI_TOP_SRCDIR/tests/lib/text-equal.py" "$target"; }
check "before: the code is the files'" text
failed=0 empty=0 text_bad=0
for i in $(seq "$times"); do
	rm -rf t t.txt
	if ! spi_trace -f t_middle -f 'zoo::Keeper::t_method' -p "$target" --duration 0.1 -o t >trace.out; then
		failed=$((failed + 1))
		diag "attach $i: $(tail -n 3 trace.err)"
		[ "$failed" -lt 3 ] || break
	fi
	kill -0 "$target" 2>/dev/null || { diag "the target died in round $i"; break; }
	out=$(text) || { text_bad=$((text_bad + 1)); diag "round $i: $out"; }
	if [ "$i" -le 3 ] || [ "$((i % 100))" = 0 ]; then
		spi_read t
		[ "$(spi_count t t_middle_entry)" -gt 0 ] && [ "$(spi_count t 'zoo::Keeper::t_method_entry')" -gt 0 ] ||
			empty=$((empty + 1))
		[ "$i" -gt 1 ] || { out=$(events balance t.txt --open 8 --lossy); diag "round 1: $out"; }
	fi
done
is "$failed" 0 "$times times: attached and detached"
is "$text_bad" 0 "after each detach the code is the files'"
is "$empty" 0 "each attach recorded both functions"
kill -0 "$target" 2>/dev/null
ok $? "the process lives"
finish "$target"
is $? 0 "and ends as ever"
is "$(tail -n 1 target.out)" "wrong 0" "every value was right"
tap_done
