#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""
blocks.py FILE: the basic blocks of each function that objdump names, by its disassembly alone. A line a block:
START END CALL KIND:TO,... in hexadecimal, CALL and TO 0 where there is none; kinds as in enum spi_edge_kind.
"""
import re
import subprocess
import sys

FALL, JUMP, TAKEN, NOT_TAKEN, INDIRECT, CALL, CALL_RETURNS, RETURN = range(1, 9)


def functions(path):
    found, name = {}, None
    for line in subprocess.run(['objdump', '-dw', path], capture_output=True, text=True,
                               check=True).stdout.splitlines():
        head = re.match(r'[0-9a-f]+ <(.*)>:$', line)
        if line.startswith('Disassembly of section'):
            is_text = '.plt' not in line
        elif head:
            name = head[1] if is_text else None
        elif name and len(part := line.split('\t')) == 3:
            found.setdefault(name, []).append((int(part[0].strip(' :'), 16), len(part[1].split()), part[2].strip()))
    return found


def target(text):
    direct = re.match(r'(?:notrack |bnd )?(?:j\S+|call)\s+([0-9a-f]+)\b', text)
    return int(direct[1], 16) if direct else 0


def edges(text, following):
    """How control leaves by an instruction; None: it does not."""
    word = re.sub(r'^(notrack|bnd|rep[nz]*|data16|cs) ', '', text).split()[0]
    if word.startswith('call'):
        return [(CALL, target(text))] + ([(CALL_RETURNS, following)] if following else [])
    if word.startswith('jmp'):
        return [(JUMP, target(text))] if target(text) else [(INDIRECT, 0)]
    if word.startswith('j'):
        return [(TAKEN, target(text)), (NOT_TAKEN, following)]
    if word.startswith('ret'):
        return [(RETURN, 0)]
    return [] if word in ('hlt', 'ud2') else None


def is_filler(text):
    return re.match(r'(data16 |cs )*nop|xchg\s+%ax,%ax', text) is not None


def main():
    named = functions(sys.argv[1])
    leaders = {target(text) for insns in named.values() for _, _, text in insns if text.split()[0].startswith('j')}
    for insns in named.values():
        start, runs_on = None, False
        for number, (at, size, text) in enumerate(insns):
            following = at + size if number + 1 < len(insns) else 0
            if start is None:
                if number and not runs_on and at not in leaders and is_filler(text):
                    continue
                start = at
            out = edges(text, following)
            runs_on = out is None or any(kind in (NOT_TAKEN, CALL_RETURNS) for kind, _ in out)
            if out is None and (following in leaders or not following):
                out = [(FALL, following)] if following else []
            if out is None:
                continue
            call = at if any(kind == CALL for kind, _ in out) else 0
            yield start, at + size, call, out
            start = None


for start, end, call, out in sorted(main()):
    print('%x %x %x %s' % (start, end, call, ','.join('%d:%x' % edge for edge in out)))
