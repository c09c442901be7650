#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A payload that throws, faults or aborts is switched off and named; the program goes on as if it had never been there.
. "${SPI_TOP_SRCDIR:?}/tests/lib/payload.sh"
home=$(getent passwd "$(id -u)" | cut -d: -f6)		# with rustup
spi_private "$@"
spi_cc calls payload-calls.c -O1 -fno-optimize-sibling-calls
payload_cc fails.so payload-fails.cc
./calls 5 >plain.out

spi_trace --tree --lib calls --payload ./fails.so ./calls 5 >trace.out
is $? 0 'one that throws and catches inside: status' || diag "$(cat trace.err)"
same_file trace.out plain.out 'one that throws and catches inside: output'
like "$(cat trace.err)" '13 entries, 13 exits' 'one that throws and catches inside: it goes on to the end' || diag "$(cat trace.err)"

for at in entry exit; do
	for how in throw segv abort divide; do
		spi_trace --tree --lib calls --payload ./fails.so --payload-arg how=$how --payload-arg at=$at ./calls 5 >trace.out
		is $? 0 "$how at $at: status" || diag "$(cat trace.err)"
		same_file trace.out plain.out "$how at $at: output"
		reason='it has faulted, or called abort\(\)'
		[ $how != throw ] || reason='an exception left it'
		like "$(cat trace.err)" "payload fails.so: $reason: it is switched off" "$how at $at: named" || diag "$(cat trace.err)"
	done
done

# A function by name, whose calls come to the one payload by the shortest way: the program's registers are as they were.
spi_cc kept payload-kept.c -O2
for at in entry exit; do
	for how in throw segv; do
		spi_trace -f leaf --payload ./fails.so --payload-arg how=$how --payload-arg at=$at ./kept >trace.out
		is "$?, $(cat trace.out)" '0, 0 wrong' "by name, $how at $at: status and registers" || diag "$(cat trace.err)"
		like "$(cat trace.err)" 'payload fails.so: .*: it is switched off' "by name, $how at $at: named" || diag "$(cat trace.err)"
	done
done
spi_trace -f leaf --payload ./fails.so ./kept >trace.out
is "$?, $(cat trace.out)" '0, 0 wrong' "by name, without a fault: status and registers" || diag "$(cat trace.err)"
like "$(cat trace.err)" '8 entries, 8 exits' "by name, without a fault: each call"
# Calls that longjmp() and pthread_exit() leave, in a thread that blocks all signals.
gcc -O1 -g -pthread -o leaves -x c - <<-'END'
	#include <pthread.h>
	#include <setjmp.h>
	#include <signal.h>
	#include <stdio.h>
	static jmp_buf back;
	__attribute__((noinline)) int leaf(int x) { __asm__ volatile(""); return x + 1; }
	__attribute__((noinline)) void jumps(int x) { if (leaf(x)) longjmp(back, 1); }
	__attribute__((noinline)) void ends(void *x) { pthread_exit(x); }
	static void *start(void *data)
	{
		sigset_t all;
		volatile int n = 0;

		sigfillset(&all);
		pthread_sigmask(SIG_BLOCK, &all, NULL);
		while (n < 5)
			if (!setjmp(back)) {
				n = leaf(n);
				jumps(n);
			}
		printf("%d\n", n);
		ends(data);
		return NULL;
	}
	int main(void)
	{
		pthread_t thread;

		pthread_create(&thread, NULL, start, NULL);
		return pthread_join(thread, NULL);
	}
END
for mode in '--tree --lib leaves' '-f leaf -f jumps -f ends'; do
	# shellcheck disable=SC2086
	is "$(spi_trace $mode --payload ./fails.so ./leaves)" 5 "calls that are left ($mode): output"
	like "$(cat trace.err)" ', 5 left by a jump' "calls that are left ($mode): each one has its exit" || diag "$(cat trace.err)"
	for at in left entry; do
		# shellcheck disable=SC2086
		is "$(spi_trace $mode --payload ./fails.so --payload-arg how=segv --payload-arg at=$at ./leaves)" 5 \
			"a fault with all signals blocked, at=$at ($mode): output"
		like "$(cat trace.err)" 'it has faulted' "a fault with all signals blocked, at=$at ($mode): named" || diag "$(cat trace.err)"
	done
done

# One that calls cancellation points, in threads that are cancelled: these end where the program says.
spi_cc cancelled payload-cancelled.c -O1
payload_cc prints.so payload-prints.c
spi_trace --tree --lib cancelled --payload ./prints.so timeout $((20 * SPI_PATIENCE)) ./cancelled >trace.out
is $? 0 'threads that are cancelled: status' || diag "$(cat trace.out)"
is "$(cat trace.out)" '20 cancelled' 'threads that are cancelled: never in the payload'

# The unwinder has a lock, and calls code that is instrumented, while the program's own panic is on its way.
for rustc in "$home"/.rustup/toolchains/*/bin/rustc /usr/bin/rustc; do
	[ ! -x "$rustc" ] || break
done
if [ -x "$rustc" ]; then
	cat >panics.rs <<-'END'
		use std::panic;
		use std::thread;
		#[inline(never)]
		fn even(n: i32) -> i32 { if n % 2 == 0 { n } else { panic!("odd") } }
		fn main() {
		    thread::spawn(|| even(2)).join().unwrap();
		    panic::set_hook(Box::new(|_| {}));
		    println!("{}", (0..6).filter(|n| panic::catch_unwind(|| even(*n)).is_err()).count());
		}
	END
	"$rustc" -O -g -o panics panics.rs 2>rustc.log || diag "$(cat rustc.log)"
	is "$(timeout $((10 * SPI_PATIENCE)) "$SPI_LTTNG" trace --tree --payload ./fails.so ./panics 2>trace.err)" 3 'throws and catches while the program panics' ||
		diag "$(cat trace.err)"
else
	skip 1 'there is no rustc'
fi

# A second payload beside it sees all calls.
spi_trace -f leaf --payload ./fails.so --payload count --payload-arg how=segv ./calls 5 >trace.out
same_file trace.out plain.out 'beside another payload: output'
like "$(cat trace.err)" ' 9  leaf  calls' 'beside another payload: that one has all calls' || diag "$(cat trace.err)"
tap_done
