#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Programs that change their namespaces. The kernel wants a process of one thread for
# some of that, and a traced one has the tracer's, too: it works all the same, and tracing goes on.
# timeout: 120
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
spi_daemon
tree_tools

# attached PID - the agent serves a controller in it
attached() { grep -qx lttng-spi /proc/"$1"/task/*/comm 2>/dev/null && grep -q 'Trace directory' trace.err; }

# same NAME COMMAND... - output and status as without, as a tree and under a function's rule
same() {
	local name=$1 options plain
	local -a list
	shift
	"$@" >plain.out 2>plain.err </dev/null
	plain=$?
	is "$plain" 0 "$name: works by itself" || diag "$(cat plain.err)"
	for options in "--tree" "-f main"; do
		rm -rf t
		read -ra list <<<"$options"
		[ "$options" = --tree ] || list=(-f "libc.so.6:getopt_long")
		spi_trace "${list[@]}" -o t "$@" >traced.out </dev/null
		is $? "$plain" "$name, $options: status" || diag "$(tail -n 5 trace.err)"
		same_file traced.out plain.out "$name, $options: output"
	done
}
same "unshare -m" unshare -m --propagation unchanged echo here
same "unshare -p -f" unshare -p -f echo here
same "unshare -n -i -u" unshare -n -i -u echo here
same "nsenter -m" nsenter --mount=/proc/1/ns/mnt echo here
same "nsenter -n -i -u" nsenter --net=/proc/self/ns/net --ipc=/proc/self/ns/ipc --uts=/proc/self/ns/uts echo here

if unshare -U true 2>/dev/null; then
	same "unshare -U" unshare -U echo here
	same "unshare -r" unshare -r id -u
else
	skip 10 "no user namespaces here"
fi

# The process itself goes on: the calls before and after are in the trace, with those of its child and of a thread
spi_cc single single.c -O1 -pthread
for how in 3 setns; do
	./single "$how" >plain.out
	times=${how/setns/1}
	for options in "-f after" --tree "--tree --compact"; do
		t=$how${options// /}
		read -ra list <<<"$options"
		spi_trace "${list[@]}" -o "$t" ./single "$how" >traced.out </dev/null
		is $? 0 "single $how, $options: status" || diag "$(tail -n 5 trace.err)"
		same_file traced.out plain.out "single $how, $options: output, errno, descriptors and signals"
		unlike "$(cat trace.err)" '^Note' "single $how, $options: nothing is missing"
		case $options in
		--tree*)
			TREE_COMPACT=1 tree_balanced "$t" "single $how, $options: balanced" --counts counts
			calls=$(awk -F '\t' -v f="single+0x$(nm single | awk '$3 == "after" { sub("^0*", "", $1); print $1 }')" 'index($2, f) { print $1 }' counts) ;;
		*) calls=$(spi_count "$t" after_entry) ;;
		esac
		is "$calls" $((times * 100 + 110)) "single $how, $options: calls before and after"
	done
done
for options in "-f after" "--tree"; do
	./single 3 go >attached.out &
	pid=$!
	spi_wait 10 test "/proc/$pid/exe" -ef ./single	# no longer the shell
	rm -rf t
	read -ra list <<<"$options"
	"$SPI_LTTNG" trace "${list[@]}" -o t -p "$pid" 2>trace.err >/dev/null </dev/null &
	tracer=$!
	check "attached, $options" spi_wait 20 attached "$pid"
	touch go
	wait "$pid"
	wait "$tracer"
	is $? 0 "attached, $options: status" || diag "$(cat trace.err)"
	./single 3 >plain.out
	same_file attached.out plain.out "attached, $options: output"
	unlike "$(cat trace.err)" '^Note' "attached, $options: nothing is missing"
	rm -f go
done
tap_done
