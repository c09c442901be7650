#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# int3 beside a program that uses SIGTRAP itself, and where none may be.
. "${SPI_TOP_SRCDIR:?}/tests/lib/patch.sh"
patch_build traps traps && "$work/traps"
