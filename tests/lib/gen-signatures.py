#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""Writes a C or C++ program whose functions record their own arguments.

    gen-signatures.py c|c++ [SEED [COUNT]] > program.c

Every function sig_* prints `sig_N_entry|parameter=value|...` when it is called
and `sig_N_exit|ret=value` before it returns, in the notation of babeltrace2's
text, so that `events.py compare` can hold a trace against what the function
itself saw. Parameters are drawn from all kinds of types in random order, enough
of them to spill from registers to the stack in every mixture; the seed makes
the program the same each time. Some signatures are written by hand, for what a
random draw does not meet.
"""
import random
import sys


class Type:
    """A C type: its spelling, how a literal is made, and what is printed of a value.

    prints(name) gives a list of (field name, printf format, argument expression).
    """

    def __init__(self, spelling, literal, prints, cxx=None):
        self.spelling, self.literal, self.prints, self.cxx = spelling, literal, prints, cxx

    def declare(self, name):
        return ('%s%s' if self.spelling.endswith('*') else '%s %s') % (self.spelling, name)


def integer(spelling, bits, signed):
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)

    def literal(rng):
        value = rng.choice([low, high, 0, 1, rng.randint(low, high), rng.randint(low, high)])
        if signed and value == -(1 << 63):
            return '(-9223372036854775807ll - 1)'
        return '(%s) %d%s' % (spelling, value, 'll' if signed else 'ull')

    if signed:
        return Type(spelling, literal, lambda n: [(n, '%lld', '(long long) ' + n)])
    return Type(spelling, literal, lambda n: [(n, '%llu', '(unsigned long long) ' + n)])


def real(spelling, suffix):
    # babeltrace2 prints six significant digits: values that these show in full, a float too.
    return Type(spelling, lambda rng: '%d.%s%s' % (rng.randint(-999, 999), rng.choice(['5', '25', '125', '0']), suffix),
                lambda n: [(n, '%g', '(double) ' + n)])


STRINGS = [
    '"plain"', '""', '"with \\"quotes\\" and \\\\"', '"tab\\tand\\nline"', '"h\\u00e4lt \\u2713 \\u4e16\\u754c"', 'long_string',
    '"a string of thirty characters."', '(char *) 0',
]


def string(spelling):
    return Type(spelling, lambda rng: '(char *) ' + rng.choice(STRINGS), lambda n: [(n, '%s', 'quoted(%s)' % n)])


def members(spelling, fields, cxx=None):
    """A struct by value: its members, flattened."""
    def prints(n):
        out = []
        for name, kind in fields:
            out += [(n + '_' + name + f[len('@'):], fmt, expr.replace('@', '%s.%s' % (n, name)))
                    for f, fmt, expr in kind.prints('@')]
        return out

    def literal(rng):
        body = ', '.join(kind.literal(rng) for _, kind in fields)
        return '(%s) { %s }' % (spelling, body) if not cxx else '%s { %s }' % (spelling.split()[-1], body)
    return Type(spelling, literal, prints)


def base_types(cxx):
    s8, u8 = integer('int8_t', 8, True), integer('uint8_t', 8, False)
    s16, u16 = integer('int16_t', 16, True), integer('uint16_t', 16, False)
    s32, u32 = integer('int', 32, True), integer('unsigned int', 32, False)
    s64, u64 = integer('long', 64, True), integer('unsigned long', 64, False)
    f32, f64, f80 = real('float', 'f'), real('double', ''), real('long double', 'L')
    boolean = Type('bool', lambda rng: rng.choice(['true', 'false']), lambda n: [(n, '%s', '%s ? "1<true>" : "0<false>"' % n)])
    char = Type('char', lambda rng: "'%s'" % rng.choice('azAZ09+~ '), lambda n: [(n, '\\"%c\\"', n)])
    colour = Type('enum colour', lambda rng: rng.choice(['RED', 'GREEN', 'BLUE']),
                  lambda n: [(n, '%s', 'colour_text(%s)' % n)])
    pointer = Type('void *', lambda rng: '(void *) %#xul' % rng.choice([0, 0xdeadbeef, 0x7fffffffffff, rng.getrandbits(47)]),
                   lambda n: [(n, '0x%lX', '(unsigned long) ' + n)])
    int_pointer = Type('const int *', lambda rng: '&numbers[%d]' % rng.randint(0, 7),
                       lambda n: [(n, '0x%lX', '(unsigned long) ' + n)])
    function = Type('callback_t', lambda rng: 'callback', lambda n: [(n, '0x%lX', '(unsigned long) ' + n)])
    text = string('const char *')
    mutable = string('char *')
    size = integer('size_t', 64, False)
    structs = [
        members('struct two_ints', [('a', s32), ('b', s32)], cxx),
        members('struct int_double', [('i', s64), ('d', f64)], cxx),
        members('struct two_doubles', [('x', f64), ('y', f64)], cxx),
        members('struct two_floats', [('x', f32), ('y', f32)], cxx),
        members('struct three_floats', [('x', f32), ('y', f32), ('z', f32)], cxx),
        members('struct big', [('a', s64), ('b', f64), ('c', u16), ('s', text)], cxx),
        members('struct byte_float', [('c', u8), ('f', f32), ('p', pointer)], cxx),
        members('struct outer', [('tag', colour), ('in', members('struct two_ints', [('a', s32), ('b', s32)], cxx)),
                                 ('last', s8)], cxx),
        members('struct one_char', [('c', char)], cxx),
        members('struct with_x87', [('ld', f80)], cxx),
    ]
    plain = [s8, u8, s16, u16, s32, u32, s64, u64, f32, f64, f80, boolean, char, colour, pointer, int_pointer, function, text,
             mutable, size, integer('long long', 64, True), integer('unsigned char', 8, False), integer('signed char', 8, True),
             integer('short', 16, True), integer('time_t', 64, True)]
    return plain, structs


PROLOGUE = r'''
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define T __attribute__((noipa))

enum colour { RED = 1, GREEN = 2, BLUE = -7 };
typedef int (*callback_t)(int);
struct two_ints { int a; int b; };
struct int_double { long i; double d; };
struct two_doubles { double x; double y; };
struct two_floats { float x; float y; };
struct three_floats { float x; float y; float z; };
struct big { long a; double b; uint16_t c; const char *s; };
struct byte_float { uint8_t c; float f; void *p; };
struct outer { enum colour tag; struct two_ints in; int8_t last; };
struct one_char { char c; };
struct with_x87 { long double ld; };
struct bits { unsigned int low : 3; int middle : 7; unsigned int high : 22; };
struct arrays { int v[3]; char text[8]; };

static int numbers[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
static char long_string[4000];

static int callback(int x)
{
	return x + 1;
}

static const char *colour_text(enum colour c)
{
	return c == RED ? "1<RED>" : c == GREEN ? "2<GREEN>" : "-7<BLUE>";
}

/* As babeltrace2 writes a string; of a long one only the beginning, marked with ~. */
static const char *quoted(const char *s)
{
	static char buffer[32][1024];
	static unsigned int turn;
	char *out = buffer[turn++ % 32], *o = out;

	if (!s)
		return "\"(null)\"";
	*o++ = '"';
	for (int i = 0; s[i]; i++) {
		if (i == 200) {
			*o++ = '~';
			*o = 0;
			return out;
		}
		switch (s[i]) {
		case '\n': *o++ = '\\'; *o++ = 'n'; break;
		case '\t': *o++ = '\\'; *o++ = 't'; break;
		case '"': *o++ = '\\'; *o++ = '"'; break;
		case '\\': *o++ = '\\'; *o++ = '\\'; break;
		default: *o++ = s[i];
		}
	}
	*o++ = '"';
	*o = 0;
	return out;
}
'''

# What a random draw does not make. Each: (function text, call).
HAND_C = [
    ('T int sig_variadic(const char *format, int count, ...)\n{\n\tva_list list;\n\tint sum = 0;\n\tva_start(list, count);\n'
     '\tfor (int i = 0; i < count; i++)\n\t\tsum += va_arg(list, int);\n\tva_end(list);\n'
     '\tprintf("sig_variadic_entry|format=%s|count=%d\\n", quoted(format), count);\n'
     '\tprintf("sig_variadic_exit|ret=%d\\n", sum);\n\treturn sum;\n}', 'sig_variadic("%d %d", 2, 40, 2)'),
    ('T void sig_none(void)\n{\n\tprintf("sig_none_entry\\n");\n\tprintf("sig_none_exit\\n");\n}', 'sig_none()'),
    ('T int sig_bits(struct bits b, int after)\n{\n'
     '\tprintf("sig_bits_entry|b_low=%u|b_middle=%d|b_high=%u|after=%d\\n", b.low, b.middle, b.high, after);\n'
     '\tprintf("sig_bits_exit|ret=%d\\n", after);\n\treturn after;\n}',
     '({ struct bits b; b.low = 5; b.middle = -33; b.high = 2000000; sig_bits(b, 9); })'),
    ('T int sig_arrays(struct arrays a, double after)\n{\n'
     '\tprintf("sig_arrays_entry|a_v=[%d %d %d]|a_text=%s|after=%g\\n", a.v[0], a.v[1], a.v[2], quoted(a.text), after);\n'
     '\tprintf("sig_arrays_exit|ret=%d\\n", a.v[1]);\n\treturn a.v[1];\n}',
     '({ struct arrays a; memset(&a, 0, sizeof(a)); a.v[0] = -1; a.v[1] = 22; a.v[2] = 333; strcpy(a.text, "text"); '
     'sig_arrays(a, 1.5); })'),
    ('T int sig_wide(__int128 wide, int after)\n{\n\tprintf("sig_wide_entry|after=%d\\n", after);\n'
     '\tprintf("sig_wide_exit|ret=%d\\n", (int) (wide >> 64));\n\treturn (int) (wide >> 64);\n}',
     'sig_wide(((__int128) 77 << 64) | 5, -12)'),
    ('T int sig_array_parameter(const char name[16], int matrix[][4])\n{\n'
     '\tprintf("sig_array_parameter_entry|name=%s|matrix=0x%lX\\n", quoted(name), (unsigned long) matrix);\n'
     '\tprintf("sig_array_parameter_exit|ret=%d\\n", numbers[1]);\n\treturn numbers[1];\n}',
     'sig_array_parameter("a name of sixteen", (int (*)[4]) numbers)'),
    ('T int sig_wild(const char *wild, const char *unmapped, int after)\n{\n'
     '\tprintf("sig_wild_entry|wild=*|unmapped=*|after=%d\\n", after);\n'
     '\tprintf("sig_wild_exit|ret=%d\\n", after);\n\treturn after;\n}',
     'sig_wild((char *) 0xdeadbeefdeadul, (char *) 16, 3)'),
    ('T long sig_twelve(long a, long b, long c, long d, long e, long f, long g, int h, short i, char j, bool k, long l)\n{\n'
     '\tprintf("sig_twelve_entry|a=%ld|b=%ld|c=%ld|d=%ld|e=%ld|f=%ld|g=%ld|h=%d|i=%d|j=\\"%c\\"|k=%d|l=%ld\\n",\n'
     '\t\ta, b, c, d, e, f, g, h, i, j, k, l);\n'
     '\tprintf("sig_twelve_exit|ret=%ld\\n", l);\n\treturn l;\n}',
     "sig_twelve(1, -2, 3, -4, 5, -6, 7, -8, 9, 'j', true, 1234567890123)"),
]

PROLOGUE_CXX = r'''
#include <string>
namespace kit {
struct Fat {
	Fat(int v, double w) : value(v), weight(w) {}
	Fat(const Fat &other) : value(other.value), weight(other.weight) {}
	~Fat() { value = 0; }
	int value;
	double weight;
};
enum class Level : uint8_t { Low = 1, High = 200 };
}
namespace sig {
struct Point {
	int x, y;
	T int scale(int by) const;
	T static Point make(int x, int y);
	T Point operator+(const Point &other) const;
	virtual ~Point() = default;
	Point(int a, int b) : x(a), y(b) {}
};
T int sig_reference(int &number, const Point &point);
}
'''

HAND_CXX = [
    ('int sig::Point::scale(int by) const\n{\n'
     '\tprintf("sig::Point::scale_entry|this=0x%lX|by=%d\\n", (unsigned long) this, by);\n'
     '\tprintf("sig::Point::scale_exit|ret=%d\\n", x * by + y);\n\treturn x * by + y;\n}', 'point.scale(-3)'),
    ('int sig::sig_reference(int &number, const Point &point)\n{\n'
     '\tprintf("sig::sig_reference_entry|number=0x%lX|point=0x%lX\\n", (unsigned long) &number, (unsigned long) &point);\n'
     '\tprintf("sig::sig_reference_exit|ret=%d\\n", number + point.x);\n\treturn number + point.x;\n}',
     'sig::sig_reference(numbers[3], point)'),
    ('T int sig_fat(kit::Fat fat, int after)\n{\n'
     '\tprintf("sig_fat_entry|fat_value=%d|fat_weight=%g|after=%d\\n", fat.value, fat.weight, after);\n'
     '\tprintf("sig_fat_exit|ret=%d\\n", fat.value + after);\n\treturn fat.value + after;\n}', 'sig_fat(kit::Fat(31, 2.5), 11)'),
    ('T kit::Level sig_level(kit::Level level)\n{\n'
     '\tprintf("sig_level_entry|level=%d<%s>\\n", (int) level, level == kit::Level::Low ? "Low" : "High");\n'
     '\tprintf("sig_level_exit|ret=200<High>\\n");\n\treturn kit::Level::High;\n}', 'sig_level(kit::Level::Low)'),
    ('template <typename V> T V sig_template(V value)\n{\n'
     '\tprintf("sig_template<int>_entry|value=%d\\n", (int) value);\n'
     '\tprintf("sig_template<int>_exit|ret=%d\\n", (int) value);\n\treturn value;\n}\n'
     'template int sig_template<int>(int);', 'sig_template<int>(55)'),
    ('T int sig_rvalue(std::string &&text, bool flag)\n{\n'
     '\tprintf("sig_rvalue_entry|text=0x%lX|flag=%d\\n", (unsigned long) &text, flag);\n'
     '\tprintf("sig_rvalue_exit|ret=%d\\n", (int) text.size());\n\treturn (int) text.size();\n}',
     'sig_rvalue(std::string("moved"), true)'),
]


def record(name, kind, fields):
    formats = ''.join('|%s=%s' % (field, fmt) for field, fmt, _ in fields)
    args = ''.join(', ' + expr for _, _, expr in fields)
    return '\tprintf("%s_%s%s\\n"%s);\n' % (name, kind, formats, args)


def random_function(rng, number, plain, structs):
    name = 'sig_%03d' % number
    count = rng.choice([1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14])
    types = [rng.choice(structs if rng.random() < 0.2 else plain) for _ in range(count)]
    result = None if rng.random() < 0.1 else rng.choice(structs if rng.random() < 0.35 else plain)
    names = ['p%d' % i for i in range(count)]
    fields = [field for kind, n in zip(types, names) for field in kind.prints(n)]
    text = 'T %s(%s)\n{\n' % (result.declare(name) if result else 'void ' + name,
                              ', '.join(kind.declare(n) for kind, n in zip(types, names)))
    text += record(name, 'entry', fields)
    if result:
        text += '\t%s = %s;\n' % (result.declare('ret'), result.literal(rng))
        text += record(name, 'exit', result.prints('ret')) + '\treturn ret;\n}'
    else:
        text += record(name, 'exit', []) + '}'
    return text, '%s(%s)' % (name, ', '.join(kind.literal(rng) for kind in types))


def main(argv):
    cxx = argv[1] == 'c++'
    rng = random.Random(int(argv[2]) if len(argv) > 2 else 1)
    count = int(argv[3]) if len(argv) > 3 else 60
    plain, structs = base_types(cxx)
    functions = [random_function(rng, i, plain, structs) for i in range(count)]
    functions += HAND_CXX if cxx else HAND_C
    print('/* Made by gen-signatures.py. */')
    print(PROLOGUE + (PROLOGUE_CXX if cxx else ''))
    for text, _ in functions:
        print(text + '\n')
    print('int main(void)\n{\n\tmemset(long_string, \'x\', sizeof(long_string) - 1);')
    if cxx:
        print('\tsig::Point point(6, 7);')
    for _, call in functions:
        print('\t%s;' % call)
    print('\treturn 0;\n}')
    return 0


sys.exit(main(sys.argv))
