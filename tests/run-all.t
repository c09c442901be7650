#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A test that bails out, whatever its status, has failed and is named, and the tests behind it still run.
. "${SPI_TOP_SRCDIR:?}/tests/lib/tap.sh"
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cat >"$tmp/bails.t" <<'T'
#!/usr/bin/env bash
echo "ok 1 - begins"
echo "Bail out! no daemon"
T
cat >"$tmp/passes.t" <<'T'
#!/usr/bin/env bash
echo "ok 1 - passes"
echo "1..1"
T
env -u SPI_OUTPUTS SPI_JOBS=1 "$SPI_TOP_SRCDIR/tests/lib/run-all" "$tmp/bails.t" "$tmp/passes.t" >"$tmp/out" 2>&1
is $? 1 "a run with a test that bails out: the status"
like "$(cat "$tmp/out")" 'Result: FAIL' "the result"
like "$(cat "$tmp/out")" 'passes\.t [. ]*ok' "the test behind it has run"
like "$(cat "$tmp/out")" "failed: $(basename "$tmp")/bails.t: .*Bail out! no daemon" "it is named with what it said"
SPI_JOBS=1 "$SPI_TOP_SRCDIR/tests/lib/run-all" "$tmp/passes.t" >"$tmp/out" 2>&1
is $? 0 "and without it the run passes"
tap_done
