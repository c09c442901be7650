#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# in make soak
#
# Programs that print their own stack print what they print untraced, whatever unwinder they have and however that came into
# the process, whoever traces them. (More of what is met on the way: unwind.t.)
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
spi_daemon
tree_tools

cat >walk.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unwind.h>
#define FN __attribute__((noipa))
static FN _Unwind_Reason_Code each(struct _Unwind_Context *context, void *data)
{
	int is_before = 7;
	Dl_info a = { 0 }, b = { 0 };
	char *ip = (char *) _Unwind_GetIP(context), *info = (char *) _Unwind_GetIPInfo(context, &is_before);

	if (!ip)
		return _URC_NO_REASON;
	dladdr(ip - 1, &a);
	dladdr(info - !is_before, &b);
	printf("%s+%ld %s+%ld%s", a.dli_sname, (long) (ip - (char *) a.dli_fbase), b.dli_sname, (long) (info - (char *) b.dli_fbase),
		*(int *) data ? "; " : "\n");
	return _URC_NO_REASON;
}
FN int walk_at(int n, int line)
{
	return n ? walk_at(n - 1, line) + 1 : _Unwind_Backtrace(each, &line) != 1;
}
C
cat >main.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <stdio.h>
#include <unistd.h>
extern int walk_at(int n, int line);
__attribute__((noipa)) int lists(int n)
{
	void *list[30];

	if (n)
		return lists(n - 1) + 1;
	n = backtrace(list, 30);
	for (int i = 0; i < n; i++) {
		Dl_info info = { 0 };

		dladdr(list[i], &info);
		printf("%s+%ld ", info.dli_sname, (long) ((char *) list[i] - (char *) info.dli_fbase));
	}
	return n;
}
int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	for (int i = 0; i < (argc > 1 ? 4000 : 1); i++) {
		printf(" %d\n", walk_at(5, argc > 1));
		printf(" %d\n", lists(5));
		fflush(stdout);
		if (argc > 1)
			usleep(1000);
	}
}
C
cat >loads.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	for (int n = 0; n < 3; n++)
		for (int i = 1; i < argc; i++) {
			void *library = dlopen(argv[i], RTLD_NOW);
			int (*function)(int, int) = library ? (int (*)(int, int)) dlsym(library, i % 2 ? "walk_at" : "throws") : NULL;

			if (!function) {
				puts(dlerror());
				continue;
			}
			printf("%s %d\n", argv[i], function(9, 0));
			if (n)
				dlclose(library);
		}
}
C
cat >throws.cc <<'CC'
struct counts { int *n; ~counts() { ++*n; } };
static __attribute__((noipa)) int deep(int n, int *left) { counts c{left}; if (!n) throw n; return deep(n - 1, left) + 1; }
extern "C" int throws(int n, int) { int left = 0; for (int i = 0; i < 100; i++) try { deep(n, &left); } catch (int) { } return left; }
CC

llvm=$(ls /usr/lib/llvm-*/lib/libunwind.so.1 2>/dev/null | tail -n 1)
nongnu=$(ldconfig -p | sed -n 's/.*libunwind\.so\.8 .*x86-64.*=> //p' | head -n 1)
flags=(-O1 -g -fno-optimize-sibling-calls)
g++ -O1 -g -shared -fPIC -o throws.so throws.cc || fail "throws.cc does not compile"
gcc "${flags[@]}" -o loads loads.c || fail "loads.c does not compile"
real_setup() { :; }

# unwinder NAME LIBRARY - the program has it from the beginning; and a library that is loaded
unwinder() {
	local name=$1 library=$2
	[ -n "$library" ] || { skip "$name" "not installed"; return; }
	gcc "${flags[@]}" -rdynamic -o "walks$name" walk.c main.c -Wl,--no-as-needed "$library" -Wl,-rpath,"$(dirname "$library")" ||
		fail "$name: does not link"
	gcc "${flags[@]}" -shared -fPIC -o "walk$name.so" walk.c -Wl,--no-as-needed "$library" -Wl,-rpath,"$(dirname "$library")" ||
		fail "$name: the library does not link"
	tree_real "$name" "../walks$name"
	is "$(spi_trace -q -f '*' -o "functions$name" "./walks$name")" "$("./walks$name")" "$name: by functions"
	tree_real "$name, loaded" ../loads "$PWD/walk$name.so"
}
unwinder gcc "$(gcc -print-file-name=libgcc_s.so.1)"
unwinder llvm "$llvm"
unwinder nongnu "$nongnu"
tree_real "exceptions of a library that is loaded" ../loads "$PWD/walkgcc.so" "$PWD/throws.so"
if [ -n "$llvm" ]; then
	tree_real "two unwinders, each loaded by its user" ../loads "$PWD/walkllvm.so" "$PWD/throws.so" "$PWD/walkgcc.so" "$PWD/throws.so"
else
	skip "two unwinders" "not installed"
fi

for kind in --tree '-f walksgcc:*'; do
	background ./walksgcc again
	# shellcheck disable=SC2086
	"$SPI_LTTNG" trace $kind -p "$target" --duration 1 -o "attached${#kind}" 2>attached.err >/dev/null
	is $? 0 "attached, $kind: status"
	wait "$target"
	is "$(sort -u target.out | wc -l)" 2 "attached, $kind: what it prints is the same all the time"
	[ "$(babeltrace2 "attached${#kind}" 2>/dev/null | grep -cE 'walk_at|func_entry')" -gt 100 ]
	ok $? "attached, $kind: it was traced" || diag "$(tail -n 3 attached.err)"
done
tap_done
