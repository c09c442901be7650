#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 240
#
# A process in a container: its own root without lttng-ust, its own /run,
# /dev/shm and pid namespace, traced from outside by a daemon that it cannot see.
# The root is a debootstrapped Debian when there is one in the build directory
# (`make soak` makes it, outside of the test's own network namespace), else the
# program and the libraries it needs, copied.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"

debian=$SPI_TOP_BUILDDIR/tests/container-root
if [ -z "${SPI_PRIVATE:-}" ] && [ -n "${SPI_SOAK:-}" ] && [ ! -d "$debian" ] && [ "$(id -u)" = 0 ]; then
	site=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | head -n 1)
	debootstrap --variant=minbase bookworm "$debian.part" "$site" >"$debian.log" 2>&1 && mv "$debian.part" "$debian"
fi
spi_private "$@"
[ "$(id -u)" = 0 ] && [ "${SPI_OUTER_UID:-0}" = 0 ] || skip_all "needs root to make a container"
spi_daemon

root=$SPI_TMP/root
mkdir -p root
if [ -d "$debian" ]; then
	mount --bind "$debian" root
	kind="a debootstrapped root"
	spi_cc "$debian/thrower" thrower.cc -static-libstdc++
else
	kind="a copied root"
	spi_cc root/thrower thrower.cc -static-libstdc++
	mkdir -p root/{proc,run,dev/shm,tmp}
	for file in $(ldd root/thrower | grep -o '/[^ )]*'); do
		mkdir -p "root$(dirname "$file")"
		cp -L "$file" "root$file"
	done
fi
is "$(find "$root/usr/lib" "$root/lib" -name 'liblttng-ust*' 2>/dev/null | wc -l)" 0 "$kind has no lttng-ust"

cat >start.sh <<'S'
mount -t proc proc "$1/proc"
mount -t tmpfs tmpfs "$1/run"
mkdir -p "$1/dev/shm"
mount -t tmpfs tmpfs "$1/dev/shm"
exec chroot "$1" /thrower 0 2
S
background unshare -m -p --fork --kill-child --propagation private bash start.sh "$root"
inner=$(ps -o pid= --ppid "$target" | tr -d ' ')
is "$(awk '/NSpid/ { print $NF }' "/proc/$inner/status")" 1 "the process is number 1 in its own pid namespace"
spi_trace -f t_middle -f 'zoo::Keeper::t_method' -p "$inner" --duration 2 -o t >trace.out &
trace=$!
# The first time it is given a way to the session daemon, which is there as long as the front end is.
given_find() {
	for given in "/proc/$inner/fd"/*; do
		[ ! -L "$given/.lttng" ] || return 0
	done
	return 1
}
spi_wait 10 given_find
like "$(ls -A "$given/" "$given/.." "$given/../.." | grep -v ':$' | sort -u | tr '\n' ' ')" '^ ?\.lttng lttng-ust-sock-[0-9]+ $' \
	"what it is given leads to the application socket, and nowhere else"
wait "$trace"
ok $? "attached from outside" || diag "$(cat trace.err)"
spi_read t
[ "$(spi_count t t_middle_entry)" -gt 0 ] && [ "$(spi_count t 'zoo::Keeper::t_method_exit')" -gt 0 ]
ok $? "its calls are recorded"
check "its code is its file's again" python3 "$SPI_TOP_SRCDIR/tests/lib/text-equal.py" "$inner"
is "$(ls -A "$root/tmp" "$root/run" 2>/dev/null | grep -c lttng)" 0 "nothing is left in its root"
spi_trace_ok "attached again" -f t_middle -p "$inner" --duration 0.3 -o t2
[ "$(spi_count t2 t_middle_entry)" -gt 0 ]
ok $? "its calls are recorded again"
kill -TERM "$inner"
wait "$target"
is "$(tail -n 1 target.out)" "wrong 0" "it ends as ever, every value right"
tap_done
