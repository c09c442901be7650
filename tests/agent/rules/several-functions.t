#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Several functions at once, by name and by glob; those not named stay as they
# are. The program is an ordinary one, not linked with lttng-ust.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
spi_cc zoo zoo.c
unlike "$(ldd ./zoo)" lttng "the program does not know lttng-ust"

spi_trace_ok "two functions by name" -f t_even -f t_odd -o two ./zoo tail 10
is "$(spi_count two t_even_entry) $(spi_count two t_odd_entry)" "6 5" "both are recorded"
spi_trace_ok "a glob" -f 't_*' -o glob ./zoo longjmp 10
is "$(spi_count glob t_jumper_entry) $(spi_count glob t_leaf_entry)" "30 10" "all it matches are recorded"
spi_trace_ok "only one of two" -f t_leaf -o one ./zoo longjmp 10
is "$(spi_count one t_jumper_entry) $(spi_count one t_leaf_entry)" "0 10" "the other is not"
like "$(grep -am1 't_leaf_entry' one.txt)" 'a = 0, b = 1' "parameters have their names and values"
like "$(grep -am1 't_leaf_exit' one.txt)" 'ret = 1 ' "so has the return value"
like "$(grep -am1 't_leaf_entry' one.txt)" 'vpid = [0-9]+, vtid = [0-9]+' "contexts vpid and vtid"
spi_trace_ok "narrowed to one object" -f 'zoo:t_leaf' -o object ./zoo leaf 7
is "$(spi_count object t_leaf_entry) $(spi_count object t_leaf_exit)" "7 7" "the same calls"
tap_done
