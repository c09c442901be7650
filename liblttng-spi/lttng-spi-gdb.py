# SPDX-License-Identifier: LGPL-2.1-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# For gdb: a program that is traced looks as if it was not. Each traced call has a
# return slot between itself and its caller, which is a frame of its own for gdb.
# A frame filter leaves it out of `bt` (`bt -no-filters` has it), and a hook makes
# `finish` go on through it to the caller. gdb loads this by itself with a library
# that is installed below the same prefix; elsewhere: source .../lttng-spi-gdb.py
"""lttng-spi: return slots of traced calls left out of bt and finish."""

import gdb

SLOTS = "spi_slot_code_base"


class SpiSlotFilter:
    """Leaves the frames of return slots out."""

    def __init__(self):
        self.name = "lttng-spi-slots"
        self.priority = 100
        self.enabled = True
        gdb.frame_filters[self.name] = self

    def filter(self, frames):
        return (frame for frame in frames if frame.inferior_frame().name() != SLOTS)


class SpiFinishThrough(gdb.Command):
    """Finish what waits in return slots of lttng-spi; called after every `finish`."""

    def __init__(self):
        super().__init__("spi-finish-through", gdb.COMMAND_RUNNING)

    def invoke(self, argument, from_tty):
        self.dont_repeat()
        # A slot's call may have been a tail call: then its caller is another slot.
        for _ in range(64):
            thread = gdb.selected_thread()
            if thread is None or not thread.is_stopped() or gdb.newest_frame().name() != SLOTS:
                return
            gdb.execute("finish", from_tty)


SpiSlotFilter()
SpiFinishThrough()
gdb.execute("define hookpost-finish\nspi-finish-through\nend")
