#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 120
#
# A small file whose debug info is huge once it is inflated, and all of it tiny units: the analysis ends with a reason before it has taken
# 1.5 GB.
. "${SPI_TOP_SRCDIR:?}/tests/lib/tap.sh"
codemap=${SPI_CODEMAP:-$SPI_TOP_BUILDDIR/codemap/spi-codemap}
! ldd "$codemap" | grep -q 'lib[a-z]*san' || skip_all "sanitizers use memory of their own, without that limit"
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export LTTNG_SPI_CACHE=
cat >make.py <<'P'
"""make.py FILE MEGABYTES: FILE, a program with debug info, gets so much of it, all tiny units"""
import struct, subprocess, sys, zlib
file, size = sys.argv[1], int(sys.argv[2]) << 20
# DWARF 5 unit: length, version, DW_UT_compile, address size, abbrev offset, abbrev code 0
unit = struct.pack("<IHBBIB", 9, 5, 1, 8, 0, 0)
piece = unit * 65536
packer, out, left = zlib.compressobj(6), [], size
while left > 0:
    out.append(packer.compress(piece))
    left -= len(piece)
    size_now = size - left
out.append(packer.flush())
section = ".debug_info"
open("section", "wb").write(struct.pack("<IIQQ", 1, 0, size_now, 1) + b"".join(out))
subprocess.run(["objcopy", "--update-section", section + "=section", "--set-section-flags", section + "=readonly,debug",
                file, "grown"], check=True)
# objcopy knows nothing of what is in there: SHF_COMPRESSED
data = bytearray(open("grown", "rb").read())
shoff, shentsize, shnum, shstrndx = struct.unpack_from("<Q", data, 40)[0], *struct.unpack_from("<HHH", data, 58)
strings = struct.unpack_from("<Q", data, shoff + shstrndx * shentsize + 24)[0]
for i in range(shnum):
    at = shoff + i * shentsize
    name = strings + struct.unpack_from("<I", data, at)[0]
    if data[name:data.index(0, name)] == section.encode():
        flags = struct.unpack_from("<Q", data, at + 8)[0]
        struct.pack_into("<Q", data, at + 8, flags | 0x800)
open("grown", "wb").write(data)
P
cat >run.py <<'P'
"""run.py COMMAND...: the peak of its child in MB, and its status; -1: it was at it for 70 s"""
import subprocess, sys, time

def peak_of(pid):
    try:
        return next(int(line.split()[1]) >> 10 for line in open("/proc/%s/status" % pid) if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        return 0

p, peak, end = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL), 0, time.monotonic() + 70
while p.poll() is None and time.monotonic() < end:
    for child in open("/proc/%d/task/%d/children" % (p.pid, p.pid)).read().split():
        peak = max(peak, peak_of(child))
    try:
        p.wait(0.05)
    except subprocess.TimeoutExpired:
        pass
status = p.poll()
p.kill()
print(peak, -1 if status is None else status)
P
echo 'int function(int n) { return n + 1; } int main(void) { return function(1); }' >p.c
gcc -g -O1 -o p p.c
python3 make.py p 120
read -r peak status < <(python3 run.py "$codemap" list grown 2>said)
diag "peak $peak MB, status $status, $(head -n 1 said)"
[ "$peak" -lt 1600 ]
ok $? "tiny units: it takes no more than it may"
like "$(cat said)" '^spi-codemap: .*out of memory' "and says why it ends"
is "$status" 1 "by itself"
tap_done
