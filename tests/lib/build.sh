# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# What ./quickstart and ./run-tests share: missing packages, and a build in a
# directory of its own. Needs $top, the source tree.

# say TEXT... - what is going on, on stderr
say() { printf '== %s\n' "$*" >&2; }

# install_packages USE... - those of tests/packages.txt that are for one of these uses and not there yet
install_packages() {
	local uses=" $* " package use
	local -a missing=() sudo=()

	while read -r package use; do
		case $package in ''|'#'*) continue ;; esac
		[[ $uses == *" $use "* ]] || continue
		# The nodejs of other archives has npm in it.
		[ "$package" != npm ] || ! command -v npm >/dev/null || continue
		dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q '^install ok installed' ||
			missing+=("$package")
	done <"$top/tests/packages.txt"
	[ ${#missing[@]} -gt 0 ] || return 0
	say "installing: ${missing[*]}"
	if [ "$(id -u)" != 0 ]; then
		command -v sudo >/dev/null ||
			{ echo "$0: install these packages first, or run as root: ${missing[*]}" >&2; return 1; }
		sudo=(sudo)
	fi
	"${sudo[@]}" apt-get update -qq &&
		"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
			apt-get install -y -qq --no-install-recommends "${missing[@]}" </dev/null >&2
}

# private_possible - 1, and the cause on stderr, where neither tests nor demonstration can have a machine of their own
private_possible() {
	local why
	. "$top/tests/lib/private.sh"
	! why=$(private_refused) || { echo "$0: $why" >&2; return 1; }
}

# configure_tree DIRECTORY [CONFIGURE-OPTION...] - bootstrap once, configure once
configure_tree() {
	local dir=$1
	shift
	if [ ! -x "$top/configure" ] || [ "$top/configure.ac" -nt "$top/configure" ]; then
		say "bootstrap"
		(cd "$top" && flock bootstrap ./bootstrap) >&2 || return 1
	fi
	mkdir -p "$dir" || return 1
	# config.status is there before what it makes: a run that was interrupted between them begins anew
	if [ ! -e "$dir/tests/Makefile" ] || [ "$top/configure" -nt "$dir/config.status" ]; then
		say "configure in $dir"
		(cd "$dir" && "$top/configure" --quiet "$@") >&2 || return 1
	fi
}

# build_tree DIRECTORY [CONFIGURE-OPTION...] - bootstrap once, configure once, make
build_tree() {
	configure_tree "$@" || return 1
	say "make in $1"
	make -C "$1" -s -j"$(nproc)" >&2
}

# build_pages DIRECTORY - the page of flame graphs, which needs npm and a network, once. Without it the rest is whole.
build_pages() {
	[ ! -d "$1/reader/pages/node_modules/speedscope" ] || return 0
	say "make pages in $1"
	make -C "$1/reader" -s pages >&2 || say "no page of flame graphs: npm cannot fetch what it is made of"
}
