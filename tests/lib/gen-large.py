#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""gen-large.py MEGABYTES UNITS [VARIETY]: large.s and filler, which make a program with debug info of that size.

Each unit N has a function fN(int aN, long bN) that returns int, and a great many entries that
mean nothing, of which VARIETY are different. The function gN returns a type that the unit before
has, the last one's a type of the first unit.
"""
import struct
import sys

megabytes, units = int(sys.argv[1]), int(sys.argv[2])
variety = int(sys.argv[3]) if len(sys.argv) > 3 else 200000
count = megabytes * 1000000 // units // 9
state, out = 12345, bytearray()
for i in range(min(count, variety)):
    state = (state * 6364136223846793005 + 1442695040888963407) & 0xffffffffffffffff
    out += struct.pack('<BQ', 5, state >> (state & 31))
with open('filler', 'wb') as file:
    for i in range(0, count, variety):
        file.write(out[:9 * min(variety, count - i)])


def string(text):
    return '\t.asciz "%s"\n' % text


def attrs(*pairs):
    return ''.join('\t.uleb128 %d, %d\n' % pair for pair in pairs) + '\t.byte 0, 0\n'


NAME, LOW, HIGH, TYPE, LOCATION, ENCODING, SIZE, VALUE = 3, 0x11, 0x12, 0x49, 2, 0x3e, 0xb, 0x1c
STRING, ADDR, DATA8, REF4, EXPR, DATA1, REF_ADDR = 8, 1, 7, 0x13, 0x18, 0xb, 0x10
text, info, ranges = '\t.text\n', '', ''
for n in range(units):
    text += '\t.globl f%d, g%d\n\t.type f%d, @function\n\t.type g%d, @function\n' % (n, n, n, n)
    text += 'begin%d:\nf%d:\n\tlea 1(%%rdi), %%eax\n\tadd %%esi, %%eax\n\tret\n\t.size f%d, .-f%d\n' % (n, n, n, n)
    text += 'g%d:\n\tlea 2(%%rdi), %%eax\n\tadd %%esi, %%eax\n\tret\n\t.size g%d, .-g%d\nend%d:\n' % (n, n, n, n)
    info += 'unit%d:\n\t.long unit_end%d - unit%d - 4\n\t.short 5\n\t.byte 1, 8\n\t.long .Labbrev\n' % (n, n, n)
    info += '\t.uleb128 1\n' + string('unit%d' % n) + '\t.quad begin%d, end%d - begin%d\n' % (n, n, n)
    info += 'type%d:\n\t.uleb128 4\n' % n + string('int') + '\t.byte 5, 4\n'
    info += 'long%d:\n\t.uleb128 4\n' % n + string('long') + '\t.byte 5, 8\n'
    info += 'own%d:\n\t.uleb128 4\n' % n + string('type_of_%d' % n) + '\t.byte 5, 4\n'
    info += '\t.incbin "filler"\n'
    info += '\t.uleb128 2\n' + string('f%d' % n) + '\t.quad f%d, g%d - f%d\n\t.long type%d - unit%d\n' % (n, n, n, n, n)
    for name, type_, register in (('a', 'type', 0x55), ('b', 'long', 0x54)):
        info += '\t.uleb128 3\n' + string('%s%d' % (name, n)) + '\t.long %s%d - unit%d\n' % (type_, n, n)
        info += '\t.uleb128 1\n\t.byte %d\n' % register
    info += '\t.byte 0\n'
    other = 0 if n == units - 1 else max(n - 1, 0)
    info += '\t.uleb128 6\n' + string('g%d' % n) + '\t.quad g%d, end%d - g%d\n' % (n, n, n)
    info += '\t.long .Linfo + (own%d - unit0)\n\t.byte 0\nunit_end%d:\n' % (other, n)
    ranges += '\t.long 2f - 1f\n1:\t.short 2\n\t.long .Linfo + (unit%d - unit0)\n\t.byte 8, 0\n\t.long 0\n' % n
    ranges += '\t.quad begin%d, end%d - begin%d, 0, 0\n2:\n' % (n, n, n)
abbrev = '.Labbrev:\n'
for number, tag, children, pairs in (
        (1, 0x11, 1, ((NAME, STRING), (LOW, ADDR), (HIGH, DATA8))),
        (2, 0x2e, 1, ((NAME, STRING), (LOW, ADDR), (HIGH, DATA8), (TYPE, REF4))),
        (3, 0x05, 0, ((NAME, STRING), (TYPE, REF4), (LOCATION, EXPR))),
        (4, 0x24, 0, ((NAME, STRING), (ENCODING, DATA1), (SIZE, DATA1))),
        (5, 0x27, 0, ((VALUE, DATA8),)),
        (6, 0x2e, 0, ((NAME, STRING), (LOW, ADDR), (HIGH, DATA8), (TYPE, REF_ADDR)))):
    abbrev += '\t.uleb128 %d, %d\n\t.byte %d\n' % (number, tag, children) + attrs(*pairs)
with open('large.s', 'w') as file:
    file.write(text + '\t.globl main\n\t.type main, @function\nmain:\n\txor %eax, %eax\n\tret\n\t.size main, .-main\n')
    file.write('\t.section .debug_info,"",@progbits\n.Linfo:\n' + info)
    file.write('\t.section .debug_abbrev,"",@progbits\n' + abbrev + '\t.byte 0\n')
    file.write('\t.section .debug_aranges,"",@progbits\n' + ranges)
    file.write('\t.section .note.GNU-stack,"",@progbits\n')
