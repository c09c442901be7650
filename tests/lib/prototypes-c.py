#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""C files that repeat the declarations of files of prototypes behind the headers that have them: what differs does not
compile. prototypes-c.py OUTPUT FILE... HEADERS, with headers as <a.h>,<b.h>. Reads the files by itself: it knows nothing
of spi-codemap's reader. Prints the functions, one a line.

An enumeration of a file's own stands for int. Of each typedef the type is compared, of each value with a name the value.
"""
import re
import sys

# Compared by their sizes alone: structs without a tag of their own, and what only pointers are made to.
OPAQUE = re.compile(r'^(typedef\s+(struct|union|enum)\b|typedef struct va_list_tag)')


def declarations(text):
    text = re.sub(r'/\*.*?\*/', ' ', text, flags=re.S)
    text = re.sub(r'(//|#).*', '', text)
    text = re.sub(r'^library .*', '', text, flags=re.M)
    depth, start = 0, 0
    for at, c in enumerate(text):
        depth += (c in '({') - (c in ')}')
        if c == ';' and depth == 0:
            yield ' '.join(text[start:at].split())
            start = at + 1


def labels(body):
    value = -1
    for label in filter(None, (part.strip() for part in body.split(','))):
        name, _, given = (word.strip() for word in label.partition('='))
        value = int(given, 0) if given else value + 1
        yield name, value


def main():
    output, files, headers = sys.argv[1], sys.argv[2:-1], sys.argv[-1].split(',')
    lines = ['#define _GNU_SOURCE', '#include <features.h>']
    for header in headers:
        # With __USE_GNU addresses of sockets are unions, for callers' convenience.
        if header == '<sys/socket.h>':
            lines += ['#undef __USE_GNU', '#include <sys/socket.h>', '#define __USE_GNU 1']
        else:
            lines.append('#include ' + header)
    for d in (d for file in files for d in declarations(open(file, encoding='utf-8').read())):
        enum = re.match(r'(?:typedef )?enum (\w*) ?\{(.*)\}', d)
        if enum:
            lines += [f'_Static_assert(({name}) == {value}, "{name}");' for name, value in labels(enum[2])]
            continue
        if re.match(r'struct \w+ \{', d) or OPAQUE.match(d):
            continue
        typedef = re.match(r'typedef .*?(\w+)$|typedef .*\(\*(\w+)\)', d)
        if typedef:
            name = typedef[1] or typedef[2]
            lines.append(re.sub(rf'\b{name}\b', 'spi_' + name, d) + ';')
            lines.append(f'extern spi_{name} *spi_p_{name}; extern {name} *spi_p_{name};')
            continue
        d = re.sub(r'\benum (?!__)\w+', 'int', d)
        name = re.search(r'(\w+)\(', d)[1]
        lines += ['#undef ' + name, d + ';']
        print(name)
    with open(output, 'w', encoding='utf-8') as out:
        out.write('\n'.join(lines) + '\n')


main()
