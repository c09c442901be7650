#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# Rust's names: the forms of the v0 mangling and of the older one, and names that were made to do harm.
. "${SPI_TOP_SRCDIR:?}/tests/lib/codemap.sh"
plan 4
cd "$tmp" || exit 1
src=$SPI_TOP_SRCDIR/codemap
$CC -std=gnu11 -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -D_GNU_SOURCE -I"$SPI_TOP_SRCDIR" -o names \
	"$SPI_TOP_SRCDIR/tests/programs/units/codemap/rust-names.c" "$src"/names/rust*.c "$src"/base/{fail,memory,text}.c || { echo 'Bail out! cannot build'; exit 1; }

cat > v0 <<'END'
_RNvCs1234_7mycrate3foo	mycrate::foo
_RNvNtCs6mEINUzFH5k_6shapes5round4area	shapes::round::area
_RNvMNtCs6mEINUzFH5k_6shapes5roundNtB2_4Disc4grow	shapes::round::Disc::grow
_RINvNtCs6mEINUzFH5k_6shapes5round5twicefEB4_	shapes::round::twice::<f32>
_RNvXs_CsbDqzXfLQacH_7mycrateNtB4_3FooNtB4_3Bar3baz	<mycrate::Foo as mycrate::Bar>::baz
_RNvYNtC7mycrate3FooNtC7mycrate3Bar3baz	<mycrate::Foo as mycrate::Bar>::baz
_RNCNvC1a4main0	a::main::{closure#0}
_RNCNvC1a4mains_0	a::main::{closure#1}
_RNSNvC1a1b6vtable	a::b::{shim:vtable#0}
_RNvMC1aTTylEE1f	<((u64, i32),)>::f
_RINvC1a1bRLeE	-
_RINvC1a1bReE	a::b::<&str>
_RINvC1a1bQhE	a::b::<&mut u8>
_RINvC1a1bPhOhE	a::b::<*const u8, *mut u8>
_RINvC1a1bAhj10_SlE	a::b::<[u8; 16], [i32]>
_RINvC1a1bFUKCRhEuE	a::b::<unsafe extern "C" fn(&u8)>
_RINvC1a1bFG_RL0_hEReE	a::b::<for<'a> fn(&'a u8) -> &str>
_RINvC1a1bDNtC1c5Sized4CopyEL_E	-
_RINvC1a1bDNtC1c4CopyNtC1c4SendEL_E	a::b::<dyn c::Copy + c::Send>
_RINvC1a1bDINtC1c2FnTReEEp6OutputuEL_E	a::b::<dyn c::Fn<(&str,), Output = ()>>
_RINvC1a1bDNtC1c4Iterp4ItemhEL_E	a::b::<dyn c::Iter<Item = u8>>
_RINvC1a1bKj3_Kb1_Kc61_Ksn5_KpE	a::b::<3, true, 'a', -5, _>
_RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y	utf8_idents::საჭმელად_გემრიელი_სადილი
_RNvC6_123foo3bar	123foo::bar
_RNvC1a1b.llvm.123	a::b
_RNvC1a1b.cold	a::b.cold
_R	-
_RNvC1a	-
_R1NvC1a1b	-
main	-
END
cut -f1 v0 | ./names > got 2> err
is "$(diff <(cut -f2 v0) got; cat err)" '' 'names of the v0 mangling'

cat > legacy <<'END'
_ZN4prog4main17h0123456789abcdefE	prog::main
_ZN4prog4main28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE	prog::main::{{closure}}
_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar17h930b740aa94f1d3aE	<Test + 'static as foo::Bar<Test>>::bar
_ZN4core3ptr42drop_in_place$LT$alloc..string..String$GT$17h4f7c1f552a70bdc3E	core::ptr::drop_in_place<alloc::string::String>
_ZN4prog4main17h0123456789abcdefE.llvm.99	prog::main
_ZN4prog4main17h0123456789abcdefE.cold	prog::main.cold
_ZN4prog4mainEv	-
_ZN4prog4main17h0123456789abcdeE	-
END
cut -f1 legacy | ./names > got 2> err
is "$(diff <(cut -f2 legacy) got; cat err)" '' 'names of the older mangling'

timeout 60 ./names hostile > got 2> err
is "$?" 0 'names made to do harm, and random ones: it comes back' || sed 's/^/# /' err | head -20
is "$(grep -c '^none 0$' got), $(grep -c ^name got), $(tail -n 1 got)" '14, 1, done' 'none of those is a name, and none is long'
