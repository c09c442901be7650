#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""Reads the text that babeltrace2 prints, for the tests.

    events.py count FILE              one line an event name: COUNT NAME
    events.py balance FILE [OPTION]   checks that each thread's exits match its
                                      entries, innermost first
        --open N      this many calls may be left open at the end (0)
        --lossy       entries may be missing, exits never without an entry
    events.py threads FILE NAME       one line a thread: VTID ENTRIES EXITS
    events.py print FILE              one line an event: NAME|field=value|...
    events.py compare FILE RECORD     the traced values against a program's own
                                      record of them, in order (see compare())
    events.py rust FILE RECORD MAX    likewise, where values may be said to be not
                                      known; at most MAX percent of the arguments
    events.py lost FILE.warn          events that LTTng says it discarded

FILE is '-' for standard input. babeltrace2's output is used rather than its
Python bindings, because it is what a user sees, and is always installed.
"""
import collections
import re
import sys

# [10:42:02.982046377] (+0.000000123) host provider:name: { cpu_id = 1 }, { vpid = 1, vtid = 2 }, { a = 1 }
LINE = re.compile(r'^\[[^\]]*\] \(\+[^)]*\) \S+ (?P<name>.*?): \{ cpu_id = \d+ \}(?P<rest>.*)$', re.S)
FAST = re.compile(r' spi:(?P<name>.*?)_(?P<kind>entry|exit): \{ cpu_id = \d+ \}, \{[^}]*vtid = (?P<vtid>\d+)')


class Event:
    """One event: name without provider, provider, context and payload as ordered dicts of strings."""

    def __init__(self, line):
        match = LINE.match(line)
        if not match:
            raise ValueError(line)
        self.provider, _, self.name = match.group('name').partition(':')
        groups = []
        scanner = Scanner(match.group('rest'))
        while scanner.take(', {'):
            groups.append(scanner.fields())
        self.context = groups[0] if len(groups) > 1 else {}
        self.fields = groups[-1] if groups else {}


class Scanner:
    """A cursor over babeltrace2's `{ name = value, ... }` notation."""

    VALUE = re.compile(r'[^,\s\]\}\)]+')

    def __init__(self, text):
        self.text, self.at = text, 0

    def take(self, literal):
        if self.text.startswith(literal, self.at):
            self.at += len(literal)
            return True
        return False

    def spaces(self):
        while self.text[self.at:self.at + 1] == ' ':
            self.at += 1

    def fields(self):
        """Up to and including the closing brace."""
        out = collections.OrderedDict()
        self.spaces()
        while not self.take('}'):
            end = self.text.index(' = ', self.at)
            name = self.text[self.at:end].strip()
            self.at = end + 3
            out[name] = self.value()
            self.take(',')
            self.spaces()
        return out

    def value(self):
        self.spaces()
        if self.text[self.at] == '"':
            return self.string()
        if self.take('('):
            return self.enumeration()
        if self.take('['):
            return self.array()
        match = self.VALUE.match(self.text, self.at)
        self.at = match.end()
        return match.group()

    def string(self):
        """With its quotes and escapes, so that a string never equals a number."""
        begin = self.at
        self.at += 1
        while self.text[self.at] != '"':
            self.at += 2 if self.text[self.at] == '\\' else 1
        self.at += 1
        return self.text[begin:self.at]

    def enumeration(self):
        """( "LABEL" : container = 2 ) -> 2, or with several or no labels likewise."""
        end = self.text.index('container = ', self.at)
        label = self.text[self.at:end]
        self.at = end + len('container = ')
        number = self.value()
        self.spaces()
        self.take(')')
        names = re.findall(r'"((?:[^"\\]|\\.)*)"', label)
        return number if not names else '%s<%s>' % (number, ','.join(names))

    def array(self):
        items = []
        self.spaces()
        while not self.take(']'):
            self.at = self.text.index(' = ', self.at) + 3
            items.append(self.value())
            self.spaces()
            self.take(',')
            self.spaces()
        return '[' + ' '.join(items) + ']'


def lines(name):
    stream = sys.stdin if name == '-' else open(name, errors='surrogateescape')
    with stream:
        for line in stream:
            yield line.rstrip('\n')


def events(name):
    for line in lines(name):
        if LINE.match(line):
            yield Event(line)


def count(name):
    total = collections.Counter(event.provider + ':' + event.name for event in events(name))
    for key in sorted(total):
        print(total[key], key)
    return 0


def balance(name, options):
    """A stack a thread. Without loss an exit names the top; with loss the same: an unrecorded call has no exit either."""
    allowed = int(options[options.index('--open') + 1]) if '--open' in options else 0
    stacks = collections.defaultdict(list)
    entries = exits = orphans = crossed = 0
    for line in lines(name):
        match = FAST.search(line)
        if not match:
            continue
        stack = stacks[match['vtid']]
        if match['kind'] == 'entry':
            entries += 1
            stack.append(match['name'])
            continue
        exits += 1
        if not stack:
            orphans += 1
        elif stack.pop() != match['name']:
            crossed += 1
    left = sum(len(stack) for stack in stacks.values())
    print('entries %d exits %d orphan exits %d crossed %d open %d threads %d'
          % (entries, exits, orphans, crossed, left, len(stacks)))
    return 1 if orphans or crossed or left > allowed or not entries else 0


def threads(name, function):
    table = collections.OrderedDict()
    for line in lines(name):
        match = FAST.search(line)
        if match and match['name'] == function:
            row = table.setdefault(match['vtid'], [0, 0])
            row[0 if match['kind'] == 'entry' else 1] += 1
    for vtid, (entries, exits) in table.items():
        print(vtid, entries, exits)
    return 0


def show(name):
    for event in events(name):
        print('|'.join([event.name] + ['%s=%s' % item for item in event.fields.items()]))
    return 0


def equal(got, value):
    if value.endswith('~'):
        return got.startswith(value[:-1])
    return value in ('*', got, got.partition('<')[0])


def compare(trace, record):
    """RECORD has lines `NAME_entry|field=value|...` and `NAME_exit|...` as the program itself saw them.

    Every line must equal the event in its place; a field the program did not
    write down may be in the event (its own padding, nested pointers), never the
    other way round. A value `*` matches anything, `"abc~` any string that begins so;
    of `?value` the event may say that it is not known.
    """
    wanted = [line for line in lines(record) if '|' in line or line.endswith(('_entry', '_exit'))]
    names = {line.partition('|')[0] for line in wanted}
    traced = [event for event in events(trace) if event.provider == 'spi' and event.name in names]
    bad = 0
    for index, line in enumerate(wanted):
        name, *pairs = line.split('|')
        if index >= len(traced):
            print('missing from event %d on: %s' % (index, line))
            bad += len(wanted) - index
            break
        event = traced[index]
        problems = []
        if event.name != name:
            print('event %d is %s, expected %s' % (index, event.name, name))
            return 1
        for pair in pairs:
            field, _, value = pair.partition('=')
            got = event.fields.get(field)
            if value.startswith('?'):
                value = value[1:]
                said = event.fields.get('not_known', '')
                if got is None and (field + ' = <' in said or field.split('_')[0] + ' = <' in said):
                    continue    # the member, or the whole parameter
            if got is None:
                problems.append('no field %s in {%s}' % (field, ', '.join(event.fields)))
            elif not equal(got, value):
                problems.append('%s is %s, the program says %s' % (field, got, value))
        for problem in problems:
            print('%s: %s' % (name, problem))
        bad += bool(problems)
    if len(traced) > len(wanted):
        print('%d events more than the program made calls, first %s' % (len(traced) - len(wanted), traced[len(wanted)].name))
        bad += 1
    print('compared %d records, %d differ' % (len(wanted), bad))
    return 1 if bad or not wanted else 0


def flat(fields):
    """Arrays as one field an element: what is one array in memory is several fields in registers."""
    out = {}
    for name, value in fields.items():
        out[name] = value
        if value.startswith('['):
            out.update(('%s_%d' % (name, i), item) for i, item in enumerate(value[1:-1].split(' ')))
    return out


def is_named(field, text):
    """Does the event's not_known name the field, a part of it, or what it is part of?"""
    names = [part.partition(' = ')[0].strip() for part in text.strip('"').split(';')]
    return any(field == n or field.startswith(n + '_') or n.startswith(field + '_') for n in names)


def rust(trace, record, most):
    wanted = [line for line in lines(record) if line.startswith('sig_')]
    names = {line.partition('|')[0] for line in wanted}
    # Instances of one generic function are numbered. An exit without a value has no line in the record.
    traced = [event for event in events(trace)
              if re.sub(r'.*::(?=sig_)|::<.*>(?=_e)|@\d+', '', event.name) in names]
    bad = arguments = unknown = results = 0
    if len(traced) != len(wanted):
        print('%d events, the program wrote down %d' % (len(traced), len(wanted)))
        return 1
    for event, line in zip(traced, wanted):
        name, *pairs = line.split('|')
        if name not in re.sub(r'::<.*>(?=_e)|@\d+', '', event.name):
            print('%s instead of %s' % (event.name, name))
            return 1
        fields, missing, seen = flat(event.fields), set(), set()
        for field, _, value in (pair.partition('=') for pair in pairs):
            seen.add(field.partition('_')[0])
            if field in fields:
                if not equal(fields[field], value) and fields[field] != value:
                    print('%s: %s is %s, the program says %s' % (name, field, fields[field], value))
                    bad += 1
            elif is_named(field, event.fields.get('not_known', '')):
                missing.add(field.partition('_')[0])
            else:
                print('%s: neither %s nor a word of it in {%s}' % (name, field, event.fields))
                bad += 1
        if name.endswith('_entry'):
            arguments += len(seen)
            unknown += len(missing)
        else:
            results += not missing
    print('%d arguments, %d not known; %d results are known; %d differ' % (arguments, unknown, results, bad))
    return 1 if bad or not wanted or unknown * 100 > arguments * int(most) else 0


def lost(name):
    total = 0
    for line in lines(name):
        match = re.search(r'[Tt]racer discarded (\d+) event', line)
        if match:
            total += int(match.group(1))
    # Differences of a counter of 64 bits, of which the highest can be set by mistake.
    print(total & (1 << 63) - 1)
    return 0


def main(argv):
    if len(argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    command, *rest = argv[1:]
    if command == 'balance':
        return balance(rest[0], rest[1:])
    table = {'count': count, 'threads': threads, 'print': show, 'compare': compare, 'rust': rust, 'lost': lost}
    return table[command](*rest)


if __name__ == '__main__':
    try:
        sys.exit(main(sys.argv))
    except BrokenPipeError:
        sys.exit(1)
