# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Programs of tests/programs: many tests build the same one with the same options.
# The first of them leaves the program in the build directory, the others copy it.

# spi_compile OUTPUT COMPILER ARG... - COMPILER ARG... -o OUTPUT. A program is kept when all its sources are below tests/.
# The key is the command, and the contents of the sources and of the headers beside them. Nothing else that goes into a
# program is looked at, so a command that names other files or directories runs each time. What was kept before a package
# was installed is made anew.
spi_compile() {
	local out=$1 kept=$SPI_TOP_BUILDDIR/tests/compiled arg key made fresh
	local -a sources=()

	shift
	for arg in "${@:2}"; do
		case $arg in
		"$SPI_TOP_SRCDIR"/tests/*.[ch]|"$SPI_TOP_SRCDIR"/tests/*.cc) sources+=("$arg" "${arg%/*}"/*.h) ;;
		-I"$SPI_TOP_SRCDIR"/tests/*) sources+=("${arg#-I}"/*.h) ;;
		-L*|-I*|-Wl,*=*|*"$PWD"*) kept= ;;
		*) [ ! -e "$arg" ] || kept= ;;
		esac
	done
	if [ -z "$kept" ] || [ ${#sources[@]} = 0 ] || ! mkdir -p "$kept" 2>/dev/null || [ ! -w "$kept" ]; then
		"$@" -o "$out"
		return
	fi
	key=$({ printf '%s\0' "$@"; cat "${sources[@]}" 2>/dev/null; } | sha1sum)
	made=$kept/${key%% *}
	if [ ! -e "$made" ] || [ /var/lib/dpkg/status -nt "$made" ]; then
		# a process number is another test's, too: each has its own pid namespace
		fresh=$(mktemp -d "$made.XXXXXX") && "$@" -o "$fresh/out" && mv "$fresh/out" "$made" && rmdir "$fresh" || return
	fi
	cp "$made" "$out"
}
