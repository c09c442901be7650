#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""Writes a C or C++ program whose functions record their own arguments.

    gen-signatures.py c|c++ [SEED [COUNT [VECTOR]]] > program.c

Every function sig_* prints `sig_N_entry|parameter=value|...` when it is called
and `sig_N_exit|ret=value` before it returns, in the notation of babeltrace2's
text, so that `events.py compare` can hold a trace against what the function
itself saw. Parameters are drawn from all kinds of types in random order, enough
of them to spill from registers to the stack in every mixture; the seed makes
the program the same each time. Some signatures are written by hand, for what a
random draw does not meet. With VECTOR, half of the parameters and results are
vectors of up to so many bytes, and structs around them: the compiler has to be
told of a CPU that has such registers.
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


def vectors(most, cxx):
    """Vectors by value, alone and in structs and unions."""
    def lanes(spelling, count, suffix):
        return Type(spelling, lambda rng: '(%s) { %s }' % (spelling, ', '.join(
            '%d.%s%s' % (rng.randint(-99, 99), rng.choice(['5', '25', '0']), suffix) for _ in range(count))),
            lambda n: [('%s_%d' % (n, i), '%g', '(double) %s[%d]' % (n, i)) for i in range(count)])

    def quad(spelling):
        return Type(spelling, lambda rng: '(%s) %d.5' % (spelling, rng.randint(-99, 99)),
                    lambda n: [(n + '_lo', '0x%lX', 'half(%s, 0)' % n), (n + '_hi', '0x%lX', 'half(%s, 1)' % n)])

    v2, v4, d2, v8, d4, v16, d8 = [lanes(*of) for of in (
        ('v2f', 2, 'f'), ('v4f', 4, 'f'), ('v2d', 2, ''), ('v8f', 8, 'f'), ('v4d', 4, ''), ('v16f', 16, 'f'), ('v8d', 8, ''))]
    f32, s32 = real('float', 'f'), integer('int', 32, True)

    def around(*names_and_kinds):
        return [members('struct ' + name, fields, cxx) for name, fields in names_and_kinds]

    plain = [v2, v4, d2, quad('__float128')]
    structs = around(('of_v2', [('v', v2)]), ('of_v4', [('v', v4)]), ('of_d2', [('v', d2)]), ('two_v4', [('a', v4), ('b', v4)]),
                     ('v2_and_float', [('v', v2), ('f', f32)]), ('v4_and_int', [('v', v4), ('i', s32)]),
                     ('of_quad', [('q', quad('__float128'))]))
    if most >= 32:
        plain += [v8, d4]
        structs += around(('of_v8', [('v', v8)]), ('of_d4', [('v', d4)]), ('v8_and_int', [('v', v8), ('i', s32)]))
    if most >= 64:
        plain += [v16, d8]
        structs += around(('of_v16', [('v', v16)]), ('of_d8', [('v', d8)]))
    return plain + structs


PROLOGUE_VECTORS = r'''
typedef float v2f __attribute__((vector_size(8)));
typedef float v4f __attribute__((vector_size(16)));
typedef double v2d __attribute__((vector_size(16)));
typedef float v8f __attribute__((vector_size(32)));
typedef double v4d __attribute__((vector_size(32)));
typedef float v16f __attribute__((vector_size(64)));
typedef double v8d __attribute__((vector_size(64)));
struct of_v2 { v2f v; };
struct of_v4 { v4f v; };
struct of_d2 { v2d v; };
struct two_v4 { v4f a, b; };
struct v2_and_float { v2f v; float f; };
struct v4_and_int { v4f v; int i; };
struct of_quad { __float128 q; };
struct of_v8 { v8f v; };
struct of_d4 { v4d v; };
struct v8_and_int { v8f v; int i; };
struct of_v16 { v16f v; };
struct of_d8 { v8d v; };

static unsigned long half(__float128 q, int which)
{
	unsigned long words[2];
	memcpy(words, &q, sizeof(words));
	return words[which];
}
'''

# Classes around vectors: copied by code of their own they are passed by reference, else in a register.
HAND_VECTORS_CXX = [
    ('struct Trivial {\n\tv4f v;\n\tfloat sum() const { return v[0] + v[1]; }\n};\n'
     'T Trivial sig_trivial(Trivial t, float w, int n)\n{\n'
     '\tprintf("sig_trivial_entry|t_v_0=%g|t_v_3=%g|w=%g|n=%d\\n", t.v[0], t.v[3], w, n);\n'
     '\tt.v = t.v * w;\n\tprintf("sig_trivial_exit|ret_v_0=%g|ret_v_3=%g\\n", t.v[0], t.v[3]);\n\treturn t;\n}',
     'sig_trivial(Trivial { { 1, 2, 3, 4 } }, 2.5f, 7)'),
    ('struct Copied {\n\tv4f v;\n\tCopied(v4f of) : v(of) {}\n\tCopied(const Copied &other) : v(other.v) {}\n};\n'
     'T Copied sig_copied(Copied c, float w, int n)\n{\n'
     '\tprintf("sig_copied_entry|c_v_0=%g|c_v_3=%g|w=%g|n=%d\\n", c.v[0], c.v[3], w, n);\n'
     '\tCopied r(c.v * w);\n\tprintf("sig_copied_exit|ret_v_0=%g|ret_v_3=%g\\n", r.v[0], r.v[3]);\n\treturn r;\n}',
     'sig_copied(Copied(v4f { 1, 2, 3, 4 }), 1.5f, 8)'),
    ('T float sig_vector_reference(const v4f &a, v4f b, v4f &&c)\n{\n'
     '\tprintf("sig_vector_reference_entry|a=0x%lX|b_0=%g|c=0x%lX\\n", (unsigned long) &a, b[0], (unsigned long) &c);\n'
     '\tprintf("sig_vector_reference_exit|ret=%g\\n", a[1]);\n\treturn a[1];\n}',
     'sig_vector_reference(v4f { 1, 2, 3, 4 }, v4f { 5, 6, 7, 8 }, v4f { 9, 10, 11, 12 })'),
    ('struct Base4 {\n\tv4f v;\n};\nstruct Derived4 : Base4 {\n};\n'
     'T float sig_derived(Derived4 d, float w)\n{\n\tprintf("sig_derived_entry|d_v_0=%g|d_v_2=%g|w=%g\\n", d.v[0], d.v[2], w);\n'
     '\tprintf("sig_derived_exit|ret=%g\\n", w);\n\treturn w;\n}',
     '({ Derived4 d; d.v = v4f { 1, 2, 3, 4 }; sig_derived(d, 4.5f); })'),
]

PROLOGUE = r'''
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#ifdef __clang__
#define T __attribute__((noinline))
#else
#define T __attribute__((noipa))
#endif

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

# Another calling convention: right, or said to be not known.
HAND_OTHER_ABI = [
    ('T __attribute__((ms_abi)) long sig_ms(int a, double b, long c, float d, int e, double f)\n{\n'
     '\tprintf("sig_ms_entry|a=?%d|b=?%g|c=?%ld|d=?%g|e=?%d|f=?%g\\n", a, b, c, d, e, f);\n'
     '\tprintf("sig_ms_exit|ret=%ld\\n", c + a);\n\treturn c + a;\n}', 'sig_ms(1, 2.5, 3, 4.5f, 5, 6.5)'),
    ('struct three { long a, b, c; };\n'
     'T __attribute__((ms_abi)) struct three sig_ms_struct(struct three x, int b)\n{\n'
     '\tprintf("sig_ms_struct_entry|x_a=?1|x_c=?3|b=?%d\\nsig_ms_struct_exit|ret_a=?%ld\\n", b, x.a);\n\treturn x;\n}',
     'sig_ms_struct((struct three) { 1, 2, 3 }, 9)'),
    ('#ifdef __clang__\n#define REGCALL __attribute__((regcall))\n#else\n#define REGCALL\n#endif\n'
     'long REGCALL sig_regcall(long, double, long, int, int, long, long, long, long) __asm__("sig_regcall");\n'
     'T REGCALL long sig_regcall(long a, double b, long c, int d, int e, long f, long g, long h, long i)\n{\n'
     '\tprintf("sig_regcall_entry|a=?%ld|b=?%g|c=?%ld|d=?%d|e=?%d|f=?%ld|g=?%ld|h=?%ld|i=?%ld\\n", a, b, c, d, e, f, g, h, i);\n'
     '\tprintf("sig_regcall_exit|ret=%ld\\n", i);\n\treturn i;\n}', 'sig_regcall(1, 2.5, 3, 4, 5, 6, 7, 8, 9)'),
]

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


FIELDS_MOST = 60    # an event has at most 64


def record(name, kind, fields):
    formats = ''.join('|%s=%s' % (field, fmt) for field, fmt, _ in fields)
    args = ''.join(', ' + expr for _, _, expr in fields)
    return '\tprintf("%s_%s%s\\n"%s);\n' % (name, kind, formats, args)


def random_function(rng, number, plain, structs, share=0.2):
    name = 'sig_%03d' % number
    count = rng.choice([1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14])
    types = [rng.choice(structs if rng.random() < share else plain) for _ in range(count)]
    result = None if rng.random() < 0.1 else rng.choice(structs if rng.random() < 0.35 else plain)
    while sum(len(kind.prints('')) for kind in types) > FIELDS_MOST:
        types.pop()
    count = len(types)
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
    most = int(argv[4]) if len(argv) > 4 else 0
    if most:
        functions = [random_function(rng, i, plain, vectors(most, cxx), 0.5) for i in range(count)]
        functions += HAND_VECTORS_CXX if cxx else HAND_OTHER_ABI
    else:
        functions = [random_function(rng, i, plain, structs) for i in range(count)]
        functions += HAND_CXX if cxx else HAND_C
    print('/* Made by gen-signatures.py. */')
    print(PROLOGUE + (PROLOGUE_VECTORS if most else PROLOGUE_CXX if cxx else ''))
    for text, _ in functions:
        print(text + '\n')
    print('int main(void)\n{\n\tmemset(long_string, \'x\', sizeof(long_string) - 1);')
    if cxx and not most:
        print('\tsig::Point point(6, 7);')
    for _, call in functions:
        print('\t%s;' % call)
    print('\treturn 0;\n}')
    return 0


sys.exit(main(sys.argv))
