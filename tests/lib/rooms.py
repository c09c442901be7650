#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""The rooms of each part stand in one order, bottom up: a room includes and refers to itself and rooms below it.

A room is a folder. In liblttng-spi/arch/<cpu>/ a folder belongs to the room of its name. What may be otherwise for
now is in rooms-allowed.txt, a line each with its reason; a line that nothing needs any more fails, too.
"""
import collections
import os
import re
import subprocess
import sys

SRC, BUILD = os.environ['SPI_TOP_SRCDIR'], os.environ['SPI_TOP_BUILDDIR']
CIRCLE_MOST = 5
PARTS = {
    'liblttng-spi': 'arch base link signals objects patch cfi calls unwind hooks dispositions ledger process module'
                    ' payload rules tree/sites tree/budget tree ipc control',
    'tp': 'base clock ust describe ledger record compact module',
    'codemap': 'base inflate map names elf dwarf prototypes code types request',
    'injector': 'base procfs inject control serve connections',
    'broker': 'base rules process peers inject scope io',
    'spi-sessiond-plugin': 'base broker daemon registrations thread hooks',
    'reader': 'base trace calls views flow leaks exports pages commands',
    'cli': 'base ui functions daemon rules view run commands',
}


def room_of(path, rooms):
    """The room of a file of a part; None: it stands beside the rooms, and may use them all."""
    arch = re.match(r'arch/[^/]+/([^/]+)/', path)
    if arch and arch[1] in rooms:
        return arch[1]
    return next((room for room in sorted(rooms, key=len, reverse=True) if path.startswith(room + '/')), None)


def sources(part):
    return [os.path.relpath(os.path.join(directory, name), os.path.join(SRC, part))
            for directory, _, names in os.walk(os.path.join(SRC, part)) for name in sorted(names)
            if name.endswith(('.c', '.h', '.S')) and '/null' not in directory]


def symbols(part, source):
    """What the object of a source defines, and what it wants; None: it was not built."""
    folder, name = os.path.split(os.path.splitext(source)[0])
    build = os.path.join(BUILD, part, folder)
    for directory in (os.path.join(build, '.libs'), build):
        if not os.path.isdir(directory):
            continue
        objects = os.listdir(directory)
        # Automake puts the library's name before the object's where a library has flags of its own.
        for found in [name + '.o'] * (name + '.o' in objects) or \
                [o for o in objects if re.fullmatch(r'(\w+_la|lttng)-' + re.escape(name) + r'\.o', o)]:
            defined, wanted = set(), set()
            for line in subprocess.run(['nm', os.path.join(directory, found)], capture_output=True, text=True,
                                       check=True).stdout.splitlines():
                kind, symbol = line.split()[-2:]
                if not symbol.startswith(('spi_', 'tp_')) and part in ('liblttng-spi', 'tp'):
                    continue	# libc's names, which hooks define
                if kind == 'U':
                    wanted.add(symbol)
                elif kind in 'TDBRVWG':
                    defined.add(symbol)
            return defined, wanted
    return None


def circles(graph):
    """Sets of files that call each other in a circle (Tarjan's strongly connected components)."""
    index, low, stack, on_stack, found = {}, {}, [], set(), []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        on_stack.add(node)
        for to in graph[node]:
            if to not in index:
                visit(to)
                low[node] = min(low[node], low[to])
            elif to in on_stack:
                low[node] = min(low[node], index[to])
        if low[node] == index[node]:
            circle = []
            while not circle or circle[-1] != node:
                circle.append(stack.pop())
                on_stack.discard(circle[-1])
            found.append(sorted(circle))
    for node in list(graph):
        if node not in index:
            visit(node)
    return [circle for circle in found if len(circle) > 1]


def look(part, rooms):
    """Complaints about one part."""
    place = {room: number for number, room in enumerate(rooms)}
    owner, objects, complaints = {}, {}, []
    for source in sources(part):
        room = room_of(source, rooms)
        with open(os.path.join(SRC, part, source), encoding='utf-8') as text:
            for header in re.findall(r'^#include "%s/([^"]+)"' % re.escape(part), text.read(), re.M):
                above = room_of(header, rooms)
                if room and above and place[above] > place[room]:
                    complaints.append(f'{part}/{room}: {header} of {above}, {source}')
        found = symbols(part, source) if not source.endswith('.h') else None
        if found:
            objects[source] = found[1]
            for symbol in found[0]:
                owner[symbol] = source
        elif room and not source.endswith('.h'):
            complaints.append(f'{part}/{room}: was not built, {source}')
    graph = collections.defaultdict(set)
    for source, wanted in objects.items():
        room = room_of(source, rooms)
        for symbol in sorted(wanted & owner.keys()):
            to = owner[symbol]
            above = room_of(to, rooms)
            if room and above and place[above] > place[room]:
                complaints.append(f'{part}/{room}: {symbol} of {above}, {source}')
            elif to != source and room == above:
                graph[source].add(to)
    for circle in circles(graph):
        if len(circle) > CIRCLE_MOST:
            complaints.append(f'{part}/{room_of(circle[0], rooms)}: a circle of {len(circle)} files, ' + ' '.join(circle))
    if not objects:
        complaints.append(f'{part}: nothing was built')
    return complaints


def main():
    with open(os.path.join(SRC, 'tests/system/rooms-allowed.txt'), encoding='utf-8') as text:
        allowed = [line.split(' # ')[0].strip() for line in text if not line.startswith('#')]
    needed = set()
    for number, (part, rooms) in enumerate(PARTS.items(), 1):
        complaints = []
        for complaint in look(part, rooms.split()):
            pattern = next((line for line in allowed if complaint.startswith(line)), None)
            if pattern:
                needed.add(pattern)
            else:
                complaints.append(complaint)
        for complaint in complaints:
            print('#', complaint)
        print('not ok' if complaints else 'ok', number, f'- {part}: each room calls rooms below it only')
    idle = [line for line in allowed if line not in needed]
    for line in idle:
        print('# nothing needs:', line)
    print('not ok' if idle or len(allowed) > 10 else 'ok', len(PARTS) + 1, '- at most ten exceptions, and each is needed')
    print(f'1..{len(PARTS) + 1}')
    return 0


if __name__ == '__main__':
    sys.exit(main())
