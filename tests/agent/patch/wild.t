#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# Reading through wild pointers; faults that are the program's own.
. "${SPI_TOP_SRCDIR:?}/tests/lib/patch.sh"
patch_build wild wild && "$work/wild"
