# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""Values of library calls, by gdb and by us, in one form.

In gdb (-x): the calls of the functions of VALUES_OF that come from another object than the function's are written to
VALUES_OUT, one a line, as they begin. VALUES_OF has words NAME, whose values gdb takes from debug info, and
NAME:RESULT(ARGUMENTS), read from registers at the first instruction: i, u of 32 bits, l, z of 64, s a text, p a
pointer, v none.

As a program: libcalls-gdb.py NAME... < the output of `lttng-spi calls --format json`, the same lines.
"""
import json
import os
import re
import sys


def plain(value):
    """Numbers of any type and texts alike; of a pointer whether it is one."""
    if isinstance(value, str) and re.fullmatch(r"0x[0-9a-f]+", value):
        return "pointer" if int(value, 16) else "null"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return "null" if value == "(null)" else str(value)


def line(name, arguments, result):
    return f"{name}({', '.join(plain(a) for a in arguments)}) = {plain(result)}\n"


def by_us(names):
    calls = {}
    for text in sys.stdin:
        event = json.loads(text)
        if event["function"] not in names:
            continue
        if event["kind"] == "entry":
            calls[event["call"]] = [event["function"], list(event["arguments"].values()), None]
        else:
            calls[event["call"]][2] = event.get("result")
    for number in sorted(calls):
        sys.stdout.write(line(*calls[number]))


def by_gdb():
    import gdb
    calls, waiting, returns = [], [], {}

    def register(name):
        return int(gdb.parse_and_eval(f"(unsigned long) ${name}"))

    def text_at(address):
        return gdb.parse_and_eval(f"(char *) {address}").string(errors="replace") if address else "(null)"

    def of_word(kind, word):
        if kind in "il":
            bits = 32 if kind == "i" else 64
            return ((word & (1 << bits) - 1) ^ 1 << bits - 1) - (1 << bits - 1)
        if kind == "s":
            return text_at(word)
        return hex(word) if kind == "p" else word & 0xffffffff if kind == "u" else word

    def of_value(value):
        """As a list: a structure is its members."""
        kind = value.type.strip_typedefs()
        if kind.code == gdb.TYPE_CODE_STRUCT:
            return [v for field in kind.fields() for v in of_value(value[field])]
        if kind.code == gdb.TYPE_CODE_PTR:
            is_text = kind.target().unqualified().strip_typedefs().name == "char"
            return [text_at(int(value)) if is_text else hex(int(value))]
        if kind.code in (gdb.TYPE_CODE_ENUM, gdb.TYPE_CODE_BOOL):
            return [str(value)]
        if kind.code == gdb.TYPE_CODE_FLT:
            return [float(value)]
        return [chr(int(value)) if kind.name == "char" else int(value)]

    def of_result(kind):
        if isinstance(kind, str):
            return None if kind == "v" else of_word(kind, register("rax"))
        if kind.code == gdb.TYPE_CODE_VOID:
            return None
        if kind.strip_typedefs().code == gdb.TYPE_CODE_FLT:
            return float(gdb.parse_and_eval("$xmm0.v4_float[0]" if kind.sizeof == 4 else "$xmm0.v2_double[0]"))
        return of_value(gdb.Value(register("rax") & (1 << 8 * kind.sizeof) - 1).cast(kind))[0]

    class Return(gdb.Breakpoint):
        def stop(self):
            if waiting and waiting[-1][0] == register("rsp"):
                call, kind = waiting.pop()[1:]
                call[2] = of_result(kind)
            return False

    class Entry(gdb.Breakpoint):
        def __init__(self, word):
            self.word = re.fullmatch(r"(\w+)(?::(.)\((.*)\))?", word)
            super().__init__(("*" if self.word.group(2) else "") + self.word.group(1))

        def stop(self):
            name, kind, arguments = self.word.groups()
            frame = gdb.newest_frame()
            back, stack = frame.older().pc(), int(frame.older().read_register("rsp"))
            if gdb.solib_name(back) == gdb.solib_name(register("rip")):
                return False
            if kind:
                registers = ("rdi", "rsi", "rdx", "rcx", "r8", "r9")
                values = [of_word(k, register(r)) for k, r in zip(arguments, registers)]
            else:
                kind = frame.function().type.target()
                values = [v for s in frame.block() if s.is_argument for v in of_value(s.value(frame))]
            calls.append([name, values, None])
            waiting.append((stack, calls[-1], kind))
            if back not in returns:
                returns[back] = Return(f"*{back}", internal=True)
            return False

    for command in ("set pagination off", "set confirm off", "unset environment LINES",
                    "unset environment COLUMNS", "set breakpoint pending on", "tbreak __libc_start_main", "run"):
        gdb.execute(command)
    for word in os.environ["VALUES_OF"].split():
        Entry(word)
    gdb.execute("continue")
    with open(os.environ["VALUES_OUT"], "w", encoding="utf-8") as out:
        out.writelines(line(*call) for call in calls)


if "VALUES_OUT" in os.environ:
    by_gdb()
else:
    by_us(set(sys.argv[1:]))
