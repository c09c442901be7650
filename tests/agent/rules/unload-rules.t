#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 100
# soak-timeout: 1200
#
# Rules that come and go while the libraries that they name are loaded and unloaded all the time: functions by name and
# trees that begin there, so that the one's jump is the other's, and calls of functions of theirs. Nothing is written to where a library was.
. "${SPI_TOP_SRCDIR:?}/tests/lib/unloading.sh"
spi_private "$@"
spi_daemon
unloading_build
times=300
[ -z "${SPI_SOAK:-}" ] || times=6000

lttng create unload -o "$PWD/t" >>quiet.log
lttng enable-channel -u c --subbuf-size 256k --num-subbuf 4 >>quiet.log
lttng enable-event -u -c c 'spi:*,lttng_ust_cyg_profile:*,spi_tree:*' >>quiet.log
lttng start >>quiet.log
coproc CONTROL { python3 "$SPI_TOP_SRCDIR/tests/lib/controller.py" ./unloading end 2>control.err; }
exec {to}>&"${CONTROL[1]}" {from}<&"${CONTROL[0]}"
answer=
trap "" PIPE		# a program that crashes takes the controller with it
ask() { echo "$*" >&"$to"; read -r -t 60 -u "$from" answer; }
ask pid; target=$answer
ask go
spi_wait 10 file_has target.out ready
rules=('libunloading-*:loaded_*' 'tree(loaded_outer)' 'tree(loaded_inner;compact)' 'libunloading-*:loaded_inner'
	'tree(main;lib=libunloading-*)' 'tree(main;calls-of=loaded_outer)' 'tree(main;compact)')
state=()
RANDOM=${SPI_SEED:-11}
for ((i = 0; i < times; i++)); do
	k=$((RANDOM % ${#rules[@]}))
	case ${state[k]:-} in
	'')	ask add $((k + 1)) "${rules[k]}" && state[k]=on ;;
	on)	ask disable $((k + 1)) && state[k]=off ;;
	off)	ask enable $((k + 1)) && state[k]=on ;;
	esac
	kill -0 "$target" 2>/dev/null || break
done
is "$i" "$times" "$times times one comes or goes" || diag "$answer" "$(tail -n 3 control.err)"
for k in "${!state[@]}"; do
	ask remove $((k + 1))
done
touch end
ask wait
is "$answer" "ended 0" "the program ends as ever"
is "$(tail -n 1 target.out)" "wrong 0" "every call was right"
lttng destroy unload >destroy.out 2>&1
like "$(cat destroy.out)" 'destroyed' "so does the session"
babeltrace2 t 2>/dev/null | grep -qa 'loaded_inner\|func_entry'
ok $? "calls were recorded"
tap_done
