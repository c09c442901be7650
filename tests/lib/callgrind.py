#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""Callgrind's calls of each function against a tree's.

    callgrind.py label DIRECTORY FILE...      copies whose functions have names, for stripped files;
                                              --all: also where a debug file has the names
    callgrind.py compare OUT COUNTS [REGEX]   OUT: callgrind --dump-instr=yes --compress-strings=no
                                              --compress-pos=no; COUNTS: calls --counts. REGEX:
                                              FILE:FUNCTION of what differs by nature

Callgrind sees every instruction, and so every call; but a jump is a call for it
where the function's name changes, so functions need names. A name is given to
each address at which the unwind information begins anew with the frame of a
call (CFA = rsp+8): parts that are only jumped into begin with another frame.
The same addresses are what is compared, all others are inside of functions.

A call counts by its edge: what an excluded object calls, as the loader calls
constructors and destructors, is not in the tree, nor is what is called by
functions that nobody else calls.

The first output line says how many calls callgrind saw, how many of them the
tree has, how many functions were compared and how many differ. Status 1: less
than 99.9 % of the calls, or more calls of a function than there were, but for
0.05 % of all (a copy more for a longer environment).
"""
import bisect
import collections
import os
import re
import shutil
import struct
import subprocess
import sys

# What one of the two cannot see: the tracer's own, the loader (a default exclusion), valgrind's.
EXCLUDED = re.compile(r'/(ld-linux[^/]*|liblttng-[^/]*|liburcu[^/]*|vgpreload[^/]*|\[vdso\])$|^\[vdso\]$|linux-vdso')


def output(*command):
    # readelf's status is 1 after a mere warning.
    return subprocess.run(command, capture_output=True, text=True, errors='replace',
                          env=dict(os.environ, LC_ALL='C')).stdout.splitlines()


class Binary:
    def __init__(self, path):
        loads = [line.split() for line in output('readelf', '-lW', path) if line.split()[:1] == ['LOAD']]
        self.base = int(loads[0][2], 16) & ~0xfff
        self.path, self.names = path, {}
        for candidate in (path, *self.debug_files()):
            for line in output('readelf', '-sW', candidate):
                words = line.split()
                if len(words) >= 8 and words[3] in ('FUNC', 'IFUNC') and words[6] != 'UND':
                    self.names.setdefault(int(words[1], 16), words[7].split('@')[0])
        self.entries = self.frames()

    def debug_files(self):
        for line in output('readelf', '-nW', self.path):
            if 'Build ID:' in line:
                ident = line.split()[-1]
                name = '/usr/lib/debug/.build-id/%s/%s.debug' % (ident[:2], ident[2:])
                return [name] if os.path.exists(name) else []
        return []

    def frames(self):
        """Addresses with an FDE that begins with the frame of a call, or says nothing beyond that (no rows: leaves)."""
        entries, pc = set(), None
        for line in output('readelf', '--debug-dump=frames-interp', self.path) + ['00000000 CIE']:
            match = re.search(r' FDE .*pc=([0-9a-f]+)\.\.', line)
            if pc is not None and re.match(r'^[0-9a-f]{16} +[a-z]', line):
                if line.split()[1] == 'rsp+8':
                    entries.add(pc)
                pc = None
            elif match or ' CIE' in line:
                if pc is not None:
                    entries.add(pc)
                pc = int(match.group(1), 16) if match else None
        return entries

    def name(self, address):
        return self.names.get(address, '0x%x' % address)

    def start(self):
        return int(next(line.split()[-1] for line in output('readelf', '-hW', self.path) if 'Entry point' in line), 16)

    def main(self):
        """From what _start hands to __libc_start_main()."""
        for address, name in self.names.items():
            if name == 'main':
                return address
        entry = self.start()
        text = output('objdump', '-d', '--start-address=%#x' % entry, '--stop-address=%#x' % (entry + 48), self.path)
        for line in text:
            match = re.search(r'lea .*,%rdi\s+# ([0-9a-f]+)|mov +\$0x([0-9a-f]+),%[er]di', line)
            if match:
                return int(match.group(1) or match.group(2), 16)
        return None


def label(directory, *files):
    everything, files = '--all' in files, [path for path in files if path != '--all']
    for path in files:
        binary = Binary(path)
        target = os.path.join(directory, os.path.basename(path))
        if not any(line.split()[1:2] == ['.symtab'] for line in sections(path)) and (everything or not binary.debug_files()):
            text = section_of(path)
            add = {address: 'f_%x' % address for address in binary.entries}
            if '.so' not in path and binary.main():
                add.update({binary.main(): 'main', binary.start(): '_start'})
            arguments = []
            for address, name in sorted(add.items()):
                section = text(address)
                if section:
                    arguments.append('--add-symbol %s=%s:%#x,function,global' % (name, section[0], address - section[1]))
            if not arguments:       # nothing but data
                shutil.copy2(path, target)
                continue
            with open(target + '.args', 'w') as out:
                out.write('\n'.join(arguments))
            subprocess.run(['objcopy', '@' + target + '.args', path, target], check=True)
            os.unlink(target + '.args')
            give_sizes(target, sorted(binary.entries))
        else:
            shutil.copy2(path, target)


def give_sizes(path, entries):
    """Each function up to the next one: valgrind looks at no symbol without a size."""
    table = next(line.split() for line in sections(path) if line.split()[1:2] == ['.symtab'])
    offset, size = int(table[4], 16), int(table[5], 16)
    with open(path, 'r+b') as stream:
        stream.seek(offset)
        data = bytearray(stream.read(size))
        for at in range(0, size, 24):
            value, length = struct.unpack_from('<QQ', data, at + 8)
            following = bisect.bisect(entries, value)
            if value and not length and following:
                end = entries[following] if following < len(entries) else value + 64
                struct.pack_into('<Q', data, at + 16, end - value)
        stream.seek(offset)
        stream.write(data)


def sections(path):
    return [re.sub(r'^ *\[ *(\d+)\]', r'\1', line) for line in output('readelf', '-SW', path)]


def section_of(path):
    table = []
    for line in sections(path):
        words = line.split()
        if len(words) > 5 and words[0].isdigit() and words[2] == 'PROGBITS':
            table.append((int(words[3], 16), int(words[5], 16), words[1]))
    table.sort()

    def find(address):
        at = bisect.bisect(table, (address, 1 << 64, '')) - 1
        if at >= 0 and address < table[at][0] + table[at][1] and table[at][0]:
            return table[at][2], table[at][0]
        return None
    return find


class Calls:
    """Callgrind's calls by edge. A function is (object, name as callgrind has it)."""

    def __init__(self, name):
        self.edges = collections.Counter()      # (caller, object of the callee, its address in memory): calls
        self.names = {}                         # what callgrind calls the function at (object, address)
        ob = fn = cob = cfn = None
        with open(name, errors='replace') as stream:
            for line in stream:
                if line.startswith('ob='):
                    ob = line[3:].strip()
                elif line.startswith('fn='):
                    fn = line[3:].strip()
                elif line.startswith('cob='):
                    cob = line[4:].strip()
                elif line.startswith('cfn='):
                    cfn = line[4:].strip()
                elif line.startswith('calls='):
                    count, target = line[6:].split()[:2]
                    self.edges[((ob, fn), cob or ob, int(target, 16))] += int(count)
                    self.names[(cob or ob, int(target, 16))] = cfn
                    cob = cfn = None

    def callee(self, ob, target):
        return ob, self.names[(ob, target)]

    def outside(self):
        """Functions that only the loader (or another excluded object) calls, and those that only such ones call."""
        callers = collections.defaultdict(set)
        for caller, ob, target in self.edges:
            callers[self.callee(ob, target)].add(caller)
        found, before = set(), None
        while before != len(found):
            before = len(found)
            found |= {function for function, by in callers.items() if function[1] != 'main' and
                      all(caller in found or EXCLUDED.search(caller[0]) for caller in by - {function})
                      and by - {function}}
        return found

    def inside(self):
        """{object: {address: calls}} of what is called from within the tree, and how many calls are not."""
        outside = self.outside()
        calls, left = collections.defaultdict(collections.Counter), 0
        for (caller, ob, target), count in self.edges.items():
            if EXCLUDED.search(ob) or not os.path.exists(ob):   # ???: unloaded by the end
                continue
            if caller in outside or EXCLUDED.search(caller[0]):
                left += count
            else:
                calls[ob][target] += count
        return calls, left


def load_bias(binary, targets, names, ob):
    """What must be taken from addresses in memory, by the vote of the functions with names."""
    addresses = collections.defaultdict(list)
    for address, name in binary.names.items():
        addresses[name].append(address)
    votes = collections.Counter()
    for target in targets:
        name = (names.get((ob, target)) or '').split("'")[0]
        if re.match(r'f_[0-9a-f]+$', name):
            votes[target - int(name[2:], 16)] += 1
        for address in addresses.get(name, ()):
            votes[target - address] += 1
    return max((b for b in votes if b % 4096 == 0), key=lambda b: votes[b], default=0)


def tree_counts(name):
    """{object: {address: calls}}"""
    calls = collections.defaultdict(collections.Counter)
    with open(name) as stream:
        for line in stream:
            count, where = line.rstrip('\n').split('\t')
            path, _, offset = where.rpartition('+')
            calls[path][int(offset, 16)] += int(count)
    return calls


def compare(out, counts, skip=None):
    graph = Calls(out)
    names = graph.names
    calls, apart = graph.inside()
    tree = {os.path.basename(path): (path, table) for path, table in tree_counts(counts).items() if not EXCLUDED.search(path)}
    seen = have = functions = 0
    differences, kept_out = [], collections.Counter()
    for ob, targets in calls.items():
        path, table = tree.pop(os.path.basename(ob), (ob, {}))
        binary = Binary(path)
        bias = load_bias(Binary(ob), [target for where, target in names if where == ob], names, ob)
        truth = collections.Counter({t - bias: n for t, n in targets.items() if t - bias in binary.entries})
        traced = collections.Counter({binary.base + offset: n for offset, n in table.items()})
        main = binary.main() if '.so' not in path else None
        for address in sorted(set(truth) | set(traced)):
            name = '%s:%s' % (os.path.basename(path), binary.name(address))
            if address == main:
                continue
            a, b = truth[address], traced[address]
            if skip and re.search(skip, name):
                kept_out[name] += a
                continue
            seen, have, functions = seen + a, have + min(a, b), functions + 1
            if a != b:
                differences.append((a, b, name))
    for path, table in tree.values():
        differences.append((0, sum(table.values()), path))
    print('callgrind %d calls, the tree %d of them (%.3f %%), %d functions, %d differ; left out %d calls of %d functions, and %d that excluded objects make' % (
        seen, have, 100 * have / max(seen, 1), functions, len(differences), sum(kept_out.values()), len(kept_out), apart))
    for a, b, name in sorted(differences, key=lambda d: -abs(d[0] - d[1]))[:40]:
        print('%9d %9d %s' % (a, b, name))
    excess = sum(max(b - a, 0) for a, b, _ in differences)
    return 1 if not seen or have < 0.999 * seen or excess > 0.0005 * seen else 0


if __name__ == '__main__':
    if sys.argv[1] == 'label':
        sys.exit(label(*sys.argv[2:]))
    sys.exit(compare(*sys.argv[2:]))
