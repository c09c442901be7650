# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# ceph-osd with its debug info, 256 MB, is the large program of the figures. Where it
# is not installed, its two packages are unpacked in a directory of their own, which
# goes when the calling shell ends. Sourced before the network is left behind:
# exports SPI_CEPH_ROOT, a root directory that has it, or SPI_CEPH_WHY, why there is
# none. A SPI_CEPH_ROOT that is set already is taken as it is.

ceph_fetch() {
	local dir free
	if ! command -v apt-get >/dev/null || ! command -v dpkg-deb >/dev/null; then
		SPI_CEPH_WHY="this is no Debian"
		return 1
	fi
	dir=$(mktemp -d "${TMPDIR:-/tmp}/spi-ceph.XXXXXX") || { SPI_CEPH_WHY="no temporary directory"; return 1; }
	trap 'rm -rf "'"$dir"'"' EXIT
	free=$(df --output=avail -k "$dir" | tail -1)
	[ "$free" -ge 2000000 ] || { SPI_CEPH_WHY="$dir has less than 2 GB left"; return 1; }
	chmod 755 "$dir"
	echo "# ceph-osd is not installed: unpacking ceph-osd and ceph-osd-dbg (530 MB) in $dir" >&2
	if ! (cd "$dir" && timeout 900 apt-get -q -o Acquire::Retries=1 -o APT::Sandbox::User=root \
		download ceph-osd ceph-osd-dbg) >"$dir/log" 2>&1; then
		SPI_CEPH_WHY="apt-get download ceph-osd ceph-osd-dbg: $(grep -a '^E:' "$dir/log" | tail -1)"
		return 1
	fi
	mkdir "$dir/root"
	for package in "$dir"/*.deb; do
		dpkg-deb -x "$package" "$dir/root" || { SPI_CEPH_WHY="$package cannot be unpacked"; return 1; }
		rm -f "$package"
	done
	SPI_CEPH_ROOT=$dir/root
}

[ -n "${SPI_CEPH_ROOT:-}" ] || ceph_fetch || echo "# no figures for ceph-osd: $SPI_CEPH_WHY" >&2
export SPI_CEPH_ROOT SPI_CEPH_WHY
