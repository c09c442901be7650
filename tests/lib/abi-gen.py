#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""Write a C program of functions with random signatures: abi-gen.py SEED COUNT > test.c

Each function prints, from its own parameters and in the compiler's understanding
of them, one line "function field value" per field that its code map should have,
and does the same for what it returns. abi-gdb.py prints the same lines from raw
registers and memory at the first and the last instruction, decoded by the map
alone. Both must agree.
"""
import random
import sys

seed, count = int(sys.argv[1]), int(sys.argv[2])
rnd = random.Random(seed)

PRELUDE = r'''
#include <complex.h>
#include <stdio.h>
#include <stdint.h>
#include <string.h>
#include <stdbool.h>
#define NI __attribute__((noinline, noclone, noipa))
enum color { RED, GREEN = 5, BLUE = -3 };
enum big { SMALL, HUGE_ = 4000000000u };
typedef unsigned long word_t;
typedef const char *text_t;
struct one { int x; };
struct two { int x; float y; };
struct mix { double d; long n; };
struct fl2 { float a, b; };
struct fl3 { float a, b, c; };
struct dd { double a, b; };
struct chars { char t[12]; short s; };
struct arr { int v[3]; };
struct sarr { short v[8]; };
struct big3 { long a; double b; int c; char t[6]; };
struct nest { struct one o; struct { char c; unsigned char u; } in; void *p; };
struct bits { unsigned a : 3; int b : 7; unsigned long c : 40; bool d : 1; };
struct bits2 { unsigned char a : 4, b : 4; short c; };
union un { int i; double d; };
struct withun { union un u; int k; };
struct __attribute__((packed)) pk { char c; int i; };
struct ldst { long double l; };
struct many { long v[5]; char name[10]; };
struct ptrs { const char *name; int *p; };
struct e1 { enum color c; bool f; char ch; };
struct al { int a; } __attribute__((aligned(16)));
typedef float v4 __attribute__((vector_size(16)));
typedef int v2i __attribute__((vector_size(8)));
static const char *const words[] = { "alpha", "", "gamma ray", "delta" };
static void hex(const char *f, const char *n, unsigned long v) { printf("%s %s 0x%lx\n", f, n, v); }
static void sgn(const char *f, const char *n, long v) { printf("%s %s %ld\n", f, n, v); }
static void uns(const char *f, const char *n, unsigned long v) { printf("%s %s %lu\n", f, n, v); }
static void flt(const char *f, const char *n, double v) { printf("%s %s %.9g\n", f, n, v); }
static void dbl(const char *f, const char *n, double v) { printf("%s %s %.17g\n", f, n, v); }
static void str(const char *f, const char *n, const char *v) { printf("%s %s \"%s\"\n", f, n, v); }
static void txt(const char *f, const char *n, const char *v, int k)
{ printf("%s %s '", f, n); for (int i = 0; i < k; i++) printf("%02x", (unsigned char) v[i]); puts("'"); }
static void raw(const char *f, const char *n, const void *p, int k)
{ unsigned long v = 0; memcpy(&v, p, k); printf("%s %s 0x%lx\n", f, n, v); }
'''


def integer(bits, signed):
    v = rnd.getrandbits(bits)
    if signed and v >> (bits - 1):
        v -= 1 << bits
    return v


def lit(v, suffix=''):
    if v == -(1 << 63):
        return '(-9223372036854775807L - 1)'
    return '%d%s' % (v, suffix)


def real():
    return '%d.%d' % (rnd.randint(-1000, 1000), rnd.choice([0, 5, 25, 125, 625]))


# Leaves: C type, maker of a literal, printer(function, field, expression) of C statements
def leaf_int(ctype, bits, signed):
    call = 'sgn' if signed else 'uns'
    return (ctype, lambda: lit(integer(bits, signed), 'L' if signed else 'UL'),
            lambda f, n, e: ['%s("%s", "%s", %s);' % (call, f, n, e)])


def ptr(f, n, e):
    return ['hex("%s", "%s", (unsigned long) %s);' % (f, n, e)]


SCALARS = {
    'char': ('char', lambda: str(rnd.randint(32, 126)), lambda f, n, e: ['sgn("%s", "%s", %s);' % (f, n, e)]),
    'signed char': leaf_int('signed char', 8, True),
    'unsigned char': leaf_int('unsigned char', 8, False),
    'short': leaf_int('short', 16, True),
    'unsigned short': leaf_int('unsigned short', 16, False),
    'int': leaf_int('int', 32, True),
    'unsigned': leaf_int('unsigned', 32, False),
    'long': leaf_int('long', 64, True),
    'word_t': leaf_int('word_t', 64, False),
    'int64_t': leaf_int('int64_t', 64, True),
    'bool': ('bool', lambda: rnd.choice(['true', 'false']), lambda f, n, e: ['uns("%s", "%s", %s);' % (f, n, e)]),
    'float': ('float', lambda: real() + 'f', lambda f, n, e: ['flt("%s", "%s", %s);' % (f, n, e)]),
    'double': ('double', real, lambda f, n, e: ['dbl("%s", "%s", %s);' % (f, n, e)]),
    'long double': ('long double', lambda: real() + 'L', lambda f, n, e: ['dbl("%s", "%s", (double) %s);' % (f, n, e)]),
    'void *': ('void *', lambda: '(void *) 0x%xUL' % integer(48, False), ptr),
    'struct one *': ('struct one *', lambda: '(struct one *) 0x%xUL' % integer(48, False), ptr),
    'text_t': ('text_t', lambda: 'words[%d]' % rnd.randint(0, 3), lambda f, n, e: ['str("%s", "%s", %s);' % (f, n, e)]),
    'char *': ('char *', lambda: '(char *) words[%d]' % rnd.randint(0, 3),
               lambda f, n, e: ['str("%s", "%s", %s);' % (f, n, e)]),
    'enum color': ('enum color', lambda: rnd.choice(['RED', 'GREEN', 'BLUE']),
                   lambda f, n, e: ['sgn("%s", "%s", %s);' % (f, n, e)]),
    'enum big': ('enum big', lambda: rnd.choice(['SMALL', 'HUGE_']), lambda f, n, e: ['uns("%s", "%s", %s);' % (f, n, e)]),
    '__int128': ('__int128', lambda: '((__int128) 0x%xUL << 64 | 0x%xUL)' % (integer(63, False), integer(64, False)),
                 lambda f, n, e: ['hex("%s", "%s_lo", (unsigned long) %s);' % (f, n, e),
                                  'hex("%s", "%s_hi", (unsigned long) (%s >> 64));' % (f, n, e)]),
    'float complex': ('float complex', lambda: '(%sf + %sf * I)' % (real(), real()),
                      lambda f, n, e: ['flt("%s", "%s_re", crealf(%s));' % (f, n, e), 'flt("%s", "%s_im", cimagf(%s));' % (f, n, e)]),
    'double complex': ('double complex', lambda: '(%s + %s * I)' % (real(), real()),
                       lambda f, n, e: ['dbl("%s", "%s_re", creal(%s));' % (f, n, e), 'dbl("%s", "%s_im", cimag(%s));' % (f, n, e)]),
    'v4': ('v4', lambda: '(v4) { %sf, %sf, %sf, %sf }' % tuple(real() for _ in range(4)),
           lambda f, n, e: ['flt("%s", "%s_%d", %s[%d]);' % (f, n, i, e, i) for i in range(4)]),
    'v2i': ('v2i', lambda: '(v2i) { %d, %d }' % (integer(32, True), integer(32, True)),
            lambda f, n, e: ['sgn("%s", "%s_%d", %s[%d]);' % (f, n, i, e, i) for i in range(2)]),
}


def int_array(ctype, bits, k):
    """In memory one array field, in registers one field an element: both print as elements here."""
    return ('array', ctype, bits, k)


def text(k):
    return ('text', k)


def bitfield(ctype, bits, signed):
    return ('bits', ctype, bits, signed)


STRUCTS = {
    'struct one': [('x', 'int')],
    'struct two': [('x', 'int'), ('y', 'float')],
    'struct mix': [('d', 'double'), ('n', 'long')],
    'struct fl2': [('a', 'float'), ('b', 'float')],
    'struct fl3': [('a', 'float'), ('b', 'float'), ('c', 'float')],
    'struct dd': [('a', 'double'), ('b', 'double')],
    'struct chars': [('t', text(12)), ('s', 'short')],
    'struct arr': [('v', int_array('int', 32, 3))],
    'struct sarr': [('v', int_array('short', 16, 8))],
    'struct big3': [('a', 'long'), ('b', 'double'), ('c', 'int'), ('t', text(6))],
    'struct nest': [('o.x', 'int'), ('in.c', 'char'), ('in.u', 'unsigned char'), ('p', 'void *')],
    'struct bits': [('a', bitfield('unsigned', 3, False)), ('b', bitfield('int', 7, True)),
                    ('c', bitfield('unsigned long', 40, False)), ('d', bitfield('bool', 1, False))],
    'struct bits2': [('a', bitfield('unsigned', 4, False)), ('b', bitfield('unsigned', 4, False)), ('c', 'short')],
    'struct withun': [('u', ('union', 8)), ('k', 'int')],
    'struct pk': [('c', 'char'), ('i', 'int')],
    'struct ldst': [('l', 'long double')],
    'struct many': [('v', int_array('long', 64, 5)), ('name', text(10))],
    'struct ptrs': [('name', 'text_t'), ('p', 'void *')],
    'struct e1': [('c', 'enum color'), ('f', 'bool'), ('ch', 'char')],
    'struct al': [('a', 'int')],
}


def member_literal(kind):
    if isinstance(kind, str):
        return SCALARS[kind][1]()
    if kind[0] == 'array':
        return '{ %s }' % ', '.join(lit(integer(kind[2], True), 'L') for _ in range(kind[3]))
    if kind[0] == 'text':
        return '"%s"' % ''.join(rnd.choice('abcxyz') for _ in range(rnd.randint(0, kind[1] - 1)))
    if kind[0] == 'union':
        return '{ .d = %s }' % real()
    return lit(integer(kind[2], kind[3]), '')


def make_value(t):
    if t in SCALARS:
        return SCALARS[t][1]()
    if t == 'union un':
        return '(union un) { .d = %s }' % real()
    return '(%s) { %s }' % (t, ', '.join('.%s = %s' % (n, member_literal(k)) for n, k in STRUCTS[t]))


def printers(f, n, t, e):
    if t in SCALARS:
        return SCALARS[t][2](f, n, e)
    if t == 'union un':
        return ['raw("%s", "%s", &%s, 8);' % (f, n, e)]
    out = []
    for m, kind in STRUCTS[t]:
        name, expr = '%s_%s' % (n, m.replace('.', '_')), '%s.%s' % (e, m)
        if isinstance(kind, str):
            out += SCALARS[kind][2](f, name, expr)
        elif kind[0] == 'array':
            out += ['sgn("%s", "%s_%d", %s[%d]);' % (f, name, i, expr, i) for i in range(kind[3])]
        elif kind[0] == 'text':
            out.append('txt("%s", "%s", %s, %d);' % (f, name, expr, kind[1]))
        elif kind[0] == 'union':
            out.append('raw("%s", "%s", &%s, 8);' % (f, name, expr))
        else:
            out.append('%s("%s", "%s", %s);' % ('sgn' if kind[3] else 'uns', f, name, expr))
    return out


TYPES = list(SCALARS) + list(STRUCTS) + ['union un']
print(PRELUDE)
calls = []
for i in range(count):
    f = 'f%03d' % i
    ptypes = [rnd.choice(TYPES) for _ in range(rnd.randint(1, 9))]
    rtype = rnd.choice(TYPES + ['void'] * 4)
    decl = ', '.join('%s p%d' % (t, k) for k, t in enumerate(ptypes))
    print('NI %s %s(%s)\n{' % (rtype, f, decl))
    for k, t in enumerate(ptypes):
        for line in printers(f, 'p%d' % k, t, 'p%d' % k):
            print('\t' + line)
    if rtype != 'void':
        print('\t%s r = %s;' % (rtype, make_value(rtype)))
        for line in printers(f, 'ret', rtype, 'r'):
            print('\t' + line)
        print('\treturn r;')
    print('}')
    calls.append('\t%s(%s);' % (f, ', '.join(make_value(t) for t in ptypes)))
print('int main(void)\n{\n\tsetvbuf(stdout, NULL, _IOFBF, 1 << 20);\n%s\n\tfflush(stdout);\n\treturn 0;\n}' % '\n'.join(calls))
