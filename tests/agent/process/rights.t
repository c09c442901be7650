#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 60
#
# Programs that change their user and groups and keep capabilities meanwhile, which
# belong to threads: libc aborts where a thread may not do what another may, and the
# tracer's threads are such.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
spi_cc rights rights.c -O1
# as_ever NAME OPTIONS COMMAND... - the same status and output
as_ever() {
	local name=$1 plain
	local -a options
	read -ra options <<<"$2"
	shift 2
	"$@" >plain.out 2>plain.err </dev/null
	plain=$?
	rm -rf t
	may_die timeout $((20 * SPI_PATIENCE)) "$SPI_LTTNG" trace "${options[@]}" -o t "$@" >traced.out 2>trace.err </dev/null
	is $? "$plain" "$name, ${options[*]}: status" || diag "$(tail -n 5 trace.err)"
	same_file traced.out plain.out "$name, ${options[*]}: output"
}
for options in "-f work" --tree "--tree --compact"; do
	as_ever "kept capabilities" "$options" ./rights
done
if [ "${SPI_OUTER_UID:-0}" = 0 ]; then
	as_ever "setpriv" --tree setpriv --reuid 1 --regid 1 --clear-groups id
	as_ever "setpriv" "-f libc.so.6:getopt_long" setpriv --reuid 1 --regid 1 --init-groups --inh-caps=-all id
fi
./rights >plain.out
attached() { grep -q 'Trace directory' trace.err && grep -qx lttng-spi /proc/"$pid"/task/*/comm; }
for options in "-f work" --tree; do
	rm -rf t go
	./rights go >traced.out &
	pid=$!
	spi_wait 10 test "/proc/$pid/exe" -ef ./rights	# no longer the shell
	"$SPI_LTTNG" trace $options -o t -p "$pid" >/dev/null 2>trace.err </dev/null &
	tracer=$!
	check "attached, $options" spi_wait 20 attached
	touch go
	wait "$pid"
	is $? 0 "attached, $options: status"
	wait "$tracer"
	same_file traced.out plain.out "attached, $options: output"
done
tap_done
