#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Ways out of a call that are no plain return: longjmp, pthread_exit,
# pthread_cancel, exit() in a callee, C++ exceptions. Each call that was entered
# also has its exit, and the program does what it does untraced.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
. "$SPI_TOP_SRCDIR/tests/lib/zoo.sh"
spi_private "$@"
spi_daemon
spi_cc zoo zoo.c
spi_cc thrower thrower.cc

zoo_check longjmp 't_*' ./zoo longjmp 500
zoo_check pthread_exit 't_*' ./zoo pthread_exit 50
zoo_check pthread_cancel 't_*' ./zoo cancel 50
zoo_check 'exit() in a callee' 't_*' ./zoo exit
zoo_check 'C++ exceptions' 't_* zoo::*' ./thrower 600 1
zoo_check 'C++ exceptions in 4 threads' 't_* zoo::*' ./thrower 600 4
tap_done
