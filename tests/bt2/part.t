#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# timeout: 60
#
# A part of the time of a trace with compact records: it is expanded first, then cut. What --begin does before the
# filter leaves calls without their descriptions, and the filter says that this may be why.
. "${SPI_TOP_SRCDIR:?}/tests/lib/expand.sh"
spi_private "$@"
spi_daemon
spi_cc ways "$SPI_TOP_SRCDIR/tests/programs/ways.cc" -fno-optimize-sibling-calls
record whole 'call(ways:t_*;compact)' ./ways storm 20000
expand whole
sed -n 's/^\[\([0-9:.]*\)\].*func_entry.*/\1/p' whole.expanded >times
middle=$(sed -n "$(($(wc -l <times) / 2))p" times)
timeout 20 babeltrace2 "${SPI_EXPAND[@]}" whole --output-format=ctf --output=copy >copy.out 2>copy.err
is "$?" 0 "the expanded trace as a trace of its own"
is "$(timeout 20 babeltrace2 --begin="$middle" copy | grep -c func_entry)" "$(awk -v from="$middle" '$0 >= from' times | wc -l)" \
	"what it has from some time on"
early=$(sed -n 3000p times)
timeout 20 babeltrace2 "${SPI_EXPAND[@]}" --begin="$early" whole >cut 2>cut.err
is "$(grep -c 'calls are left out.*--begin' cut.err)" 1 "calls that --begin leaves without descriptions are told, and why"
tap_done
