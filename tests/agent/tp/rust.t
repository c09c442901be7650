#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Rust: values of generated signatures against what the functions print, debug and release, and names in both manglings.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon

# signatures NAME MOST OPTION... - generate, build with $rustc, run traced, compare; MOST percent of the arguments not known
signatures() {
	local name=$1 most=$2 out
	shift 2
	"$rustc" -g "$@" -o "$name" sig.rs >"$name.log" 2>&1 || { skip 2 "$name: rustc cannot build it: $(grep -m 1 ^error "$name.log")"; return; }
	spi_trace_ok "$name: traced" -f "$name:*sig_*" -o "$name.d" "./$name" || return
	cp trace.out "$name.record"
	spi_read "$name.d"
	out=$(events rust "$name.d.txt" "$name.record" "$most" 2>&1)
	ok $? "$name: $(tail -n 1 <<<"$out")"
	diag "$(head -n 30 <<<"$out" | cut -c1-300)"
}

cat >shapes.rs <<'END'
mod round {
    pub struct Disc(pub u64);
    pub trait Grows { fn grow_by(&mut self, by: u64) -> u64; }
    impl Disc {
        #[inline(never)]
        pub fn grow(&mut self, by: u64) -> u64 { self.0 += by; self.0 }
    }
    impl Grows for Disc {
        #[inline(never)]
        fn grow_by(&mut self, by: u64) -> u64 { self.0 += by; self.0 }
    }
    #[inline(never)]
    pub fn area(r: u64) -> u64 { r * r * 3 }
    #[inline(never)]
    pub fn twice<T: Copy + std::ops::Add<Output = T>>(x: T) -> T { x + x }
}
fn main() {
    use round::Grows;
    let mut d = round::Disc(1);
    for i in 1..4 { println!("{} {}", round::area(i), d.grow(i)); }
    println!("{} {} {}", round::twice(4u8), round::twice(2.5f32), d.grow_by(1));
    println!("{}", [1u64, 2].iter().map(|x| d.grow(*x)).sum::<u64>());
}
END

# names PROGRAM TRAIT_METHOD - each pattern finds its calls, with debug info and without
names() {
	local program=$1 count pattern
	cp "$program" "$program-bare"
	strip -g "$program-bare"
	for program in "$program" "$program-bare"; do
		count=0
		for pattern in 'shapes::round::area=3' 'shapes::round::Disc::grow=5' 'shapes::round::twice*=2' "$2=1" \
			'shapes::main::{*closure*}=2'; do
			"$SPI_CODEMAP" list --pattern "${pattern%=*}" "$program" >found 2>&1 || { diag "$pattern: $(cat found)"; count=x; }
			grep -q '_R\|17h\|\$' found && { diag "mangled: $(cat found)"; count=x; }
		done
		is "$count" 0 "$program: functions are found and listed by the names in the source"
		spi_trace "-f" shapes::round::area -o "$program.d" "./$program" >/dev/null
		is "$(spi_count "$program.d" shapes::round::area_entry)" 3 "$program: -f shapes::round::area"
	done
}

found=
python3 "$SPI_TOP_SRCDIR/tests/lib/gen-rust.py" 1 28 >sig.rs
home=$(getent passwd "$(id -u)" | cut -d: -f6)
for rustc in "$home"/.rustup/toolchains/*/bin/rustc $(type -ap rustc) /usr/bin/rustc; do
	[ -x "$rustc" ] || continue
	release=$("$rustc" --version 2>/dev/null | cut -d' ' -f2)
	case " $found " in *" $release "*) continue ;; esac
	[ -n "$release" ] || continue
	found="$found $release"
	signatures "debug-$release" 33
	signatures "release-$release" 100 -O
	for mangling in legacy v0; do
		unstable=
		[ $mangling = v0 ] || unstable=-Zunstable-options
		RUSTC_BOOTSTRAP=1 "$rustc" -g -C symbol-mangling-version=$mangling $unstable --crate-name shapes -o "$mangling-$release" shapes.rs \
			2>rustc.log || { skip 4 "$mangling names: $(head -n 1 rustc.log)"; continue; }
		names "$mangling-$release" '<shapes::round::Disc as shapes::round::Grows>::grow_by'
	done
done
[ -n "$found" ] || skip 1 'no rustc'
tap_done
