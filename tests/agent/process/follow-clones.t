#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Children and threads that neither fork() nor pthread_create() makes: the program
# does what it does without, what they call is not recorded as their maker's, and
# they are named.
. "${SPI_TOP_SRCDIR:?}/tests/lib/follow.sh"
spi_private "$@"
spi_daemon
tree_tools
tree_cc clones clones.c -O1
c_leaf=$(nm clones | awk '$3 == "c_leaf" { sub(/^0*/, "", $1); print $1 }')

# way NAME CALLS TEXT - as without, that many calls of c_leaf(), and that line in the summary
way() {
	local compact
	for compact in "" --compact; do
		followed "$1${compact:+, compact}" "--lib clones $compact" ./clones "$1"
		is "$(awk -F '\t' -v f="/clones+0x$c_leaf" 'index($2, f) { print $1 }' t.counts)" "$2" "$1: its maker's calls alone"
		[ -z "$3" ] || summary "Note: not followed: $3" "$1: named"
	done
}
# main() itself makes 8 calls after each, and 10 at its end.
child='a child: it was not made by fork\(\)'
thread="a thread: it was not made by pthread_create\(\), and has its maker's thread-local memory"
way fork 18 "$child"
way clone-fork 18 "$child"
way _Fork 18 "$child"
way vfork-only 18 "$child"
way vfork-clone 18 ""
way vm 18 "$thread"
way thread 18 "$thread"
way unshare 27 ""
for compact in "" --compact; do
	followed "thread-tls${compact:+, compact}" "$compact" ./clones thread-tls
	summary 'Note: nothing is traced in it any more: it makes a thread whose thread-local memory' "thread-tls: named"
	followed "all one after the other${compact:+, compact}" "$compact" ./clones fork vm thread vfork-only unshare vfork-clone _Fork thread-tls
done
tap_done
