#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""Rounds of programs/busy.c in a recording (calls --sequence).

    rounds.py PROGRAM SEQUENCE CHANGES KIND...

Each t_round() that was recorded has all the calls that one has, under one of the rules that were in force
(KIND: full, depth2, nobranch), but those during which a rule was taken out: no more of them in a thread than
there were changes, and none has more than a full one. Handlers, and what they call, come on top. Prints how many there are
of each.
"""
import collections
import subprocess
import sys

KINDS = {
    'full': dict(t_round=1, t_fib=15, t_leaf=8, t_pick=8, t_even=4, t_odd=4, t_branch=1, t_twig=5),
    'depth2': dict(t_round=1, t_fib=3, t_pick=8, t_even=4, t_odd=4, t_branch=1, t_twig=5),
    'nobranch': dict(t_round=1, t_fib=15, t_leaf=8, t_pick=8, t_even=4, t_odd=4),
}


def names(program):
    out = subprocess.run(['nm', program], capture_output=True, text=True, check=True).stdout
    return {int(words[0], 16): words[2] for words in map(str.split, out.splitlines()) if len(words) == 3 and words[1] in 'tT'}


def threads(name):
    events = None
    with open(name) as stream:
        for line in stream:
            if line.startswith('thread'):
                if events is not None:
                    yield events
                events = []
            else:
                events.append(None if line.startswith('<') else int(line.split('\t')[1].rpartition('+')[2], 16))
    if events is not None:
        yield events


def rounds(events, function):
    """A count of functions for each outermost call; of a handler's nothing is counted."""
    stack, count, handled = [], collections.Counter(), collections.Counter()
    for event in events:
        if event is None:
            name = stack.pop()
            if name == 'handler' and 'handler' not in stack:
                yield handled
                handled = collections.Counter()
            if not stack:
                if name != 'handler':
                    yield count
                count = collections.Counter()
            continue
        name = function.get(event, hex(event))
        stack.append(name)
        if name != 't_handled' or 'handler' in stack:  # its caller may not be recorded when a rule comes
            (handled if 'handler' in stack else count)[name] += 1


def main(program, sequence, changes, *kinds):
    function, seen, bad = names(program), collections.Counter(), []
    for number, events in enumerate(threads(sequence)):
        partial = 0
        for count in rounds(events, function):
            if 'handler' in count:
                seen['handlers'] += 1
                continue
            kind = [kind for kind in kinds if count == KINDS[kind]]
            if kind:
                seen[kind[0]] += 1
                continue
            partial += 1
            if any(n > KINDS['full'].get(name, 0) for name, n in count.items()):
                bad.append('thread %d: %s' % (number, dict(count)))
            seen['partial'] += 1
            last = dict(count)
        if partial > int(changes):
            bad.append('thread %d: %d rounds are incomplete, as %s' % (number, partial, last))
    print(' '.join('%s %d' % pair for pair in sorted(seen.items())))
    for kind in kinds:
        if not seen[kind]:
            bad.append('no round of kind %s' % kind)
    print('\n'.join(bad[:10]))
    return 1 if bad else 0


sys.exit(main(*sys.argv[1:]))
