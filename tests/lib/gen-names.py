#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""Writes a C program full of names that readers of traces may confuse, and checks what one made of them.

    gen-names.py write SEED COUNT > program.c
    gen-names.py check RECORD TEXT     # what the program printed, what babeltrace2 printed of its trace

Parameters, members, functions and enumerators are put together from underscores, the tracer's own names, the words of
CTF's grammar, digits, and letters that only C knows. Each function name_* prints the values that it was called with,
in order, and what it returns. Every value is another number, so a field that is missing, there twice, or taken for
another shows. `check` holds each event's values, and the labels of enumerations, against that; the fields of an event
have different names, also without a leading underscore.
"""
import random
import re
import sys

ATOMS = ['_', '_', '_', '__', 'n', 'n', 'N', 'x', 'a', 'b', '2', '_2', 'ret', 'duration', 'left', 'length', 'id', 'v',
         'event', 'stream', 'trace', 'env', 'clock', 'typealias', 'variant', 'string', 'integer', 'align', 'callsite',
         'cpu_id', 'timestamp', 'arg1', 'arg2', '$', 'ö', 'ß', '名', 'x' * 110]
RESERVED = {'int', '__v'}


def name_draw(rng, taken):
    while True:
        name = ''.join(rng.choice(ATOMS) for _ in range(rng.choice([1, 1, 2, 2, 3, 4])))
        if not name[0].isdigit() and name not in taken and name not in RESERVED:
            taken.add(name)
            return name


def function_write(rng, number, value):
    """A function, its call, and the lines that it prints."""
    taken, members, parameters, call, print_of = set(), '', [], [], []
    values = []
    for _ in range(rng.randint(1, 9)):
        name, kind = name_draw(rng, taken), rng.choice(['int', 'int', 'int', 'struct', 'enum'])
        if kind == 'int':
            parameters.append('int ' + name)
            call.append(str(value))
            print_of.append(name)
            values.append(value)
            value += 1
        elif kind == 'struct':
            inner = set()
            names = [name_draw(rng, inner) for _ in range(rng.randint(1, 4))]
            members += 'struct s%d_%d { int %s; };\n' % (number, len(parameters), ', '.join(names))
            call.append('(struct s%d_%d) { %s }' % (number, len(parameters), ', '.join(str(value + i) for i in range(len(names)))))
            parameters.append('struct s%d_%d %s' % (number, len(parameters), name))
            print_of += ['%s.%s' % (name, n) for n in names]
            values += range(value, value + len(names))
            value += len(names)
        else:
            labels = set()
            names = ['E%d_%s' % (value, name_draw(rng, labels)) for _ in range(3)]
            members += 'enum e%d_%d { %s };\n' % (number, len(parameters), ', '.join(
                '%s = %d' % (n, value + i) for i, n in enumerate(names)))
            parameters.append('enum e%d_%d %s' % (number, len(parameters), name))
            call.append(names[1])
            print_of.append((name, names[1]))
            values.append(value + 1)
            value += 3
    inner = set()
    result = [name_draw(rng, inner) for _ in range(rng.randint(1, 3))]
    members += 'struct r%d { int %s; };\n' % (number, ', '.join(result))
    shown = ['\\t%d' if isinstance(p, str) else '\\t%d=' + re.sub('[^ -~]', '_', bytes_latin(p[1])) for p in print_of]
    text = members + 'NI struct r%d name_%d%s(%s)\n{\n\tprintf("%s\\n", %s);\n\treturn (struct r%d) { %s };\n}\n' % (
        number, number, rng.choice(['', '_', '$', 'ö', '_ret']), ', '.join(parameters),
        'in' + ''.join(shown) + '\\nout' + ''.join('\\t%d' % (value + i) for i in range(len(result))),
        ', '.join(p if isinstance(p, str) else '(int) ' + p[0] for p in print_of),
        number, ', '.join(str(value + i) for i in range(len(result))))
    function = re.search(r'name_%d[^(]*' % number, text.split('NI struct')[1]).group()
    return text, '\t%s(%s);\n' % (function, ', '.join(call)), value + len(result)


def bytes_latin(text):
    """One character a byte, as what knows no UTF-8 sees it."""
    return text.encode().decode('latin-1')


def program_write(seed, count):
    rng, value, calls = random.Random(seed), 1000, ''
    print('#include <stdio.h>\n#define NI __attribute__((noinline, noipa))')
    for number in range(count):
        text, call, value = function_write(rng, number, value)
        print(text)
        calls += call
    print('int main(void)\n{\n%s\treturn 0;\n}' % calls)


def fields_read(payload):
    """(name, value[=label]) of each field of what babeltrace2 prints between the last braces."""
    for match in re.finditer(r'([A-Za-z0-9_]+) = (?:(-?\d+)|\( "([^"]*)" : container = (\d+) \))', payload):
        yield match[1], match[2] or '%s=%s' % (match[4], match[3])


def is_value(got, wanted):
    """A long label is cut; one that is another's when its letters are underscores has a number behind it."""
    return got == wanted or ('=' in wanted and re.sub(r'_\d+$', '', got)[:100] in (wanted[:100], re.sub(r'_\d+$', '', wanted)[:100]))


def event_check(line, wanted, own):
    fields = list(fields_read(line.rsplit('}, { ', 1)[1]))
    names = [n[n.startswith('_'):] for n, _ in fields]
    got = [v for n, v in fields if n not in own]
    assert len(got) == len(wanted) and all(map(is_value, got, wanted)), '%s instead of %s: %s' % (got, wanted, line)
    assert len(set(names)) == len(names), 'one name twice: ' + line


def check(record, trace):
    lines = [l for l in open(trace, encoding='latin-1') if re.search(r' spi:name_\d', l)]
    printed = [l.rstrip('\n').split('\t') for l in open(record)]
    if re.search(r' spi:name_\d+\S*_entry: ', lines[0]):
        assert len(lines) == len(printed), '%d events instead of %d' % (len(lines), len(printed))
        for line, (_, *wanted) in zip(lines, printed):
            event_check(line, wanted, ())
    else:
        assert len(lines) * 2 == len(printed), '%d events instead of %d' % (len(lines), len(printed) / 2)
        for line, (_, *given), (_, *gives) in zip(lines, printed[::2], printed[1::2]):
            event_check(line, given + gives, ('duration', 'left'))
    print('%d events, %d values' % (len(lines), sum(len(p) - 1 for p in printed)))


if sys.argv[1] == 'write':
    program_write(int(sys.argv[2]), int(sys.argv[3]))
else:
    check(*sys.argv[2:])
