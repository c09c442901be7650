#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# timeout: 100
#
# Code whose language's runtime looks up the return addresses that it finds on the
# stack: nothing in it is changed and its calls are not redirected, which is named; what is around it is
# recorded. A program that is made like that, then node, OCaml's compiler and Go
# where they are.
. "${SPI_TOP_SRCDIR:?}/tests/lib/follow.sh"
spi_private "$@"
spi_daemon
tree_tools
reason="its runtime looks up return addresses, or copies stacks"

# -fno-toplevel-reorder: the marks of the unit stay around its functions
tree_cc managed managed.c -O2 -fno-toplevel-reorder -fno-optimize-sibling-calls
followed "made" "" ./managed
named=$(cat t/not-instrumented.txt)
like "$named" "camlUnit__entry_1.*$reason" "a function that is called through a pointer is named"
like "$named" "managed:main\+0x.*$reason" "a call of such a function is named"
like "$named" "Builtins_CEntry.*$reason|managed:main\+0x.*$reason" "a builtin is named"
address() { printf '+0x%x' "0x$(nm managed | awk -v name="$1" '$3 == name { print $1 }')"; }
entries() { awk -F '\t' -v where="$PWD/managed$(address "$1")" '$2 == where { n += $1 } END { print n + 0 }' t.counts; }
is "$(entries camlUnit__step_2), $(entries camlUnit__collect_3), $(entries Builtins_CEntry)" "0, 0, 0" "none of them is recorded"
is "$(entries usual), $(entries usual_leaf), $(entries after)" "100, 700, 100" "what is called beside them is, below them too, and what lies behind them"

# functions by name: the same
"$SPI_LTTNG" trace -f 'managed:*' -o f ./managed >traced.out 2>traced.err
is "$?, $(cat traced.out)" "0, $(cat plain.out)" "every function by its name: status and output"
like "$(cat f/not-instrumented.txt)" "managed:camlUnit__step_2.*$reason" "not instrumented, and named"
is "$(spi_count f usual_leaf_entry)" 700 "the others are recorded"
"$SPI_LTTNG" trace --tree=_ZN2v88internal12Builtin_LookEiPmPNS0_7IsolateE --tree=usual -o g ./managed >traced.out 2>traced.err
is "$?, $(cat traced.out)" "0, $(cat plain.out)" "as a root: status and output"

# real NAME COMMAND... - an installed one
real() {
	local name=$1
	shift
	if command -v "$1" >/dev/null; then
		followed "$name" --compact "$@"
	else
		skip "$name" "$1 is not installed"
	fi
}
cat >a.js <<'J'
let kept = [];
for (let i = 0; i < 20000; i++) kept.push({ i, s: 'x' + i });
try { kept.map(x => { if (x.i > 15000) throw new Error('thrown'); return [x]; }); } catch (e) { console.log(e.message); }
console.log(kept.length);
J
real "node" node a.js
cat >a.ml <<'M'
let rec build n = if n = 0 then [] else string_of_int n :: build (n - 1)
let () =
  Gc.compact ();
  print_int (List.length (List.sort compare (build 20000)));
  (try ignore (List.find (fun x -> x > 5) [1]) with Not_found -> print_endline " not found");
  exit 3
M
if command -v ocamlopt >/dev/null; then
	ocamlopt a.ml -o native >/dev/null 2>&1
	real "OCaml" ./native
	real "OCaml's compiler" ocamlopt -c a.ml
else
	skip "OCaml" "ocamlopt is not installed"
fi
tap_done
