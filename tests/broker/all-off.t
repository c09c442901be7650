#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# All rules of a channel are switched off by one command of the stock client, or of the front end, while their functions
# are called all the time, and one of them does not return: that is done soon, and no entry is without its exit; that one's
# is when its rule went. The rules of another channel go on.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
spi_private "$@"
broker_daemon
python3 >many.c <<'PYTHON'
print('#include <stdio.h>\n#include <time.h>')
for i in range(16):
    print(f'__attribute__((noipa)) int f{i}(int n) {{ return n + {i}; }}')
print('__attribute__((noipa)) void all(int n)\n{')
for i in range(16):
    print(f'\tn += f{i}(n);')
print('}\n__attribute__((noipa)) int stay(int n)\n{\n\tputs("stays");\n\tfflush(stdout);')
print('\tfor (;;) {\n\t\tall(n++);\n\t\tnanosleep(&(struct timespec) { .tv_nsec = 2000000 }, 0);\n\t}\n}')
print('int main(void)\n{\n\tint c;\n\n\tputs("begun");\n\tfflush(stdout);\n\tc = getchar();\n\treturn stay(c);\n}')
PYTHON
spi_cc many many.c -Wl,--no-as-needed -llttng-ust
functions=()
for i in $(seq 0 15); do functions+=(-f "f$i"); done

# begin SESSION ARGS... - a session that loses nothing, started
begin() {
	local session=$1
	shift
	lttng_ok create "$session" --output="$SPI_TMP/$session"
	lttng_ok enable-channel -u -s "$session" c --subbuf-size=1M --num-subbuf=16
	lttng_ok add-context -u -s "$session" -c c -t vpid -t vtid
	"$SPI_LTTNG" -q enable-event --spi -s "$session" -c c "$@"
	lttng_ok start "$session"
}
switches() { sed -n 's/^voluntary_ctxt_switches:[^0-9]*//p' "/proc/$target/status"; }
has_switched() { [ "$(switches)" -gt "$before" ]; }
# calls_go_on - the program, which sleeps after each round of calls, has made a hundred
calls_go_on() {
	before=$(($(switches) + 100))
	spi_wait 10 has_switched
}
# soon NAME COMMAND... - it works, and takes not much longer than a call that does not return is waited for
soon() {
	local name=$1 began=${EPOCHREALTIME/./} took
	shift
	check "$name" "$@"
	took=$(((${EPOCHREALTIME/./} - began) / 1000))
	spi_soon "$took" 1000 "$name: soon"
}
# whole SESSION STAYS NAME - all calls have their exits, and so many of them are of the function that does not return
whole() {
	lttng_ok destroy "$1"
	spi_read "$SPI_TMP/$1"
	check "$3: what returned has its exit" events balance "$1.txt"
	is "$(grep -c 'spi:stay_entry' "$1.txt")/$(grep -c 'spi:stay_exit' "$1.txt")" "$2/$2" "$3: what did not has one, too"
	[ "$(spi_count "$1" f15_entry)" -gt 50 ]
	ok $? "$3: there are calls ($(spi_count "$1" f15_entry))"
}

mkfifo in
./many <in >out 2>err &
target=$!
exec {in}>in
spi_wait 10 file_has out begun
begin other -f all
begin stock -f stay "${functions[@]}"
check "rules for seventeen functions" spi_wait 10 status_like "^counts.$target.*.18.0$"
echo >&"$in"
spi_wait 10 file_has out stays
calls_go_on
soon "the stock command" command lttng disable-event -u -s stock -c c --all-events
check "takes the functions out" spi_wait 5 status_like "^counts.$target.*.1.0$"
begin own "${functions[@]}"
check "in again" spi_wait 10 status_like "^counts.$target.*.17.0$"
calls_go_on
soon "the front end's" "$SPI_LTTNG" -q disable-event --spi -s own -c c --all
check "takes them out, too" spi_wait 5 status_like "^counts.$target.*.1.0$"
whole stock 1 "the stock command"
whole own 0 "the front end's"
kill "$target"
wait "$target"
lttng_ok destroy other
spi_read other
all=$(spi_count other all_entry)
[ "$all" -ge "$(spi_count stock f15_entry)" ] && [ "$all" -ge "$(($(spi_count stock f15_entry) + $(spi_count own f15_entry)))" ]
ok $? "another session's rule went on ($all)"
check "balanced, but for the call that the end came in" events balance other.txt --open 1
tap_done
