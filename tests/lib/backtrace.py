#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""backtrace.py TEXT PROGRAM - a trace's backtraces as gdb's are written by backtrace-gdb.py.

TEXT is babeltrace2's, of a trace with lttng_ust_statedump and lttng_ust_lib events. One line a call: each address by
its place in its object, the innermost first. Addresses in no object are by their place in the page.
"""
import os
import re
import sys


def main():
    places, calls = {}, {}
    for line in open(sys.argv[1], encoding='utf-8', errors='replace'):
        event = re.search(r' (lttng_ust_(?:statedump:bin_info|lib:load)): .*'
                          r'baddr = (0x\w+), memsz = (\d+), path = "([^"]*)"', line)
        if event:
            places[int(event[2], 16)] = (int(event[3]), os.path.basename(event[4]))
        event = re.search(r' spi:hit_entry: .*\bn = (\d+), backtrace_end = \( "(\w+)"', line)
        if event:
            addresses = re.findall(r'\] = (0x\w+)', line.split('callers = ')[0])
            calls[int(event[1])] = (event[2], [int(address, 16) for address in addresses])
    for number in sorted(calls):
        end, addresses = calls[number]
        words = []
        for address in addresses:
            base = max((low for low in places if low <= address < low + places[low][0]), default=None)
            words.append(f'?{address & 0xfff:x}' if base is None else f'{places[base][1]}+{address - base:x}')
        print(number, end, *words)


main()
