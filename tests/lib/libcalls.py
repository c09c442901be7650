#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""libcalls.py LTRACE-OUTPUT REPORT MESSAGES OBJECT... - calls from one object into another, by ltrace and by us.

LTRACE-OUTPUT is of `ltrace -f -e '*'`, which has calls of a library into itself, too. REPORT is of `lttng-spi report
--format json`. MESSAGES are what `lttng trace -v` says of functions that are not instrumented. The OBJECTs are the
program and its libraries. Prints what differs without a known cause, a line each. The causes are:

  - ltrace stands at the entries of procedure linkage tables: it does not see calls by a pointer of the object's (GOT);
  - the dynamic linker's own calls: ltrace does not see those at the end of the program, nor libc's call of main();
  - several functions are one: memmove() and memcpy(), open() and open64().
"""
import collections, json, os, re, subprocess, sys

BEGIN_AND_END = {"__libc_start_main", "__cxa_finalize", "__cxa_atexit"}
OF_THE_LINKER = {"pthread_mutex_lock": 1, "pthread_mutex_unlock": 1}
LINKER = re.compile(r"_dl_|__tls_get_addr|_rtld|__tunable|__nptl_change_stack_perm")
SAME = {"memmove": "memcpy", "__memcpy_chk": "memcpy", "__memmove_chk": "memcpy"}


def plain(name):
    name = re.sub(r"@.*", "", name)
    name = SAME.get(name, name)
    return name[:-2] if name.endswith("64") else name


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, errors="replace").stdout


def main():
    ltrace, report, messages, *objects = sys.argv[1:]
    of, by_pointer = {}, set()
    for path in objects:
        of[os.path.basename(path)] = {line.split()[-1].split("@")[0]
                                      for line in output("nm", "-D", "--defined-only", path).splitlines() if line}
        for line in output("readelf", "-rW", path).splitlines():
            if "R_X86_64_GLOB_DAT" in line or "R_X86_64_64" in line:
                by_pointer.add(plain(line.split()[4] if len(line.split()) > 4 else ""))
    theirs = collections.Counter()
    for line in open(ltrace, errors="replace"):
        m = re.match(r"(?:\d+ +)?([^ >]+)->(\w+)\(", line)
        if m and m[2] not in of.get(m[1], ()) and not LINKER.match(m[2]):
            theirs[plain(m[2])] += 1
    ours = collections.Counter()
    for function in json.load(open(report))["rows"]:
        ours[plain(function["name"])] += function["calls"]
    declined = {plain(n) for n in re.findall(r":(\w+)", open(messages, errors="replace").read())}
    same = 0
    for name in sorted(set(theirs) | set(ours)):
        more = ours[name] - theirs[name]
        same += more == 0
        if more and not (more > 0 and (name in by_pointer or more == OF_THE_LINKER.get(name))) and \
                name not in BEGIN_AND_END and name not in declined:
            print(f"{name}: {theirs[name]} by ltrace, {ours[name]} recorded")
    print(f"{sum(theirs.values())} calls of {len(theirs)} functions, {same} of them the same", file=sys.stderr)


main()
