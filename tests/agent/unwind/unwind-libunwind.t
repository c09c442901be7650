#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# The libunwind of nongnu.org, which takes more for granted of a frame than others: unw_backtrace() through traced calls
# finds all of the stack, however deep; exceptions pass, also through tail calls, by it where it stands first, and by
# libgcc's and LLVM's unwinder where it is in the process only.
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
nongnu=$(ldconfig -p | sed -n 's/.*libunwind\.so\.8 .*x86-64.*=> //p' | head -n 1)
[ -n "$nongnu" ] || skip_all "needs libunwind8"
spi_daemon
tree_tools

cat >walks.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#define FN __attribute__((noipa))
extern int unw_backtrace(void **to, int n);
static int least = 1000, calls;
FN static void walk(int above)
{
	void *to[100];
	int n = unw_backtrace(to, 100) - above;

	if (n < least)
		least = n;
	calls++;
}
FN static int down(int n, int above, long a, long b)
{
	volatile char used[16 + 8 * (n % 5)];
	int r = 0;

	used[0] = (char) n;
	if (n)
		r = down(n - 1, above + 1, a * 3, b ^ n) + used[0];
	else
		walk(above);
	return r + (int) (a ^ b);
}
static int compare(const void *a, const void *b)
{
	down((*(const int *) a ^ *(const int *) b) % 20, 0, 1, 2);
	return *(const int *) a - *(const int *) b;
}
int main(void)
{
	int numbers[300];

	for (int i = 0; i < 300; i++)
		numbers[i] = i * 7919 % 307;
	qsort(numbers, 300, sizeof(numbers[0]), compare);
	printf("%d %d\n", calls > 1000, least >= 5);
	return 0;
}
C
cat >throws.cc <<'CC'
#include <cstdio>
#define FN __attribute__((noipa))
static int caught, left;
struct counts { ~counts() { left++; } };
FN int thrower(int x) { if (x % 3 == 0) throw x; return x; }
FN int odd(int n, int x);
FN int even(int n, int x) { return n ? odd(n - 1, x) : thrower(x); }
FN int odd(int n, int x) { return n ? even(n - 1, x) : thrower(x); }
FN int deep(int level, int n, int x) { counts c; return level ? deep(level - 1, n, x) + 1 : even(n, x); }
int main()
{
	for (int x = 0; x < 12; x++)
		for (int n = 0; n < 8; n += 7)
			for (int level = 0; level < 40; level += 13)
				try {
					deep(level, n, x);
				} catch (int) {
					caught++;
				}
	std::printf("%d %d\n", caught, left);
	return 0;
}
CC
real_setup() { :; }
gcc -O1 -g -o walks walks.c "$nongnu" || fail "walks.c does not link"
tree_real "unw_backtrace()" ../walks
is "$(cat traced.out)" "1 1" "unw_backtrace() finds the whole stack each time"

# throws NAME LIBRARY... - of these the first is the unwinder
throws() {
	local name=$1
	shift
	g++ -O1 -foptimize-sibling-calls -g -o throws throws.cc -Wl,--no-as-needed "$@" || fail "$name: throws.cc does not link"
	tree_real "$name" ../throws
	is "$(cat traced.out)" "32 1968" "$name: all of them arrive"
}
throws "exceptions" "$nongnu"
throws "libgcc's unwinder beside it" -lgcc_s "$nongnu"
llvm=$(ls /usr/lib/llvm-*/lib/libunwind.so.1 2>/dev/null | tail -n 1)
if [ -n "$llvm" ]; then
	throws "LLVM's unwinder beside it" "$llvm" -Wl,-rpath,"${llvm%/*}" "$nongnu"
else
	skip "LLVM's unwinder beside it" "not installed"
fi

# loaded after functions were instrumented by name
sed 's/^extern int unw_backtrace.*/#include <dlfcn.h>\nstatic int (*unw_backtrace)(void **to, int n);/; s/^int main(void)$/int main(void)\n{\n\tint run(void);\n\n\t*(void **) \&unw_backtrace = dlsym(dlopen("libunwind.so.8", RTLD_NOW), "unw_backtrace");\n\treturn run();\n}\nint run(void)/' walks.c >loads.c
gcc -O1 -g -fno-optimize-sibling-calls loads.c -o loads -ldl || { echo "Bail out! gcc"; exit 1; }
for func in 'loads:down' '*'; do
	is "$(spi_trace -q -f "$func" -o "late${#func}" ./loads)" "$(./loads)" "loaded after functions were instrumented: -f $func"
done
tap_done
