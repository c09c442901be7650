#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# in make soak
# timeout: 240
#
# Processes whose files and process ids are not ours: another root directory
# with its own libraries, its own pid and mount namespaces, another user. The
# library gets there all the same, and nothing is left behind. The root is made
# of copies; and a debootstrapped Debian, which is made once, in the build
# directory, from the mirror that apt uses, when that can be reached.
. "${SPI_TOP_SRCDIR:?}/tests/lib/injector.sh"

debian=$SPI_TOP_BUILDDIR/tests/container-root
if [ -z "${SPI_PRIVATE:-}" ] && [ ! -d "$debian" ] && [ "$(id -u)" = 0 ] && command -v debootstrap >/dev/null; then
	(
		flock 9
		[ ! -d "$debian" ] || exit 0
		rm -rf "$debian.part"
		site=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | head -n 1)
		timeout 150 debootstrap --variant=minbase bookworm "$debian.part" "$site" >"$debian.log" 2>&1 &&
			mv "$debian.part" "$debian"
	) 9>"$debian.lock"
fi
spi_private "$@"
[ "$(id -u)" = 0 ] && [ "${SPI_OUTER_UID:-0}" = 0 ] || skip_all "needs root to make a container"
prepare

cat >enter.sh <<'S'
mount -t proc proc "$1/proc"
exec chroot "$@"
S

# contained ROOT NAME - the target in that root and its own namespaces, injected twice
contained() {
	local root=$1 name=$2 outer before

	: >"$root/marks"
	rm -f feed
	mkfifo feed
	SPI_MARKS=/marks unshare -m -p --fork --kill-child --propagation private bash enter.sh "$root" /target block read \
		<feed >target.out 2>target.err &
	outer=$!
	exec {feed}>feed
	spi_wait 10 file_has target.out '^ready'
	ok $? "$name: the target runs" || diag "$(cat target.err)"
	target=$(ps -o pid= --ppid "$outer" | tr -d ' ')
	is "$(awk '/^NSpid/ { print $NF }' "/proc/$target/status")" 1 "$name: it is process 1 there"
	before=$(ls "/proc/$target/fd" | tr '\n' ' ')
	for number in 1 2; do
		cp libmark.so "only-here$number.so"
		"$inject" pid "$target" "$SPI_TMP/only-here$number.so" >inject.out 2>&1
		ok $? "$name: injected ($number)" || diag "$(cat inject.out)"
		is "$(stat -c %s "$root/marks")" "$number" "$name: the constructor ran there"
		like "$(cat inject.out)" "^$target \\(target\\): only-here$number.so loaded" "$name: told by our pid"
	done
	is "$(ls "/proc/$target/fd" | tr '\n' ' ')" "$before" "$name: no descriptor is left in it"
	cp "$SPI_TMP/libmark.so" "$root/there.so"
	"$inject" pid "$target" /there.so >inject.out 2>&1
	ok $? "$name: a library that exists only there, by its path there" || diag "$(cat inject.out)"
	is "$(stat -c %s "$root/marks")" 3 "$name: its constructor ran"
	exec {feed}>&-
	feed=
	wait "$outer"
	ok $? "$name: it ends well"
	like "$(tail -n 1 target.out)" '^read: result=0 errno=0' "$name: its system call was not disturbed"
}

root=$SPI_TMP/root
mkdir -p "$root"/proc
cp target "$root/target"
for file in $(ldd target libmark.so | grep -o '/lib[^ )]*' | sort -u); do
	mkdir -p "$root$(dirname "$file")"
	cp -L "$file" "$root$file"
done
contained "$root" "copied root"

if [ -d "$debian" ]; then
	mkdir debian
	mkdir up work
	mount -t overlay -o "lowerdir=$debian,upperdir=$PWD/up,workdir=$PWD/work" \
		overlay debian 2>/dev/null || mount --bind "$debian" debian
	cp target debian/target
	contained "$SPI_TMP/debian" "debootstrapped root"
else
	skip "debootstrapped root" "it could not be made: see $debian.log"
fi

# A user who may not read the library's directory.
mkdir private && chmod 700 private
cp libmark.so private/libmark.so
chmod 755 "$SPI_TMP"
rm -f feed
mkfifo feed
rm -f target.out
setpriv --reuid 65534 --regid 65534 --clear-groups "$SPI_TMP/target" block read <feed >target.out 2>target.err &
target=$!
exec {feed}>feed
spi_wait 10 file_has target.out '^ready'
"$inject" pid "$target" "$SPI_TMP/private/libmark.so" >inject.out 2>&1
ok $? "another user: a library that this user may not read" || diag "$(cat inject.out)"
is "$(marks)" 1 "another user: its constructor ran"
"$inject" pid "$target" "$SPI_TMP/libmark.so" >inject.out 2>&1
ok $? "another user: a library that this user may read" || diag "$(cat inject.out)"
finish
ok $? "another user: it ends well"
tap_done
