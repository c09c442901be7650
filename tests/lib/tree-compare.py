#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""A tree's map against what binutils say about the same file.

tree-compare.py FILE DUMP [LABELS | --stripped DUMP]: DUMP is mapdump's text. Prints lines
"BAD<TAB>what was compared, with counts"; details of what differs begin with "# ".

Truth is objdump's disassembly, readelf's unwind tables (each row with its CFA),
symbols and relocations; none of spi-codemap's own decoding, guessing or reading is used.
With LABELS the file keeps its compiler's local labels as symbols: where jumps,
switch tables and exceptions lead to.
"""
import bisect
import os
import re
import subprocess
import sys
import tempfile

ENV = dict(os.environ, LC_ALL='C')


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=ENV, text=True,
                          errors='replace').stdout.splitlines()


def report(bad, text, details=()):
    for line in list(details)[:12]:
        print('# ' + line)
    print('%d\t%s' % (bad, text))


class Truth:
    """What binutils say."""

    def __init__(self, path):
        self.path = path
        self.sections()
        self.symbols()
        self.frames()
        self.relocations()
        self.disassemble()

    def sections(self):
        self.plt = []
        for line in run('readelf', '-SW', self.path):
            found = re.match(r'\s*\[\s*\d+\]\s+(\.i?plt\S*)\s+\S+\s+([0-9a-f]+)\s+[0-9a-f]+\s+([0-9a-f]+)', line)
            if found:
                start = int(found[2], 16)
                self.plt.append((start, start + int(found[3], 16)))

    def in_plt(self, address):
        return any(low <= address < high for low, high in self.plt)

    def symbols(self):
        """Names by address, ranges, from the file and its separate debug file."""
        self.names, self.ranges, self.labels, self.sizeless = {}, [], set(), set()
        ident = [line.split()[-1] for line in run('readelf', '-nW', self.path) if 'Build ID' in line]
        files = [self.path]
        if ident:
            files.append('/usr/lib/debug/.build-id/%s/%s.debug' % (ident[0][:2], ident[0][2:]))
        for path in files:
            for line in run('readelf', '-sW', path):
                part = line.split()
                if len(part) < 8 or not part[0].endswith(':') or not part[6].isdigit():
                    continue
                value = int(part[1], 16)
                if part[3] in ('FUNC', 'IFUNC') and value:
                    size = int(part[2], 0)
                    self.names.setdefault(value, []).append(part[7].split('@')[0])
                    if size:
                        self.ranges.append((value, value + size))
                    else:
                        self.sizeless.add(value)
                elif re.match(r'\.L(BB\d+_)?\d+$', part[7]):
                    self.labels.add(value)

    def frames(self):
        """Rows of the unwind tables, by address."""
        rows, self.fdes = {}, []
        for line in run('readelf', '-wF', self.path):
            found = re.search(r' FDE .*pc=([0-9a-f]+)\.\.([0-9a-f]+)', line)
            if found:
                low, high = int(found[1], 16), int(found[2], 16)
                self.fdes.append((low, high))
                rows.setdefault(low, 'rsp+8')
                continue
            found = re.match(r'([0-9a-f]{16}) (\S+)', line)
            if found and self.fdes and int(found[1], 16):
                rows[int(found[1], 16)] = found[2]
        for low, high in self.fdes:
            rows.setdefault(high, 'none')
        self.row_at = sorted(rows)
        self.row = [rows[at] for at in self.row_at]
        self.fdes.sort()
        self.fde_starts = [low for low, high in self.fdes]
        self.ranges = sorted(set(self.ranges))
        self.range_starts = [low for low, high in self.ranges]
        self.sizeless -= set(self.range_starts)
        self.starts = sorted(set(self.names) | set(self.fde_starts))

    def cfa(self, address):
        i = bisect.bisect_right(self.row_at, address) - 1
        return self.row[i] if i >= 0 else 'none'

    def around(self, address):
        """All symbols' and tables' ranges that hold the address."""
        found = []
        i = bisect.bisect_right(self.fde_starts, address) - 1
        if i >= 0 and address < self.fdes[i][1]:
            found.append(self.fdes[i])
        i = bisect.bisect_right(self.range_starts, address) - 1
        for k in range(max(0, i - 40), i + 1):
            if self.ranges[k][0] <= address < self.ranges[k][1]:
                found.append(self.ranges[k])
        i = bisect.bisect_right(self.starts, address)
        if not found and i and self.starts[i - 1] in self.sizeless:
            found.append((self.starts[i - 1], self.starts[i] if i < len(self.starts) else address + 1))
        return found

    def relocations(self):
        self.slots, self.has_tlsdesc = {}, False
        for line in run('readelf', '-rW', self.path):
            part = line.split()
            if len(part) < 3 or not part[2].startswith('R_X86_64_'):
                continue
            self.has_tlsdesc |= part[2] == 'R_X86_64_TLSDESC'
            if part[2] in ('R_X86_64_JUMP_SLOT', 'R_X86_64_JUMP_SLO', 'R_X86_64_GLOB_DAT'):
                name, _, version = part[4].partition('@')
                self.slots[int(part[0], 16)] = name + '@' + (version.lstrip('@') or '-')
            elif part[2].startswith('R_X86_64_IRELATIV'):
                self.slots[int(part[0], 16)] = '-@-'

    def disassemble(self):
        self.insns = {}
        self.order = []
        for line in run('objdump', '-dw', self.path):
            part = line.split('\t')
            if len(part) < 3 or not part[0].endswith(':'):
                continue
            at = int(part[0].strip()[:-1], 16)
            self.insns[at] = (len(part[1].split()), part[2].strip())
            self.order.append(at)

    def is_start(self, address):
        """Is a function called by this address? A name that is no .cold one, or a table that begins as a call leaves it."""
        if self.in_plt(address) or self.cfa(address) not in ('rsp+8', 'none'):
            return False
        names = self.names.get(address)
        if names:
            return not any(re.search(r'.\.cold(\.|$)', name) for name in names)
        if address not in self.fde_starts_set:
            return False
        return not any(low < address < high for low, high in self.around(address))

    @property
    def fde_starts_set(self):
        if not hasattr(self, '_starts'):
            self._starts = set(self.fde_starts)
        return self._starts


JUMP = re.compile(r'(?:bnd |notrack |addr32 |data16 |rex\.\S+ |cs |ds )*(call|jmp|j[a-z]+|loop\w*|xbegin)(?:,p[nt])?\s+(.*)')


def flow_of(text):
    """(mnemonic, direct target or None, operand) of a call or jump; None for others."""
    found = JUMP.match(text)
    if not found:
        return None
    direct = re.match(r'([0-9a-f]+)(?: <(.*)>)?', found[2])
    if direct and not found[2].startswith('*'):
        return found[1], int(direct[1], 16), direct[2] or ''
    return found[1], None, found[2]


class Site:
    def __init__(self, line):
        part = line.split()
        self.at, self.kind = int(part[1], 16), part[2]
        self.size, self.before, self.after = int(part[3]), int(part[4]), int(part[5])
        self.target, self.condition = int(part[6], 16), int(part[7])
        self.pad, self.pad_size = int(part[8]), int(part[9])
        self.bytes = part[10]
        self.code = b'' if part[11] == '-' else bytes.fromhex(part[11])
        self.fixes = part[12:14]
        self.moved = [] if part[14] == '-' else [tuple(map(int, word.split('@'))) for word in part[14].split(',')]
        self.importing = part[15]
        self.is_call = self.kind.startswith('CALL')


def read_dump(path):
    sites, funcs, pieces = {}, [], {}
    with open(path, errors='replace') as dump:
        for line in dump:
            if line.startswith('site '):
                site = Site(line)
                sites[site.at] = site
            elif line.startswith('func '):
                part = line.split('\t')[0].split(' ', 4)
                funcs.append((int(part[1], 16), int(part[2]), part[4]))
            elif line.startswith('tree '):
                part = line.split('\t')[0].split()
                pieces[int(part[1], 16)] = int(part[4], 16), 'part of another' in line
    return sites, funcs, pieces


def compare_calls(truth, sites):
    bad, kinds, named = [], {}, {}
    seen = set()
    for at in truth.order:
        flow = flow_of(truth.insns[at][1])
        if not flow or flow[0] != 'call' or truth.in_plt(at):
            continue
        around = truth.around(at)
        if not around:
            named['outside of functions'] = named.get('outside of functions', 0) + 1
            continue
        seen.add(at)
        site = sites.get(at)
        text = truth.insns[at][1]
        target = flow[1]
        if not site:
            inside = target is not None and any(low <= target < high for low, high in around)
            if inside and not truth.is_start(target):
                named['of a place inside the function'] = named.get('of a place inside the function', 0) + 1
            elif truth.has_tlsdesc and text == 'call   *(%rax)':
                named['of a TLS descriptor'] = named.get('of a TLS descriptor', 0) + 1
            else:
                bad.append('%x: %s: no site' % (at, text))
            continue
        kinds[site.kind] = kinds.get(site.kind, 0) + 1
        if site.size != truth.insns[at][0]:
            bad.append('%x: %s: size %d' % (at, text, site.size))
        if target is None:
            rip = re.search(r'\(%rip\)\s*# ([0-9a-f]+)', text)
            is_slot = rip and int(rip[1], 16) in truth.slots    # else the word is a variable
            if is_slot and (site.kind != 'CALL_SLOT' or site.target != int(rip[1], 16)):
                bad.append('%x: %s: is %s %x' % (at, text, site.kind, site.target))
            elif not is_slot and site.kind != 'CALL_INDIRECT':
                bad.append('%x: %s: is %s' % (at, text, site.kind))
        elif truth.in_plt(target) if truth.plt else flow[2].endswith('@plt'):
            name = re.match(r'(\S+)@plt$', flow[2])
            wanted = name[1] if name and not name[1].startswith('*ABS*') else '-'
            if site.kind != 'CALL_SLOT' or site.importing.split('@')[0] != wanted.split('@')[0]:
                bad.append('%x: %s: is %s of %s' % (at, text, site.kind, site.importing))
        elif site.kind != 'CALL' or site.target != target:
            bad.append('%x: %s: is %s %x' % (at, text, site.kind, site.target))
    bad += ['%x: %s: not a call that objdump shows' % (s.at, s.kind) for s in sites.values()
            if s.is_call and s.at not in seen]
    left = ', '.join('%d %s' % (n, why) for why, n in sorted(named.items()))
    report(len(bad), 'calls: %s%s' % (' '.join('%s %d' % k for k in sorted(kinds.items())),
                                      '; left out: ' + left if left else ''), bad)


def compare_slots(truth, sites):
    bad = []
    count = 0
    for site in sites.values():
        if not site.kind.endswith('_SLOT'):
            continue
        count += 1
        wanted = truth.slots.get(site.target, '-@-')
        if site.importing != wanted:
            bad.append('%x: slot %x: %s, readelf says %s' % (site.at, site.target, site.importing, wanted))
    report(len(bad), 'slots: %d bound to what the relocation says, version included' % count, bad)


def compare_tails(truth, sites):
    """Jumps out of a function with the caller's stack, by readelf's rows."""
    bad, pieces = [], set()
    wanted = set()
    called = set(flow[1] for flow in (flow_of(truth.insns[at][1]) for at in truth.order) if flow and flow[0] == 'call')
    for at in truth.order:
        flow = flow_of(truth.insns[at][1])
        if not flow or flow[0] in ('call', 'xbegin') or flow[0].startswith('loop') or flow[0] in ('jrcxz', 'jecxz'):
            continue
        around = truth.around(at)
        if truth.in_plt(at) or not around or truth.cfa(at) != 'rsp+8':
            continue
        if flow[1] is None:
            continue
        if any(low <= flow[1] < high for low, high in around):
            continue
        if truth.is_start(flow[1]) or flow[2].endswith('@plt'):
            site = sites.get(at)
            if not site and flow[0] != 'jmp' and flow[1] not in called and not truth.names.get(flow[1]):
                pieces.add(flow[1])
                continue
            wanted.add(at)
            if not site:
                bad.append('%x: %s: no site' % (at, truth.insns[at][1]))
            elif not site.kind.endswith('_SLOT') and site.target != flow[1]:
                bad.append('%x: %s: target %x' % (at, truth.insns[at][1], site.target))
    for site in sites.values():
        if site.kind in ('JUMP', 'JCC', 'JCC_SLOT') and site.at not in wanted:
            bad.append('%x: %s to %x: not one by the unwind rows (%s there, %s at its target)' % (
                site.at, site.kind, site.target, truth.cfa(site.at), truth.cfa(site.target)))
    indirect = [s for s in sites.values() if s.kind == 'JUMP_INDIRECT' or s.kind == 'JUMP_SLOT']
    for site in indirect:
        if truth.cfa(site.at) != 'rsp+8':
            bad.append('%x: %s: the stack is not the caller\'s' % (site.at, site.kind))
    report(len(bad), 'tail calls: %d direct ones, the same; %d through pointers, all with the caller\'s stack%s' % (
        len(wanted), len(indirect), '; %d unnamed pieces' % len(pieces) if pieces else ''), bad)


def moved_text(text, is_call):
    """How an instruction reads where it is moved to."""
    text = re.sub(r'\s*#.*', '', text)
    text = re.sub(r'(0x|-0x)?[0-9a-f]*\(%rip\)', 'X(%rip)', text)
    text = re.sub(r'\s+', ' ', text).strip()
    if not is_call:
        return text
    found = re.match(r'mov %rsp,(%r\w+)$', text)
    if found:
        return 'lea 0x8(%%rsp),%s' % found[1]

    def shift(match):
        value = int(match[1] or '0', 16) + 8
        return '%s0x%x(%%rsp' % ('-' if value < 0 else '', abs(value)) if value else '(%rsp'
    return re.sub(r'(-?0x[0-9a-f]+)?\(%rsp', shift, text)


def compare_moved(truth, sites):
    """Code in the map: decoded by objdump, the moved instructions and the load of the target, nothing else."""
    withcode = [s for s in sites.values() if s.code]
    with tempfile.NamedTemporaryFile() as blob:
        for site in withcode:
            blob.write(site.code + b'\x90' * (64 - len(site.code)))
        blob.flush()
        found = {}
        for line in run('objdump', '-Dw', '-b', 'binary', '-m', 'i386:x86-64', blob.name):
            part = line.split('\t')
            if len(part) >= 3 and part[0].endswith(':'):
                found[int(part[0].strip()[:-1], 16)] = (len(part[1].split()), part[2].strip())
    bad, moved = [], 0
    for number, site in enumerate(withcode):
        at, end, texts = number * 64, number * 64 + len(site.code), []
        while at < end and at in found:
            texts.append(moved_text(found[at][1], False))
            at += found[at][0]
        wanted, old = [], site.at - site.before
        while old < site.at and old in truth.insns:
            wanted.append(moved_text(truth.insns[old][1], site.is_call))
            old += truth.insns[old][0]
            moved += 1
        own = truth.insns.get(site.at, (0, ''))[1]
        operand = re.search(r'\*(.*)$', own)
        if site.kind.endswith('INDIRECT') and operand and operand[1] != '%r11':
            segment = re.sub(r'\s*#.*', '', operand[1])
            wanted.append(moved_text('mov %s,%%r11' % segment, site.is_call))
        sizes, old = [size for size, _ in site.moved], site.at - site.before
        cuts = [sum(sizes[:i]) for i in range(len(sizes))]
        copies = [number * 64 + copy for _, copy in site.moved]
        if [old + cut for cut in cuts] != [t for t in range(old, site.at) if t in truth.insns] or not set(copies) <= set(found):
            bad.append('%x: %s: its instructions are told as %s' % (site.at, own, site.moved))
            continue
        old += sum(sizes)
        if at != end or texts != wanted or old != site.at:
            bad.append('%x: %s: moved as %s, wanted %s' % (site.at, own, texts, wanted))
            continue
        # rip-relative operands, in order
        fixes = [f.split('=')[1] for f in site.fixes if f != '-']
        means, old = [], site.at - site.before
        while old < site.at:
            rip = re.search(r'# ([0-9a-f]+)', truth.insns[old][1])
            means += [rip[1]] if rip else []
            old += truth.insns[old][0]
        if site.kind.endswith('INDIRECT'):
            rip = re.search(r'# ([0-9a-f]+)', own)
            means += [rip[1]] if rip else []
        if fixes != means:
            bad.append('%x: rip operands mean %s, in the map %s' % (site.at, means, fixes))
    report(len(bad), 'moved code: %d sites, %d instructions moved, each as it was' % (len(withcode), moved), bad)


FILLER = re.compile(r'(data16 |cs |ds |rex\.W )*(nop|xchg   %ax,%ax|int3)')


def compare_windows(truth, sites, funcs, labels):
    """Room: nothing jumps between its instructions, no function begins there; how many have it."""
    targets = set(at for at, size, name in funcs) | set(truth.names)
    for at in truth.order:
        flow = flow_of(truth.insns[at][1])
        # Behind functions there may be data, which objdump takes for instructions.
        if flow and flow[1] is not None and truth.around(at):
            targets.add(flow[1])
    if labels:
        targets |= truth.labels
    bad, room, pads = [], 0, 0
    data = {}
    for site in sites.values():
        start, end = site.at - site.before, site.at + site.size
        if site.after != 255:
            room += site.before + site.size + site.after >= 5
            inside = [t for t in range(start + 1, end + site.after) if t in targets and t != end]
            if inside or (site.after and end in truth.labels):
                bad.append('%x: something jumps to %x in its window' % (site.at, inside[0]))
            behind = [truth.insns[t][1] for t in range(end, end + site.after) if t in truth.insns]
            if site.after and (site.is_call or not all(FILLER.match(text) for text in behind)):
                bad.append('%x: behind it there is %s' % (site.at, behind))
        if site.pad_size:
            pads += 1
            low = site.at + site.pad
            if not site.at + 2 - 128 <= low <= site.at + 2 + 127:
                bad.append('%x: padding at %x is out of reach' % (site.at, low))
            key = (low, site.pad_size)
            if key not in data:
                data[key] = [t for t in range(low, low + site.pad_size) if t in targets] or [
                    truth.insns[t][1] for t in range(low, low + site.pad_size) if t in truth.insns and not FILLER.match(truth.insns[t][1])]
                before = [t for t in range(low - 15, low) if t in truth.insns]
                while before and truth.insns[before[-1]][1].startswith(('nop', 'int3', 'data16', 'cs nop', 'xchg')):
                    before = [t for t in range(before[-1] - 15, before[-1]) if t in truth.insns]
                if before and not re.match(r'(repz |bnd |notrack )*(ret|jmp|ud2|hlt)', truth.insns[before[-1]][1]):
                    data[key].append('runs on from ' + truth.insns[before[-1]][1])
            if data[key]:
                bad.append('%x: padding at %x: %s' % (site.at, low, data[key]))
    total = len(sites) or 1
    report(len(bad), 'room: %.2f %% of %d sites, nothing arrives inside%s; %d can reach padding' % (
        100.0 * room / total, len(sites), ' by %d labels' % len(truth.labels) if labels else '', pads), bad)


def all_names(truth, name):
    """The name and its aliases."""
    if not hasattr(truth, 'aliases'):
        truth.aliases = {}
        for texts in truth.names.values():
            for text in texts:
                truth.aliases.setdefault(text, set()).update(texts)
    return truth.aliases.get(name, {name})


def compare_pieces(truth, funcs, pieces):
    """NAME.cold is found from NAME; no piece belongs to two."""
    names = {at: name for at, size, name in funcs}
    bad, owner, cold = [], {}, 0
    for at in pieces:
        piece, steps = pieces[at][0], 0
        if pieces[at][1]:
            continue
        while piece and steps < 1000:
            if piece in owner:
                bad.append('%x: %s: a piece of %s and of %s' % (piece, names[piece], owner[piece], names[at]))
            owner[piece] = names[at]
            piece, steps = pieces[piece][0], steps + 1
    for at, texts in truth.names.items():
        for name in texts:
            base = re.match(r'(.+)\.cold(\.\d+)?$', name)
            if not base or at not in names or truth.insns.get(at, (0, 'nop'))[1].startswith('nop'):
                continue
            cold += 1
            if at not in owner:
                bad.append('%x: %s is nobody\'s piece' % (at, name))
            elif len(texts) == 1 and owner[at] not in all_names(truth, base[1]):
                bad.append('%x: %s is a piece of %s' % (at, name, owner[at]))
    report(len(bad), 'pieces: %d, of these %d .cold by their names, each its function\'s' % (len(owner), cold), bad)


def compare_stripped(truth, sites, bare):
    """Stripped, a file has the same sites where its unwind tables say that there is code; more jumps may count."""
    starts = truth.fde_starts
    bad = []
    for site in sites.values():
        i = bisect.bisect_right(starts, site.at) - 1
        if i >= 0 and site.at < truth.fdes[i][1] and (site.at not in bare or bare[site.at].kind != site.kind):
            bad.append('%x: %s: not in the stripped file' % (site.at, site.kind))
    more = [s for s in bare.values() if s.at not in sites]
    bad += ['%x: %s: in the stripped file only' % (s.at, s.kind) for s in more if s.kind not in ('JUMP', 'JCC')]
    report(len(bad), 'stripped: the same %d sites; %d jumps to unnamed pieces count as calls' % (len(sites), len(more)), bad)


def main():
    truth = Truth(sys.argv[1])
    if sys.argv[3:4] == ['--stripped']:
        compare_stripped(truth, read_dump(sys.argv[2])[0], read_dump(sys.argv[4])[0])
        return
    sites, funcs, pieces = read_dump(sys.argv[2])
    compare_calls(truth, sites)
    compare_slots(truth, sites)
    compare_tails(truth, sites)
    compare_moved(truth, sites)
    compare_windows(truth, sites, funcs, len(sys.argv) > 3)
    compare_pieces(truth, funcs, pieces)


main()
