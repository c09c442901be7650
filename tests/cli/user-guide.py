#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""The commands that the documents show, and what they show as output.

user-guide.py commands DIRECTORY FILE...   prints NUMBER<tab>BLOCK<tab>FILE:LINE<tab>COMMAND, one a line, and writes
                                           the lines that the document shows below a command to DIRECTORY/NUMBER
user-guide.py lacks SHOWN OUTPUT           prints the lines of the file SHOWN that the file OUTPUT does not have

A command stands in a block that is indented by four columns, as Markdown has it, or between .nf and .fi in a man page.
Its line begins with a prompt, "$ " or "# ", or, above the first prompt, with the name of a program below. A line "..."
stands for any output. Numbers, addresses and times of the two files are not compared.
"""
import os
import re
import sys

PROGRAMS = ('lttng', 'lttng-spi', 'babeltrace2', 'spi-inject', 'spi-sessiond', './quickstart', './run-tests', './bootstrap', 'make')
PROMPT = re.compile(r'    [$#] (.*)')
NUMBERS = (
    (r'0x[0-9A-Fa-f]+', 'X'),
    (r'\(\+[0-9.?]+\)', '(+N)'),
    (r'-\d{8}-\d{6}', '-TIME'),
    (r'\d+(\.\d+)?', 'N'),
    (r'^ +', ' '),
    (r'  +', ' '),
)


def blocks(path):
    """Lists of (line number, line)."""
    is_page = path.endswith('.1')
    block, inside = [], False
    for number, line in enumerate(open(path, encoding='utf-8'), 1):
        line = line.rstrip('\n')
        if is_page:
            if line in ('.nf', '.fi'):
                inside = line == '.nf'
            line = line.replace('\\-', '-') if inside and line.startswith('    ') else ''
        if line.startswith('    ') or (block and not line and (inside or not is_page)):
            block.append((number, line))
        elif block:
            yield block
            block = []
    if block:
        yield block


def commands(path):
    """(block, line number, command, lines shown below it)"""
    for at, block in enumerate(blocks(path)):
        found, has_prompts = [], False
        for number, line in block:
            prompt = PROMPT.match(line)
            word = line.split()[0] if line.split() else ''
            if prompt:
                has_prompts = True
                found.append((at, number, prompt.group(1), []))
            elif not has_prompts and word in PROGRAMS and line[4] != ' ':
                # a synopsis has two spaces or more, and what the command does
                found.append((at, number, re.sub(r'(\S)   *[^ #].*', r'\1', line[4:]), []))
            elif found and has_prompts and word and word != '...':
                found[-1][3].append(line[4:])
        yield from found


def plain(line):
    for pattern, text in NUMBERS:
        line = re.sub(pattern, text, line)
    return line.strip()


def main():
    if sys.argv[1] == 'lacks':
        output = {plain(line) for line in open(sys.argv[3], encoding='utf-8', errors='replace')}
        for line in open(sys.argv[2], encoding='utf-8'):
            if plain(line) not in output:
                print(line, end='')
        return
    count = 0
    for path in sys.argv[3:]:
        for block, number, command, shown in commands(path):
            with open(os.path.join(sys.argv[2], str(count)), 'w', encoding='utf-8') as file:
                file.writelines(line + '\n' for line in shown)
            name = os.path.basename(path)
            print(f'{count}\t{name} {block}\t{name}:{number}\t{command}')
            count += 1


main()
