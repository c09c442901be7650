#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# `lttng trace --memory`: its events are those of lttng-ust's libc wrapper, in threads, forked children and handlers, of
# programs that are started, run already, or are started later; beside the wrapper, and where it cannot be.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
spi=$SPI_TOP_BUILDDIR/reader/lttng-spi
spi_cc memory memory.c
# memory NAME OPTION... -- PROGRAM... - recorded to NAME; the status in $rc
memory() {
	local name=$1
	shift
	timeout $((30 * SPI_PATIENCE)) "$SPI_LTTNG" trace --memory -o "$name" "$@" >"$name.out" 2>"$name.err" </dev/null
	rc=$?
}
# of DIR EXPRESSION [OPTION...] - of what `lttng-spi leaks --format json` says: p is the first process
of() {
	local dir=$1 expression=$2
	shift 2
	"$spi" leaks --format json "$@" "$dir" >json 2>json.err
	python3 -c 'import json, sys; all = json.load(open("json")); p = all[0]; g = p.get("groups"); print(eval(sys.argv[1]))' "$expression"
}
# plain DIR - events of malloc() and its like without times and contexts, as the program prints them
plain() {
	babeltrace2 "$1" 2>/dev/null | sed -n 's/.*lttng_ust_libc:\([a-z_]*\): {[^}]*}, {[^}]*}, { \(.*\) }$/\1 \2/p' | tr A-F a-f | sed 's/0X/0x/g'
}

# ---- the events: what the program did, and what the wrapper makes of that ----
memory kinds ./memory kinds
is $rc 0 "kinds: status" || diag "$(cat kinds.err)"
plain kinds >events
is "$(grep -vxFf events kinds.out)" "" "each call of malloc()'s family is an event, with its values"
is "$(grep -c . events)" "$(($(grep -c . kinds.out) + 2))" "and no other is: but for a block before" || diag "$(cat events)"
lttng_ok() { command lttng "$@" >lttng.log 2>&1 || diag "lttng $*: $(cat lttng.log)"; }
lttng_ok create wrapper --output="$PWD/wrapper"
lttng_ok enable-channel -u --buffers-pid c
lttng_ok enable-event -u -c c 'lttng_ust_libc:*'
lttng_ok add-context -u -c c -t vpid -t vtid -t ip -t procname
lttng_ok start
LD_PRELOAD=liblttng-ust-libc-wrapper.so LTTNG_UST_REGISTER_TIMEOUT=-1 ./memory kinds >wrapped.out
lttng_ok destroy wrapper
# described DIR - the fields of each event, as the metadata has them
described() {
	babeltrace2 --output-format=ctf-metadata "$(dirname "$(find "$1" -name metadata | head -1)")" 2>/dev/null |
		python3 -c '
import re, sys
for name, body in sorted(set(re.findall(r"name = \"(lttng_ust_libc:\w+)\";.*?fields := struct \{(.*?)\n\t?\};", sys.stdin.read(), re.S))):
    print(name, re.sub(r"\s+", " ", body))'
}
same_file <(described kinds) <(described wrapper) "the events' fields and types are the wrapper's"
is "$(described kinds | wc -l)" 6 "six events are described"
# What lttng-ust itself allocates is the wrapper's only; addresses are others.
numbers() { sed 's/0x[0-9a-f]*/ADDRESS/g'; }
plain wrapper | numbers >wrapper.events
is "$(numbers <events | grep -v 'alignment = 32' | grep -vxFf wrapper.events)" "" "and so are the values (but for aligned_alloc(), which it leaves out)"
is "$(of wrapper 'p["begun"], sum(x["blocks"] for x in g if x["bytes"] == 60000)')" "('unknown', 1)" "the wrapper's trace is read, too"
memory beside env LD_PRELOAD=liblttng-ust-libc-wrapper.so ./memory kinds
is $rc 0 "beside the wrapper: status" || diag "$(cat beside.err)"
is "$(grep -c 'liblttng-ust-libc-wrapper.so is loaded, and records' beside.err)" 1 "one line says whose events are recorded" ||
	diag "$(cat beside.err)"
plain beside >beside.events
is "$(grep -v 'alignment = 32' beside.out | grep -vxFf beside.events)" "" "they are the wrapper's"
is "$(grep -c 'size = 11,' beside.events)" 1 "each once"

# ---- threads, forks, handlers ----
memory threads --backtrace ./memory threads
is "$rc $(of threads 'p["allocations"] - sum(g["allocations"] for g in p["groups"] if g["name"].startswith("work")), p["double_frees"], p["foreign_frees"], p["lost_events"]' --by function --sort calls)" \
	"0 (5, 0, 0, 0)" "threads: nothing but their own blocks, main()'s and those of their start" || diag "$(tail -3 threads.err)"
is "$(of threads '[(g["bytes"], g["blocks"], g["allocations"]) for g in p["groups"] if g["name"].startswith("work")]' --by function)" \
	"[(308, 4, 20000)]" "threads: what each leaves"
is "$(of threads 'sorted(g["allocations"] for g in p["groups"])[1:]' --by thread --sort calls)" "[5000, 5000, 5000, 5000]" "by thread"
memory fork ./memory fork
is "$rc $(of fork '[(q["begun"], q["bytes"], q["blocks"], q["older_freed"]) for q in all]')" \
	"0 [('start', 1111, 1, 0), ('forked', 555, 2, 1)]" "fork: parent and child each have their own" || diag "$(cat fork.err)"
memory handler ./memory handler
is "$rc $(of handler 'p["blocks"], p["double_frees"], p["foreign_frees"], p["allocations"] == p["freed"]')" "0 (0, 0, 0, True)" \
	"handlers within malloc()" || diag "$(tail -3 handler.err)"
is "$(of handler 'p["descriptors"]["made"] == p["descriptors"]["given_back"] >= 200' --resources)" True "and their descriptors"
spi_cc stacks memory-stacks.c
memory small ./stacks
is "$rc $(of small 'p["allocations"] >= 3, p["lost_events"]')" "0 (True, 0)" "on stacks of 16 KB" || diag "$(cat small.err)"

# ---- allocators that programs bring along ----
for library in libjemalloc.so.2 libtcmalloc_minimal.so.4; do
	if ldconfig -p | grep -q "$library .*x86-64"; then
		memory "$library" env LD_PRELOAD=$library ./memory leaks
		is "$rc $(of "$library" '[(q["bytes"], q["blocks"], q["double_frees"], q["foreign_frees"]) for q in all if q["process"] == "memory"]')" \
			"0 [(110830, 1000, 0, 0)]" "$library" || diag "$(tail -3 "$library.err")"
	else
		skip 1 "no $library"
	fi
done

# ---- a program that runs, and programs by name ----
mkfifo in
./memory serve <in >served &
server=$!
exec {input}>in
spi_wait 20 file_has served ready
rm -f attach.err
"$SPI_LTTNG" trace --memory -p "$server" -o attach >attach.out 2>attach.err &
tracer=$!
spi_wait 30 file_has attach.err "Trace directory"
echo go >&"$input"
spi_wait 20 file_has served done
kill -INT "$tracer"
wait "$tracer"
is $? 0 "attached: status" || diag "$(cat attach.err)"
is "$(of attach 'p["begun"], p["bytes"], p["blocks"], p["older_freed"], p["foreign_frees"]')" \
	"('attached', 200100, 200, 50, 0)" "attached: what was allocated since, and what of before was given back"
: >served
rm -f again.err
"$SPI_LTTNG" trace --memory -p "$server" -o again >again.out 2>again.err &
tracer=$!
spi_wait 30 file_has again.err "Trace directory"
echo go >&"$input"
spi_wait 20 file_has served done
kill -INT "$tracer"
wait "$tracer"
is "$(of again 'p["begun"], p["blocks"], p["older_freed"]')" "('attached', 200, 0)" "and once more" || diag "$(cat again.err)"
exec {input}>&-
wait "$server"
is $? 0 "the program's status"
rm -f named.err
"$SPI_LTTNG" trace --memory --exec memory -o named >named.out 2>named.err &
tracer=$!
spi_wait 30 file_has named.err 'get the payload until'
./memory leaks
is $? 0 "by name: the program's status"
kill -INT "$tracer"
wait "$tracer"
is $? 0 "by name: status" || diag "$(cat named.err)"
is "$(of named 'p["bytes"], p["blocks"]')" "(110830, 1000)" "by name: what it leaves"

# ---- what cannot be ----
if gcc -fsanitize=address -o with-asan "$SPI_PROGRAMS/memory.c" -pthread 2>/dev/null; then
	memory asan ./with-asan leaks
	is $rc 1 "AddressSanitizer: refused"
	is "$(grep -c "^Error: .*the program's memory is AddressSanitizer's" asan.err)" 1 "with the reason" || diag "$(cat asan.err)"
	is "$(wc -l <asan.err)" 1 "in one line" || diag "$(cat asan.err)"
else
	skip 3 "no AddressSanitizer"
fi
printf 'void _start(void) { __asm__ volatile("mov $60, %%eax; xor %%edi, %%edi; syscall"); }\n' >bare.c
gcc -nostdlib -nostartfiles -pie -fPIE -Wl,--dynamic-linker=/lib64/ld-linux-x86-64.so.2 -o bare bare.c
memory nothing ./bare
is "$rc $(grep -c "^Error: --memory: ./bare and its libraries have no function of malloc()'s family" nothing.err)" "1 1" \
	"a program without such functions" || diag "$(cat nothing.err)"
for options in "-f malloc" "--tree" "--payload count" "--report" "--one-event"; do
	# shellcheck disable=SC2086
	memory wrong $options ./memory leaks
	is "$rc $(grep -c 'trace: --memory goes without' wrong.err)" "2 1" "--memory with $options" || diag "$(cat wrong.err)"
done
memory wrong --memory=ruby ./memory leaks
is "$rc $(cat wrong.err)" "2 Error: --memory: ruby is not python, the one allocator that is seen only where it is named" "--memory=ruby"
memory wrong --buffers gid ./memory leaks
is "$rc $(cat wrong.err)" "2 Error: --buffers: gid is not uid or pid" "--buffers gid"
is "$(ls -d wrong 2>/dev/null)" "" "no directory is left"

# ---- a trace for each process, of any kind ----
spi_trace -f before_fork --buffers pid -o each ./memory fork
is "$(find each -name metadata | wc -l)" 1 "--buffers pid: a process that records is a trace"
spi_trace -f in_child -f before_fork --buffers pid -o both ./memory fork
is "$(find both -path '*/pid/*' -name metadata | wc -l)" 2 "two are two" || diag "$(find both)"

# ---- nobody reads the buffers any more ----
: >served
rm -f gone.err
"$SPI_LTTNG" trace --memory -o gone ./memory serve <in >served 2>gone.err &
tracer=$!
exec {input}>in
spi_wait 20 file_has served ready
for pid in $(pgrep -x lttng-consumerd); do kill -KILL "$pid"; done
spi_wait 20 file_has gone.err "consumer daemon has ended"
echo go >&"$input"
spi_wait 20 file_has served done
exec {input}>&-
wait "$tracer"
is $? 1 "the consumer daemon is killed: the program goes on, and the status says so" || diag "$(cat gone.err)"
tap_done
