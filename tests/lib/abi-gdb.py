# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""Run in gdb: stop at each function of a code map, and print its fields from raw registers and memory.

gdb -batch -ex 'py MAP="x.map"; OUT="out"' -x abi-gdb.py PROGRAM. See abi-gen.py.
"""
import gdb
import struct

data = open(MAP, 'rb').read()
SPAN0 = 8 + 4 + 4 + 8 + 4 + 2 + 2 + 32 + 16 + 8 + 8


def span(n):
    return struct.unpack_from('<QII', data, SPAN0 + 16 * n)


strings, funcs, fields = span(0), span(1), span(2)


def text(offset):
    at = strings[0] + offset
    return data[at:data.index(b'\0', at)].decode()


# by DWARF number
GPR = ['rax', 'rdx', 'rcx', 'rbx', 'rsi', 'rdi', 'rbp', 'rsp'] + ['r%d' % i for i in range(8, 16)]


def memory(address, size):
    return bytes(gdb.selected_inferior().read_memory(address & (1 << 64) - 1, size))


def register(name):
    return int(gdb.parse_and_eval('(unsigned long) $' + name))


def xmm(n):
    v = gdb.parse_and_eval('$xmm%d.v2_int64' % n)
    return struct.pack('<QQ', int(v[0]) & (1 << 64) - 1, int(v[1]) & (1 << 64) - 1)


def field_bytes(f, size, cfa):
    place, reg, offset = f['place'], f['reg'], f['offset']
    if place == 1:
        return struct.pack('<Q', register(GPR[reg]) & (1 << 64) - 1)[offset:offset + size]
    if place == 2:
        return xmm(reg)[offset:offset + size]
    if place == 3:
        return memory(cfa + offset, size)
    if place == 4:
        return memory(register(GPR[reg]) + offset, size)
    if place == 5:
        return struct.pack('<d', float(gdb.parse_and_eval('(double) $st0')))
    return None


def extended(raw):
    """80-bit x87 to the double nearest to it, by way of gdb's own number."""
    mantissa, = struct.unpack('<Q', raw[:8])
    top, = struct.unpack('<H', raw[8:10])
    value = mantissa * 2.0 ** ((top & 0x7fff) - 16383 - 63)
    return -value if top & 0x8000 else value


def show(f, cfa):
    kind, size = f['kind'], f['size']
    total = size * f['length'] if kind in (9, 10) else size
    raw = field_bytes(f, total, cfa)
    name = f['name']
    if raw is None:
        return [(name, '?')]
    if kind == 6:
        return [(name, '%.9g' % struct.unpack('<f', raw) if size == 4 else '%.17g' % struct.unpack('<d', raw))]
    if kind == 7:
        return [(name, '%.17g' % (struct.unpack('<d', raw)[0] if f['place'] == 5 else extended(raw)))]
    if kind == 8:
        at, = struct.unpack('<Q', raw)
        s = b''
        while not s.endswith(b'\0'):
            s += memory(at + len(s), 1)
        return [(name, '"%s"' % s[:-1].decode())]
    if kind == 9:
        return [(name, "'%s'" % raw.hex())]
    if kind == 10:
        return [('%s_%d' % (name, i), '%d' % int.from_bytes(raw[i * size:i * size + size], 'little', signed=bool(f['signed'])))
                for i in range(f['length'])]
    v = int.from_bytes(raw, 'little')
    bits = 8 * size
    if f['bit_size']:
        v = v >> f['bit_offset'] & (1 << f['bit_size']) - 1
        bits = f['bit_size']
    if f['signed'] and v >> (bits - 1):
        v -= 1 << bits
    return [(name, ('0x%x' if f['base'] == 16 else '%d') % v)]


def show_all(fields_list, cfa):
    """All fields; pieces of one text in several registers are one line again."""
    out = []
    for f in fields_list:
        for n, v in show(f, cfa):
            base, _, piece = n.rpartition('_')
            if f['kind'] == 9 and piece.isdigit() and int(piece) and out and out[-1][0] in (base, base + '_0'):
                out[-1] = (base, out[-1][1][:-1] + v[1:])
            else:
                out.append((n, v))
    return out


def read_fields(first, count):
    out = []
    for i in range(first, first + count):
        v = struct.unpack_from('<IIBBBBBBBBiIII', data, fields[0] + 32 * i)
        out.append(dict(zip(('name', 'type', 'kind', 'place', 'reg', 'size', 'signed', 'base', 'bit_offset', 'bit_size',
                             'offset', 'length', 'enum', 'param'), v)))
        out[-1]['name'] = text(v[0])
    return out


table = {}
for i in range(funcs[1]):
    at = funcs[0] + 96 * i
    vaddr, size, flags, name, pretty, event, source, first, nin, nout = struct.unpack_from('<QIIIIIIIHH', data, at)
    if text(name).startswith('f') and text(name)[1:].isdigit():
        table[vaddr] = (text(name), read_fields(first, nin), read_fields(first + nin, nout))

gdb.execute('set confirm off')
gdb.execute('set pagination off')
gdb.execute('set breakpoint always-inserted off')
gdb.execute('set startup-with-shell off')
gdb.execute('starti > /dev/null')
main = int(gdb.parse_and_eval('(unsigned long) &main'))
link = int(MAIN, 16)
for vaddr in table:
    gdb.Breakpoint('*0x%x' % (main - link + vaddr), internal=True)
out = open(OUT, 'w')
pending = []
while True:
    gdb.execute('continue', to_string=True)
    if not gdb.selected_inferior().pid:
        break
    pc = int(gdb.parse_and_eval('(unsigned long) $pc'))
    if pending and pc == pending[-1][0]:
        _, name, fields_out = pending.pop()
        lines = [(name, n, v) for n, v in show_all(fields_out, 0)]
    else:
        name, fields_in, fields_out = table[pc - main + link]
        rsp = register('rsp')
        lines = [(name, n, v) for n, v in show_all(fields_in, rsp + 8)]
        back, = struct.unpack('<Q', memory(rsp, 8))
        pending.append((back, name, fields_out))
        gdb.Breakpoint('*0x%x' % back, internal=True, temporary=True)
    for line in lines:
        out.write('%s %s %s\n' % line)
out.close()
