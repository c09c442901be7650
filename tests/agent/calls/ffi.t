#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A function that returns by a copy of its return address, from another place on the
# stack: libffi's, through which python3 calls C functions and is called back. Its
# callees are traced, it is not, and says why.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
cat >foreign.py <<'P'
import ctypes
c = ctypes.CDLL(None)
c.atof.restype = ctypes.c_double
print(c.atof(b"1.5"), c.abs(-3), c.toupper(97))
Compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
numbers = (ctypes.c_int * 5)(5, 1, 4, 2, 3)
c.qsort(numbers, 5, 4, Compare(lambda a, b: a[0] - b[0]))
print(list(numbers))
class Quotient(ctypes.Structure):
    _fields_ = [("quotient", ctypes.c_int), ("rest", ctypes.c_int)]
c.div.restype = Quotient
print(c.div(7, 2).quotient, c.div(7, 2).rest)
P
python=$(readlink -f /usr/bin/python3)
"$python" foreign.py >plain
is $? 0 "the program by itself" || { tap_done; exit; }
# From the beginning: functions of libraries that are loaded later are not looked for.
ffi=$(ldconfig -p | awk '/libffi\.so\.[0-9]+ .*x86-64/ { print $NF; exit }')
LD_PRELOAD=$ffi spi_trace -f 'libffi.so*:*' -f atof -f div -o f "$python" foreign.py >traced
is $? 0 "libffi's functions, and those called through it: status" || diag "$(tail -n 5 trace.err)"
same_file traced plain "output"
is "$(spi_count f atof_entry)/$(spi_count f div_exit)" 1/2 "the calls are recorded"
like "$(cat trace.err)" 'calling convention of its own' "and what is not instrumented is named with its reason"
for option in '' --compact; do
	spi_trace --tree $option -o "t$option" "$python" foreign.py >traced
	is $? 0 "everything below main() ${option:-plain}: status" || diag "$(tail -n 5 trace.err)"
	same_file traced plain "output"
done
tap_done
