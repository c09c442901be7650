# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""For gdb -x: what gdb's `bt` has above each call of hit(), in BACKTRACE_OUT. BACKTRACE_MOST: frames at most."""
import os
import gdb

MOST = int(os.environ['BACKTRACE_MOST'])
out = open(os.environ['BACKTRACE_OUT'], 'w', encoding='utf-8')


def place(address):
    with open(f'/proc/{gdb.selected_inferior().pid}/maps', encoding='utf-8') as maps:
        regions = [line.split() for line in maps]
    path = next((r[5] for r in regions if len(r) > 5 and r[5][0] == '/' and
                 int(r[0].split('-')[0], 16) <= address < int(r[0].split('-')[1], 16)), None)
    if not path:
        return f'?{address & 0xfff:x}'
    base = min(int(r[0].split('-')[0], 16) for r in regions if len(r) > 5 and r[5] == path)
    return f'{os.path.basename(path)}+{address - base:x}'


class Hit(gdb.Breakpoint):
    def stop(self):
        number = int(gdb.parse_and_eval('$rdi')) & 0xffffffff
        frame, words = gdb.newest_frame(), []
        while frame.type() == gdb.INLINE_FRAME:
            frame = frame.older()
        frame = frame.older()
        while frame and frame.is_valid() and len(words) <= MOST:
            if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):	# these are on no stack
                words.append(place(frame.pc()))
            frame = frame.older()
        end = 'limit' if len(words) > MOST else 'complete'
        out.write(' '.join([str(number), end] + words[:MOST]) + '\n')
        return False


gdb.execute('set pagination off')
gdb.execute('set confirm off')
gdb.execute('set backtrace past-main on')
gdb.execute('set breakpoint pending on')
gdb.execute('set print thread-events off')
gdb.execute('handle SIGUSR1 SIGUSR2 nostop noprint pass')
Hit('*hit')
gdb.execute('run')
out.close()
