#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A forked child that closes a number and opens gets that number, as ever, though
# its agent and lttng-ust need descriptors of their own at the same time.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
spi_cc lowest lowest.c
is "$(./lowest 20 </dev/null)" "20 children, 0 wrong" "as it is"
children=40
[ -z "${SPI_SOAK:-}" ] || children=1000
for options in "-f t_child" "--tree" "--tree --compact"; do
	# shellcheck disable=SC2086  # several words
	is "$(spi_trace $options -o "t${options// /}" ./lowest "$children" </dev/null)" "$children children, 0 wrong" "$options"
done
is "$(spi_count t-ft_child t_child_entry)" "$children" "the children are traced"
tap_done
