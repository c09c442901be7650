# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Shared by the tests of the commands with --spi: the rules that a session really
# has, and command lines that must fail with one line.

# rules SESSION - to the file `rules`: CHANNEL, NAME, true|false, FILTER by tabs, sorted
rules() {
	rm -rf saved
	/usr/bin/lttng save "$1" --output-path="$PWD/saved" >/dev/null 2>&1 || { diag "lttng save $1 fails"; : >rules; return 1; }
	python3 - "saved/$1.lttng" >rules <<'PY'
import sys, xml.etree.ElementTree as tree
def local(e): return e.tag.rsplit('}', 1)[-1]
def text(e, name): return next((c.text or '' for c in e if local(c) == name), '')
lines = []
for channel in tree.parse(sys.argv[1]).iter():
    if local(channel) != 'channel':
        continue
    for event in channel.iter():
        if local(event) == 'event':
            lines.append('\t'.join([text(channel, 'name'), text(event, 'name'), text(event, 'enabled'), text(event, 'filter')]))
print('\n'.join(sorted(lines)), end='\n' if lines else '')
PY
}

# wrong STATUS REGEX ARGS... - `lttng ARGS` fails with this status and one line
wrong() {
	local status=$1 regex=$2 out line
	shift 2
	line="lttng $*"
	line=${line:0:120}
	line=${line//[[:cntrl:]]/ }
	out=$("$SPI_LTTNG" "$@" 2>&1 </dev/null)
	is $? "$status" "$line: status"
	is "$(wc -l <<<"$out")" 1 "$line: one line" || diag "$out"
	like "$out" "^Error: .*$regex" "$line: says why"
}
