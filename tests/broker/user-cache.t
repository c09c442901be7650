#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# Maps made with another user's rights are kept where that user alone can write, and root's elsewhere.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
spi_private "$@"
[ "$(id -u)" = 0 ] && [ "${SPI_OUTER_UID:-0}" = 0 ] || skip_all "needs several users: root"
mkdir -m 700 cache
export LTTNG_SPI_CACHE=$SPI_TMP/cache
broker_setup
chmod 755 "$SPI_TMP"
mkdir -p home-1 && chown 1 home-1
user_prefix 1
app_start own "${user[@]}" ./app 3 wait
own=$app_pid own_in=$app_in
app_start root ./app 3 wait
root=$app_pid
record roots 'spi:work_entry'
for pid in "$own" "$root"; do
	check "the rule is in force" spi_wait 10 status_like "^applied.$pid.work.active"
done
is "$(stat -c '%u %a' cache/user-1)" "1 700" "the user's directory is his"
is "$(stat -c '%u %a' cache/user-1/*-map | sort -u)" "1 600" "with the map in it"
is "$(find cache -maxdepth 1 -type f ! -user 0 | wc -l) $(find cache -maxdepth 1 -name '*-map' -user 0 | wc -l | sed 's/[1-9][0-9]*/some/')" \
	"0 some" "root's maps are apart from it, and root's"
is "$(setpriv --reuid 1 --regid 1 --clear-groups cat "cache/user-1/$(ls cache/user-1 | head -n 1)" 2>&1 | grep -c denied)" 1 \
	"and the user cannot reach it by its name"
# The directory is given by descriptor, as the broker gives it; what is in it is used: a file written anew is another one.
as_helper() {
	setpriv --reuid 1 --regid 1 --clear-groups env LTTNG_SPI_CACHE=/proc/self/fd/7 \
		"$SPI_TOP_BUILDDIR/codemap/spi-codemap" map --tree ./app >"$1" 7<cache/user-1
}
if as_helper first.map 2>helper.log; then
	inode=$(stat -c '%i %Z' cache/user-1/*-tree)
	as_helper second.map
	check "the same map again" cmp -s first.map second.map
	is "$(stat -c '%i %Z' cache/user-1/*-tree)" "$inode" "is the one that was kept"
else
	skip "the same map again" "$(head -n 1 helper.log)"
	skip "is the one that was kept" "no map"
fi
tap_done
