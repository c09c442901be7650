#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A payload file that cannot be loaded, or must not be: one line says why, and the program does not run untraced.
. "${SPI_TOP_SRCDIR:?}/tests/lib/payload.sh"
spi_private "$@"
spi_cc calls payload-calls.c -O1 -fno-optimize-sibling-calls
payload_cc says.so payload-says.c

# refused NAME FILE REASON [STATUS]
refused() {
	spi_trace --tree --payload "$2" ./calls 5 >trace.out
	is $? "${4:-1}" "$1: status"
	like "$(cat trace.err)" "$3" "$1: the reason" || diag "$(cat trace.err)"
	is "$(grep -c . trace.err)" 1 "$1: one line" || diag "$(cat trace.err)"
	is "$(wc -c <trace.out)" 0 "$1: the program has not run"
}
refused 'missing' ./none.so 'none.so: No such file or directory' 2
echo text >text.so
refused 'not a library' ./text.so 'text.so: (invalid ELF header|file too short)'
cp says.so other.so
printf '\x03' | dd of=other.so bs=1 seek=18 conv=notrunc status=none	# e_machine: EM_386
refused 'of another machine' ./other.so 'other.so: it is built for another machine: build it for this one'
printf '\x01' | dd of=other.so bs=1 seek=4 conv=notrunc status=none	# EI_CLASS: 32 bits
refused 'for 32 bits' ./other.so 'other.so: it is built for another machine'
head -c 5000 says.so >cut.so
refused 'cut off' ./cut.so 'cut.so: it was cut off: build or copy it again'
mkfifo fifo.so
refused 'a FIFO' ./fifo.so 'fifo.so: it is no regular file'
mkdir directory.so
refused 'a directory' ./directory.so 'directory.so: it is no regular file'
gcc -shared -fPIC -o lacks.so -x c - <<<'void none_of_this(void); __attribute__((constructor)) static void begin(void) { none_of_this(); }'
refused 'lacking a symbol' ./lacks.so 'undefined symbol: none_of_this'
gcc -shared -fPIC -o libneeded.so -x c - <<<'int needed;'
gcc -shared -fPIC -o needs.so -x c - -L. -Wl,--no-as-needed -lneeded <<<'int nothing;'
refused 'without a library that it needs' ./needs.so 'needs.so: libneeded.so: cannot open'
gcc -shared -fPIC -o silent.so -x c - <<<'int nothing;'
refused 'that makes no agent' ./silent.so 'does not call spi_agent_go'
sed 's/LTTNG_SPI_VERSION }/LTTNG_SPI_VERSION + 1 }/' "$SPI_PROGRAMS/payload-says.c" >newer.c
payload_cc newer.so "../../../../../../../../$PWD/newer.c"
refused 'built for a newer interface' ./newer.so 'newer interface'
cp says.so open.so
chmod o+w open.so
refused 'that others can write to' ./open.so 'others than root and this user can write to it: chmod go-w it'
mkdir -m 777 anyones
cp says.so anyones
refused 'in a directory that others can write to' ./anyones/says.so 'can write to a directory of its path'
refused 'of a name that is none' none 'no payload of this name comes with the agent'
spi_trace --tree --payload ./says.so --compact ./calls 5 >trace.out
like "$(cat trace.err)" 'leave out one-event, compact and budget' 'with --compact: refused'
LD_PRELOAD=./newer.so ./calls 5 >out 2>err
is $? 0 'preloaded, built for a newer interface: the program runs'
is "$(grep -c 'newer interface' err)" 1 'preloaded, built for a newer interface: one line' || diag "$(cat err)"

# ---- arguments that no payload asks for ----
unasked() { grep -c 'payload arguments that no payload asks for' "$1"; }
spi_trace -f leaf -f middle --payload count --payload hist --payload-arg tpo=3 --payload-arg top=1 \
	--payload-arg sgnl=9 ./calls 5 >/dev/null
is $? 0 'an argument that nobody asks for: the program runs' || diag "$(cat trace.err)"
is "$(sed -n 's/^Note: payload arguments that no payload asks for: //p' trace.err)" \
	'sgnl, tpo; count asks for top, signal; hist asks for by, signal' \
	'it is named once, with those that are asked for' || diag "$(cat trace.err)"
spi_trace -f leaf --payload ./says.so --payload-arg anything=1 ./calls 5 >/dev/null
like "$(cat trace.err)" 'asks for: anything; says.so asks for none' 'a payload that asks for none' ||
	diag "$(cat trace.err)"
spi_trace -f leaf --payload count=1 --payload gprof='libc*' --payload-arg prefix=out --payload-arg signal=10 \
	./calls 5 >/dev/null
is "$(unasked trace.err)" 0 'arguments that one of several payloads asks for' || diag "$(cat trace.err)"
LD_PRELOAD=./says.so LTTNG_SPI_PAYLOAD_ARGS='first=1;second=2' ./calls 5 >out 2>err
is "$(grep -c 'asks for: first, second; says.so asks for none' err)" 1 "the environment's, of a preloaded payload" ||
	diag "$(cat err)"
tap_done
