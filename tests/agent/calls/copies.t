#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 120
#
# Frames that are copied off the stack and back: a call that looks over by its place on
# the stack goes on later (Python's greenlet), or returns several times (Ruby's callcc).
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
spi_daemon
tree_tools
tree_cc copies copies.c -O1
# as_many NAME - of the last trace: an exit for each entry, and none that is nobody's; calls of coroutines cross
as_many() {
	local line
	line=$("$SPI_TMP/calls" ${TREE_COMPACT:+--expand "$SPI_EXPAND"} "$SPI_TMP/t" 2>/dev/null)
	[[ $line =~ ^entries\ ([0-9]+)\ exits\ ([0-9]+)\ orphans\ 0\ .*\ open\ 0\ .*\ lost\ 0$ ]] && [ "${BASH_REMATCH[1]}" = "${BASH_REMATCH[2]}" ] &&
		[ "${BASH_REMATCH[1]}" -gt 1000 ]
	ok $? "$1: an exit for each entry" || diag "$line"
}
echo 'void Init_continuation(void) { }' >continuation.c
gcc -shared -fPIC -o continuation.so continuation.c
./copies >plain.out
"$SPI_LTTNG" trace --tree -o "$SPI_TMP/again" ./copies >traced.all 2>&1
is "$?" 3 "returned from several times: status"
is "$(grep -cxFf plain.out traced.all)" 6 "returned from several times: output"
like "$(cat traced.all)" "nothing is traced in it any more: it loads Ruby's continuations" "returned from several times: told"

cat >greenlets.py <<'E_PY'
from greenlet import greenlet, getcurrent
def deep(n, f):
    return f() if n == 0 else deep(n - 1, f) + 1
def work(k):
    s = 0
    for i in range(40):
        s += deep(k % 7 + i % 5, lambda: main.switch(i) or 0) + len(str(sorted([3, 1, i])))
    if k % 5 == 0:
        raise ValueError(s)
    return s
main, total, errors = getcurrent(), 0, 0
all = [greenlet(work) for k in range(30)]
while any(not g.dead for g in all):
    for k, g in enumerate(all):
        try:
            total += 0 if g.dead else g.switch(k) or 0
        except ValueError as error:
            total, errors = total + error.args[0], errors + 1
left = greenlet(work)
left.switch(3)
del left                # it ends by an exception in the middle
print(total, errors)
E_PY
/usr/bin/python3 greenlets.py >plain.out
for kind in plain compact; do
	TREE_COMPACT=
	[ "$kind" = plain ] || TREE_COMPACT=1
	rm -rf t
	"$SPI_LTTNG" -q trace --tree ${TREE_COMPACT:+--compact} --subbuf-size 4M -o "$SPI_TMP/t" /usr/bin/python3 greenlets.py >traced.out 2>traced.err
	is "$?" 0 "greenlet, $kind: status"
	same_file traced.out plain.out "greenlet, $kind: output"
	as_many "greenlet, $kind"
done

# Coroutines that all run on one stack, which is told by the function that switches (libco's), in the program itself.
for define in '' -DSTACK_OF_MAIN; do
	where="one stack${define:+ of main()}"
	tree_cc shared-stack shared-stack.c -O1 $define
	./shared-stack >plain.out
	for kind in plain compact; do
		TREE_COMPACT=
		[ "$kind" = plain ] || TREE_COMPACT=1
		rm -rf t
		"$SPI_LTTNG" -q trace --tree ${TREE_COMPACT:+--compact} --subbuf-size 4M -o "$SPI_TMP/t" ./shared-stack >traced.out 2>traced.err
		is "$?" 0 "$where, $kind: status"
		same_file traced.out plain.out "$where, $kind: output"
		as_many "$where, $kind"
	done
done
tap_done
