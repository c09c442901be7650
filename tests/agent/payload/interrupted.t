#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A signal at each instruction of a call's way to its payloads and back, whose handler makes calls itself, and returns or
# leaves the call by siglongjmp(): each call has its entry and its exit, with the user data of its own entry.
. "${SPI_TOP_SRCDIR:?}/tests/lib/payload.sh"
spi_private "$@"
spi_cc interrupted payload-interrupted.c -O2
payload_cc any.so payload-counted.c
payload_cc general.so payload-counted.c -mgeneral-regs-only -DFLAGS=SPI_PAYLOAD_GENERAL_REGISTERS

# interrupted PAYLOAD ROUNDS HOW - what program and payload say: said
interrupted() {
	timeout $((30 * SPI_PATIENCE)) ./interrupted "$2" "$3" LD_PRELOAD="$PWD/$1.so" LTTNG_SPI_CODEMAP="$SPI_CODEMAP" \
		>trace.out 2>trace.err
	is $? 0 "$1, the handler $3: status" || diag "$(cat trace.err)"
	said=$(cat trace.out trace.err)
	like "$said" "calls $((100 + 4 * $2)) and $2, wrong 0" "$1, the handler $3: the program is right" || diag "$said"
}
# One way takes 270 instructions, and 340 where vector registers are saved.
for payload in general any; do
	rounds=$([ $payload = general ] && echo 300 || echo 370)
	interrupted $payload $rounds returns
	calls=$((100 + 5 * rounds))
	like "$said" "entries $calls exits $calls left none wrong 0" "$payload, the handler returns: each call is there" ||
		diag "$said"
	interrupted $payload $rounds leaves
	[[ $said =~ entries\ ([0-9]+)\ exits\ ([0-9]+)\ left\ some\ wrong\ 0 ]]
	is "$?, ${BASH_REMATCH[1]}" "0, ${BASH_REMATCH[2]}" "$payload, the handler leaves: as many exits as entries" ||
		diag "$said"
done
tap_done
