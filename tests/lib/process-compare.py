#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""
process-compare.py STRACE EVENTS - processes as `strace -f -e trace=process -o STRACE` has them and as the events
spi_process:* have them, which babeltrace2 has printed to EVENTS: of two runs of one command, so not by their numbers.
Of each process: the programs that it has executed, its status, and the programs of its parent. Prints "same N", the
number of processes; or what only one of the two has, and status 1.
"""
import collections
import re
import sys


class Process:
    def __init__(self, parent=None):
        self.parent, self.programs, self.status, self.ends = parent, [], None, 0


def of_strace(path):
    """Threads have numbers of their own: they are no processes, and their lines are their process's."""
    all, threads, open_calls = {}, {}, {}
    for line in open(path, errors="replace"):
        number, text = line.rstrip("\n").split(None, 1)
        pid = threads.get(int(number), int(number))
        process = all.setdefault(pid, Process())
        if text.endswith("<unfinished ...>"):
            open_calls[number] = text[:-len("<unfinished ...>")]
            continue
        resumed = re.match(r"<\.\.\. \w+ resumed>(.*)", text)
        if resumed:
            text = open_calls.pop(number, "") + resumed.group(1)
        call = re.match(r"(\w+)\((.*)\)\s+= (-?\d+)", text)
        if call and call.group(1) in ("execve", "execveat") and call.group(3) == "0":
            process.programs.append(re.search(r'"((?:[^"\\]|\\.)*)"', call.group(2)).group(1))
        elif call and call.group(1) in ("clone", "clone3", "fork", "vfork") and int(call.group(3)) > 0:
            if "CLONE_THREAD" in call.group(2):
                threads[int(call.group(3))] = pid
            else:
                all.setdefault(int(call.group(3)), Process()).parent = pid
        elif text.startswith("+++ exited with "):
            if int(number) == pid:
                process.status, process.ends = int(text.split()[3]), 1
        elif text.startswith("+++ killed by "):
            if int(number) == pid:
                process.status, process.ends = text.split()[3], 1
    return all


def of_events(path):
    import signal

    def status_of(values):
        number = int(values["signal"])
        return signal.Signals(number).name if number else int(values["code"])

    all = {}
    for line in open(path, errors="replace"):
        event = re.search(r" spi_process:(\w+): .*?vpid = (\d+).*?\}, \{ (.*) \}$", line.rstrip("\n"))
        if not event:
            continue
        name, pid = event.group(1), int(event.group(2))
        values = dict(re.findall(r'(\w+) = ("(?:[^"\\]|\\.)*"|[^,]+)', event.group(3)))
        process = all.setdefault(pid, Process())
        if name == "program":
            process.programs.append(values["path"].strip('"'))
            process.parent = process.parent or int(values["parent"])
        elif name == "created":
            all.setdefault(int(values["child"]), Process()).parent = pid
        elif name == "ended":
            process.status = status_of(values)
            process.ends += 1
        elif name == "waited":
            child = all.setdefault(int(values["child"]), Process())
            child.parent = child.parent or pid
            if child.ends and child.status not in (-1, status_of(values)):
                print(f"process {values['child']}: it says {child.status}, its parent {status_of(values)}")
            child.status = status_of(values)
            child.ends = child.ends or 1
    return all


def described(all):
    """A parent of the command's own is not among them."""
    lines = collections.Counter()
    for process in all.values():
        parent = all.get(process.parent)
        lines[f"{' then '.join(process.programs) or '-'} status {process.status}"
              f" parent {' then '.join(parent.programs) or '-' if parent else 'none'}"
              f"{'' if process.ends == 1 else f' told {process.ends} times'}"] += 1
    return lines


def main():
    strace, events = (described(f(path)) for f, path in ((of_strace, sys.argv[1]), (of_events, sys.argv[2])))
    for title, only in (("strace", strace - events), ("events", events - strace)):
        for line, count in sorted(only.items()):
            print(f"{title} only, {count}: {line}")
    if strace != events:
        sys.exit(1)
    print(f"same {sum(strace.values())}")


main()
