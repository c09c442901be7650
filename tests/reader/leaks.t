#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# `lttng-spi leaks`: what a program has left is what the program knows to have left, in all forms; blocks given back
# twice or never got, descriptors and threads, what was live at a time; and what valgrind says of Debian's programs.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
spi=$SPI_TOP_BUILDDIR/reader/lttng-spi
spi_cc memory memory.c
spi_cc memory-new memory.cc -std=c++17
record() {
	local name=$1
	shift
	may_die timeout $((60 * SPI_PATIENCE)) "$SPI_LTTNG" -q trace --memory --backtrace -o "$name" "$@" >"$name.out" 2>"$name.err" </dev/null
}
# of DIR EXPRESSION [OPTION...] - of the JSON: every process, p: the first process, g: its groups, by function: f(group)
of() {
	local dir=$1 expression=$2
	shift 2
	"$spi" leaks --format json "$@" "$dir" >json 2>json.err
	python3 -c 'import json, sys
every = json.load(open("json")); p = every[0]; g = p.get("groups")
f = lambda x: x["stack"][0]["function"]
print(eval("(%s)" % sys.argv[1]))' "$expression"
}

# ---- 1000 blocks in 20 places ----
record leaks ./memory leaks
is $? 0 "leaks: status" || diag "$(cat leaks.err)"
is "$(of leaks 'p["bytes"], p["blocks"], len(g)')" "(110830, 1000, 20)" "1000 blocks in 20 places"
is "$(of leaks '{f(x): (x["blocks"], x["bytes"], x["allocations"], x["freed"]) for x in g} ==
	{"place_%d" % i: (31 + 2 * i, (31 + 2 * i) * (100 + i), 62 + 4 * i, 31 + 2 * i) for i in range(20)}')" True "each with its blocks and bytes"
line=$(grep -n '^PLACES(PLACE)' "$SPI_PROGRAMS/memory.c" | cut -d: -f1)
is "$(of leaks 'set((x["stack"][0]["file"].split("/")[-1], x["stack"][0]["line"], x["stack"][1]["function"]) for x in g)' --lines)" \
	"{('memory.c', $line, 'leaks')}" "by source line, and who called"
is "$(of leaks 'len(g), g[0]["name"], g[0]["bytes"]' --by function)" "(20, 'place_19 [memory]', 8211)" "--by function"
is "$(of leaks '[(x["name"], x["blocks"]) for x in g]' --by object)" "[('memory', 1000)]" "--by object"
is "$(of leaks 'max(x["blocks"] for x in g), f(g[0])' --sort calls)" "(69, 'place_19')" "--sort calls"
is "$(of leaks 'all(0 < x["lifetime_p50_ns"] <= x["lifetime_max_ns"] for x in g)')" True "lifetimes of what was given back"
is "$("$spi" leaks --format csv leaks | python3 -c '
import csv, sys
rows = list(csv.DictReader(sys.stdin))
print(len(rows), sum(int(r["bytes"]) for r in rows), sum(int(r["blocks"]) for r in rows))')" "20 110830 1000" "CSV says the same"
is "$("$spi" leaks --folded leaks | awk '{ sum += $NF; stacks++ } END { print stacks, sum }')" "20 110830" "folded stacks, too"
like "$("$spi" leaks --folded leaks)" ';main;leaks;place_19 8211|;leaks;place_19 8211' "from the outermost function on"
"$spi" leaks --limit 3 leaks >text
is "$(grep -c ' place_' text) $(grep -c 'and 17 more: --limit 0' text)" "3 1" "text: the first rows, and how many more" || diag "$(cat text)"
like "$(cat text)" 'live at the end: 110830 bytes in 1000 blocks' "its title"
"$spi" leaks --limit 0 --lines leaks >text
is "$(grep -c "place_[0-9]*+0x[0-9a-f]* \[memory\] at memory.c:$line\$" text)" 20 "--limit 0 --lines"
page=$("$spi" leaks --flame leaks 2>&1 | head -c 200)
like "$page" 'html|this build has no page' "a page of flame graphs, or why there is none"
if [[ $page == *html* ]]; then
	"$spi" leaks --flame -o flame.html leaks
	is "$(python3 -c '
import base64, gzip, json, re
text = re.search(r"id=\"profile\"[^>]*>(.*?)</script>", open("flame.html").read(), re.S)[1]
page = json.loads(gzip.decompress(base64.b64decode(text)))
one = page["profiles"][0]
names = [f["name"] for f in page["shared"]["frames"]]
print(len(one["samples"]), sum(one["weights"]), one["unit"], names[one["samples"][0][-1]])')" "20 110830 bytes place_19" "the page's bytes"
else
	skip 1 "this build has no page of flame graphs"
fi

# ---- over time ----
middle=$(of leaks '(p["peak_ns"] + 0) // 1' 2>/dev/null)
is "$(of leaks 'p["bytes"]' --at "$(python3 -c "print('%d.%09d' % divmod($middle, 10**9))")")" "$(of leaks 'p["peak_bytes"]')" \
	"--at: what was live at the peak"
is "$(of leaks 'max(x["bytes"] for x in p["points"]), p["points"][-1]["ns"] <= 2**63' --times)" "($(of leaks 'p["peak_bytes"]'), True)" \
	"live bytes over time"
like "$("$spi" leaks --times leaks)" '110[0-9]{3} \|@{49,50}$' "as a graph"

# ---- C++ ----
record new ./memory-new
is "$? $(of new 'sorted((x["name"], x["bytes"], x["blocks"]) for x in g if "memory-new" in x["name"])' --by function)" \
	"0 [('by_aligned() [memory-new]', 256, 1), ('by_array() [memory-new]', 100, 2), ('by_new() [memory-new]', 300, 3), ('by_nothrow() [memory-new]', 70, 1)]" \
	"C++: new, new[], aligned and nothrow new" || diag "$(cat new.err)"
is "$(of new 'p["double_frees"], p["foreign_frees"]')" "(0, 0)" "C++: what is thrown is given back as other blocks are"

# ---- what is wrong ----
for what in double foreign; do
	record $what ./memory $what
	is $? 134 "$what: libc ends the program"
	is "$(of $what "p['${what}_frees'], p['$what'][0]['by'][0]['function'], len(p['$what'])")" "(1, 'main', 1)" "$what: named, with who did it"
done
like "$("$spi" leaks double)" 'given back twice: 1' "a block given back twice, as text"
like "$("$spi" leaks double)" 'allocated by main\+' "and who had allocated it"

# ---- descriptors, threads, mappings ----
record descriptors ./memory descriptors
is "$(of descriptors '["stays %s %s" % (x["number"], x["made_by"].split()[0]) for x in p["there"] if x["kind"] == "descriptor"]' --resources)" \
	"$(python3 -c 'print(sorted(open("descriptors.out").read().splitlines(), key=lambda l: int(l.split()[1])))')" "descriptors that stay" ||
	diag "$(cat descriptors.err)"
is "$(of descriptors '[(k, p[k]["made"], p[k]["given_back"]) for k in ("descriptors", "threads")]' --resources)" \
	"[('descriptors', 8, 4), ('threads', 3, 2)]" "how many were made and given back"
is "$(of descriptors 'sorted((x["size"], x["made_by"]) for x in p["there"] if x["kind"] == "mapping" and x["stack"][0]["function"] == "descriptors")' --resources)" \
	"[(4096, 'mmap'), (8192, 'mmap')]" "a mapping that a part was taken out of: how both others were made"
is "$(of descriptors '[x["kind"] for x in p["there"]]' --resources --limit 1)" "['descriptor', 'thread', 'mapping']" \
	"--limit: so many of each kind, in JSON as in text"
like "$("$spi" leaks --resources --lines descriptors)" 'open /etc/passwd' "with the file's name"

# ---- without -o ----
spi_trace --memory ./memory leaks >table
is $? 0 "without -o: status"
like "$(cat table)" 'live at the end: 110830 bytes in 1000 blocks' "the table is printed" || diag "$(cat trace.err)"
is "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'lttng-spi-memory-*' -newer leaks.out)" "" "and nothing is kept"

# ---- what cannot be ----
for options in "--by colour leaks" "--sort colour leaks" "--limit x leaks" "--at noon leaks" "--function f leaks" "nowhere" "net://localhost/host/x/y"; do
	# shellcheck disable=SC2086
	"$spi" leaks $options >out 2>err
	is "$? $(grep -c . err)" "1 1" "$options: one line, and a status" || diag "$(cat err)"
done
spi_trace -f main -o calls ./memory leaks
"$spi" leaks calls >out 2>err
like "$(cat err)" 'no allocation in the trace: it is recorded by `lttng trace --memory`' "a trace of something else"

# ---- Debian's programs, beside valgrind ----
if ! command -v valgrind >/dev/null; then
	skip 2 "no valgrind"
	tap_done
fi
# What the dynamic linker has of lists of objects is longer below the tracer, and counted apart. BYTES BLOCKS.
valgrinds() {
	valgrind --run-libc-freeres=no --leak-check=full --show-leak-kinds=all --num-callers=4 --log-file=valgrind.log "$@" >/dev/null 2>&1 </dev/null
	python3 -c '
import re
bytes_ = blocks = 0
log = re.sub(r"(?m)^==\d+== ?", "", open("valgrind.log").read())
for size, count, stack in re.findall(r"([\d,]+) (?:\([^)]*\) )?bytes in ([\d,]+) blocks are [^\n]* in loss record[^\n]*\n(.*?)\n\n", log, re.S):
    frames = [l for l in stack.splitlines() if "vgpreload" not in l and "vg_replace_malloc" not in l]
    if "ld-linux" in frames[0] or "rtld-malloc.h" in frames[0] or re.search(r"\(dl-[\w-]+\.c", frames[0]):
        continue
    bytes_ += int(size.replace(",", "")); blocks += int(count.replace(",", ""))
print(bytes_, blocks)'
}
ours() { of "$1" '"%d %d" % tuple(sum(x[k] for x in g if not x["stack"][0]["object"].startswith("ld-linux")) for k in ("bytes", "blocks"))'; }
cat >some.sql <<'END'
create table t(a integer primary key, b text);
with recursive c(x) as (select 1 union all select x + 1 from c where x < 3000) insert into t select x, 'value ' || x from c;
create index i on t(b);
select count(*), sum(length(b)) from t where b like '%7%';
END
cat >some.py <<'END'
import json
d = {str(i): list(range(i % 50)) for i in range(2000)}
print(len(json.dumps(d)))
del d
END
if command -v sqlite3 >/dev/null; then
	record sqlite sqlite3 :memory: '.read some.sql'
	is "$(ours sqlite)" "$(valgrinds sqlite3 :memory: '.read some.sql')" "sqlite3: bytes and blocks live at its end, as valgrind has them"
else
	skip 1 "no sqlite3"
fi
export PYTHONHASHSEED=0 PYTHONMALLOC=malloc
record python /usr/bin/python3 -S -B some.py
is "$(ours python)" "$(valgrinds /usr/bin/python3 -S -B some.py)" "python3: likewise"
tap_done
