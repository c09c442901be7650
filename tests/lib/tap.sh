# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# The Test Anything Protocol for bash: one `ok` or `not ok` line a check, the
# plan at the end (tap_done). A failed check never ends the test: what follows
# is often what explains it. Everything else a test wants to say goes through
# diag, to stderr, which prove shows.

tap_count=0
tap_failed=0

# diag TEXT... - comment lines for whoever reads a failure
diag() {
	printf '%s\n' "$*" | sed 's/^/# /' >&2
}

# ok STATUS NAME - passes when STATUS is 0; returns STATUS
ok() {
	local status=$1 name=$2

	tap_count=$((tap_count + 1))
	if [ "$status" -eq 0 ]; then
		printf 'ok %d - %s\n' "$tap_count" "$name"
		return 0
	fi
	tap_failed=$((tap_failed + 1))
	printf 'not ok %d - %s\n' "$tap_count" "$name"
	return 1
}

# pass NAME, fail NAME
pass() { ok 0 "$1"; }
fail() { ok 1 "$1"; }

# is GOT EXPECTED NAME - equal as strings
is() {
	if [ "$1" = "$2" ]; then
		ok 0 "$3"
	else
		ok 1 "$3"
		diag "got:      ${1:0:600}"
		diag "expected: ${2:0:600}"
		return 1
	fi
}

# like TEXT REGEX NAME - an extended regular expression matches somewhere
like() {
	if [[ "$1" =~ $2 ]]; then
		ok 0 "$3"
	else
		ok 1 "$3"
		diag "got:     ${1:0:1500}"
		diag "no match: $2"
		return 1
	fi
}

# unlike TEXT REGEX NAME
unlike() {
	if [[ ! "$1" =~ $2 ]]; then
		ok 0 "$3"
	else
		ok 1 "$3"
		diag "got:            ${1:0:1500}"
		diag "should not match: $2"
		return 1
	fi
}

# check NAME COMMAND... - passes when the command succeeds; its output becomes diagnostics when it does not
check() {
	local name=$1 out status
	shift
	out=$("$@" 2>&1)
	status=$?
	ok "$status" "$name" || { diag "$* -> status $status"; diag "${out:0:2000}"; return 1; }
}

# same_file A B NAME - byte for byte
same_file() {
	if cmp -s "$1" "$2"; then
		ok 0 "$3"
	else
		ok 1 "$3"
		diag "$(cmp "$1" "$2" 2>&1)"
		diag "$(diff -a "$1" "$2" 2>&1 | head -n 12 | cut -c1-300)"
		return 1
	fi
}

# skip NAME REASON - counts as a pass, and says why it was not run
skip() {
	tap_count=$((tap_count + 1))
	printf 'ok %d - %s # SKIP %s\n' "$tap_count" "$1" "$2"
}

# skip_all REASON - the machine cannot run this test at all
skip_all() {
	printf '1..0 # SKIP %s\n' "$*"
	exit 0
}

# tap_done - the plan; the last line of every test
tap_done() {
	printf '1..%d\n' "$tap_count"
	[ "$tap_failed" -eq 0 ] || exit 1
	exit 0
}
