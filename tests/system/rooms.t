#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# Each room calls and includes rooms below it only; no more than five files call each other in a circle.
src=${SPI_TOP_SRCDIR:?}
SPI_TOP_SRCDIR=$src SPI_TOP_BUILDDIR=${SPI_TOP_BUILDDIR:-$src/build} exec python3 "$src/tests/lib/rooms.py"
