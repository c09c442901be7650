# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# For tests of programs that become daemons as their first act, under a rule that names them.
. "${SPI_TOP_SRCDIR:?}/tests/lib/sessiond.sh"
[ -z "${is_told:-}" ] || private_flags=(-m --fork --kill-child --propagation private)	# the kernel tells of processes there
spi_private "$@"
end_all() {
	local pid
	for pid in $(cat ./*.pid 2>/dev/null) "${sessiond:-}"; do kill "$pid" 2>/dev/null; done
	spi_wait 10 sh -c "! kill -0 ${sessiond:-0}"
}
trap end_all EXIT
name=daemon-$$
spi_cc "$name" "$SPI_TOP_SRCDIR/tests/programs/daemons.c"
cp "$name" built
chmod 777 .

# daemon US [USER] - one that sleeps so long first; every call of each of its three processes is in the trace, or, where a machine is
# busy beyond measure, it is said that some are missing
whole=0
daemon() {
	local got
	rm -rf t t.txt d.pid
	quiet lttng create s -o "$PWD/t"
	quiet lttng enable-channel -u c
	quiet "$SPI_LTTNG" enable-event --spi -c c -f serve --exec "$name"
	quiet lttng start
	spi_wait 10 spi_status_has "^rule.*exec=$name"	# the broker is told of a rule in its own time
	[ -n "${was_executed:-}" ] || "./$name"		# a file that has been executed under a rule is guarded from then on
	was_executed=1
	"./$name" "$1" d.pid ${2:+"$2"}
	spi_wait 20 test -s d.pid
	kill -TERM "$(cat d.pid)"
	spi_wait 20 sh -c "! kill -0 $(cat d.pid)"
	rm d.pid
	"$SPI_LTTNG" list --spi >list 2>&1
	quiet lttng destroy
	got="$(spi_count t serve_entry) $(spi_count t serve_exit)"
	[ "$got" != "13 13" ] || whole=$((whole + 1))
	[ "$got" = "13 13" ] || grep -q "$name (uid 0).*:" list
	ok $? "${2:+user $2, }$1 us before it forks: every call, or what is missing is said ($got)" || diag "$(cat list)"
}
# a_new_daemon US - the same of a file that nobody has executed yet
a_new_daemon() {
	rm -f "$name"
	cp built "$name"
	was_executed=1 daemon "$1"
}
# most_are_whole OF - not a matter of luck
most_are_whole() {
	[ "$((whole * 3))" -ge "$(($1 * 2))" ]
	ok $? "$whole of $1 are in the trace with every call"
}
