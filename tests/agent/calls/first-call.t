#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A thread's first recorded call is made by malloc() or free(), under a lock: it is not recorded, as what records allocates, and
# counts as lost; the program goes on. Threads that have recorded before, and the first one, record such calls.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
spi_cc first-call first-call.c
for function in madvise mprotect munmap mmap; do
	timeout $((30 * SPI_PATIENCE)) "$SPI_LTTNG" trace -f "libc.so.6:$function" -o "$function" ./first-call >"$function.out" 2>"$function.err"
	is "$?/$(cat "$function.out")" 0/done "$function: the program ends as ever" || diag "$(tail -n 3 "$function.err")"
	spi_read "$function"
	is "$(spi_count "$function" "${function}_entry")" "$(spi_count "$function" "${function}_exit")" "$function: entries and exits"
done
# Likewise the program's own malloc(), which is not libc's: under a lock that is no program's business.
spi_cc liblocked.so first-call-malloc.c -shared -fPIC
for function in mmap syscall; do
	LD_PRELOAD=$PWD/liblocked.so timeout $((30 * SPI_PATIENCE)) "$SPI_LTTNG" trace -f "libc.so.6:$function" -o "own-$function" ./first-call >"own-$function.out" 2>"own-$function.err"
	is "$?/$(cat "own-$function.out")" 0/done "its own malloc(), $function: the program ends as ever" || diag "$(tail -n 3 "own-$function.err")"
done
like "$(cat own-syscall.err)" 'Lost calls: [0-9]+: .*within malloc\(\)' "which is counted, too"
like "$(cat madvise.err)" 'Lost calls: [0-9]+: .*within malloc\(\) before any other of their thread' "what is not recorded is counted, with the reason"
timeout $((30 * SPI_PATIENCE)) "$SPI_LTTNG" trace -f libc.so.6:madvise -f allocates -o both ./first-call >both.out 2>both.err
like "$(cat both.err)" 'Events recorded: [0-9]+ .*; lost: 0' "with a call of the thread's own before, all are recorded" || diag "$(cat both.err)"
spi_read both
is "$(spi_count both allocates_entry)" 160 "each thread's own"
[ "$(spi_count both madvise_entry)" -gt 0 ]
ok $? "and madvise()'s"
tap_done
