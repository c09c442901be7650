#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# Thousands of points: coverage, memory, mappings, time; a forked child that adds its own.
. "${SPI_TOP_SRCDIR:?}/tests/lib/patch.sh"
patch_build many many || exit 1
patch_run "20 000 functions of a library" "$work/many" 20000 library
patch_run "8 000 functions of a program that is not position independent" "$work/many" 8000 program
tap_done
