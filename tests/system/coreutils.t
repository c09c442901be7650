#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# long
# timeout: 400
#
# Thirty coreutils commands with every function of theirs traced: stdout, stderr
# and status byte for byte as without.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
. "$SPI_TOP_SRCDIR/tests/lib/real.sh"
spi_private "$@"
spi_daemon
real_setup() { seq 50 >n; printf 'b\na\nc\na\n' >w; mkdir d; touch -d 2024-01-01 d/f; ln -s n link; }
seq 20 >stdin

real_check ls ls -lR --time-style=+%Y d
real_coverage ls /usr/bin/ls
real_check "ls of nothing" ls no-such-file
real_check cat cat n - w
real_check sort sort -u w
real_check "sort -R with a fixed source" sort -R --random-source=/usr/bin/ls w
real_check uniq uniq -c w
real_check wc wc n w
real_check head head -n 3 n
real_check tail tail -n 3 n
real_check tr tr 0-9 a-j
real_check cut cut -c1 n
real_check paste paste n w
real_check join join w w
real_check comm comm n w
real_check tac tac n
real_check nl nl w
real_check fold fold -w 5 n
real_check fmt fmt n
real_check od od -c w
real_check base64 base64 n
real_check sha256sum sha256sum n w
real_check md5sum md5sum n
real_check cksum cksum n
real_check cp cp -rv d e
real_check mv mv -v n m
real_check rm rm -rv d nothing-here
real_check mkdir mkdir -v x
real_check stat stat -c '%n %s %F' n link
real_check du du -a --apparent-size d
real_check readlink readlink -f n
real_check factor factor 1234567890123
real_check expr expr 6 '*' 7
real_check test '/usr/bin/[' 1 -gt 2 ']'
real_check date date -u -d @0
real_check env env -i A=1 /usr/bin/printenv A
real_check seq seq 3 4 20
tap_done
