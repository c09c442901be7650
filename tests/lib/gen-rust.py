#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""Writes a Rust program whose functions record their own arguments: gen-rust.py SEED COUNT > sig.rs

Every function sig_N prints `sig_N_entry|p0=value|...` when it is called and
`sig_N_exit|ret=value` before it returns, in the notation of `events.py print`.
`events.py rust TRACE RECORD` holds a trace against that. Each function is called
twice, with values that the compiler cannot foresee.
"""
import random
import sys

PRELUDE = '''
#![allow(dead_code, non_camel_case_types)]
use std::fmt::Write as _;
fn seen<T>(x: T) -> T { unsafe { std::ptr::read_volatile(&std::mem::ManuallyDrop::new(x) as *const _ as *const T) } }
pub struct Mixed { a: u8, b: u64, c: u16 }
pub struct Meters(f64);
pub struct Small { x: u16, y: u8 }
pub enum Color { Red, Green, Blue }
pub enum Shape { Circle(f64), Rect { w: f64, h: f64 }, Empty }
pub trait Speaks { fn speak(&self) -> u32; }
impl Speaks for u32 { fn speak(&self) -> u32 { *self } }
static WORDS: [&str; 3] = ["alpha", "", "gamma ray"];
'''


def real(r):
    return '%d.%s' % (r.randint(-99, 99), r.choice(['5', '25', '0', '125']))


def option_u64(r):
    return r.choice(['None', 'Some(%du64)' % r.randint(0, 1 << 40)])


# type: literal(rng), prints(name, expression) -> statements that write to `o`
def lines(*parts):
    return ' '.join('write!(o, "|%s=%s", %s).unwrap();' % part for part in parts)


def labelled(n, e, arms):
    return 'match &%s { %s }' % (e, ' '.join('%s => { %s }' % arm for arm in arms))


TYPES = [
    ('u8', lambda r: str(r.randint(0, 255)), lambda n, e: lines((n, '{}', e))),
    ('i16', lambda r: str(r.randint(-30000, 30000)), lambda n, e: lines((n, '{}', e))),
    ('u32', lambda r: str(r.randint(0, 1 << 32 - 1)), lambda n, e: lines((n, '{}', e))),
    ('i64', lambda r: str(r.randint(-1 << 60, 1 << 60)), lambda n, e: lines((n, '{}', e))),
    ('f32', real, lambda n, e: lines((n, '{}', e))),
    ('f64', real, lambda n, e: lines((n, '{}', e))),
    ('bool', lambda r: r.choice(['true', 'false']), lambda n, e: lines((n, '{}<{}>', '%s as u8, %s' % (e, e)))),
    ('char', lambda r: r.choice(["'a'", "'\\u{2713}'"]), lambda n, e: lines((n, '{}', '%s as u32' % e))),
    ('u128', lambda r: '%du128' % r.randint(0, (1 << 128) - 1),
     lambda n, e: lines((n + '_lo', '0x{:X}', '%s as u64' % e), (n + '_hi', '0x{:X}', '(%s >> 64) as u64' % e))),
    ('&str', lambda r: 'WORDS[%d]' % r.randint(0, 2), lambda n, e: lines((n + '_length', '{}', e + '.len()'))),
    ('String', lambda r: 'WORDS[%d].to_string()' % r.randint(0, 2),
     lambda n, e: lines((n + '_vec_len', '{}', e + '.len()'))),
    ('Vec<u16>', lambda r: 'vec![1u16; %d]' % r.randint(0, 9), lambda n, e: lines((n + '_len', '{}', e + '.len()'))),
    ('&[u16]', lambda r: '&[1u16, 2, 3][..%d]' % r.randint(0, 3),
     lambda n, e: lines((n + '_length', '{}', e + '.len()'))),
    ('[u64; 4]', lambda r: '[%d, 2, 3, 4]' % r.randint(0, 1 << 40),
     lambda n, e: lines(*[('%s_%d' % (n, i), '{}', '%s[%d]' % (e, i)) for i in range(4)])),
    ('[u8; 3]', lambda r: '[%d, 2, 3]' % r.randint(0, 255),
     lambda n, e: lines(*[('%s_%d' % (n, i), '{}', '%s[%d]' % (e, i)) for i in range(3)])),
    ('(f32, f32)', lambda r: '(%s, %s)' % (real(r), real(r)),
     lambda n, e: lines((n + '_0', '{}', e + '.0'), (n + '_1', '{}', e + '.1'))),
    ('(u8, u32)', lambda r: '(%d, %d)' % (r.randint(0, 255), r.randint(0, 1 << 30)),
     lambda n, e: lines((n + '_0', '{}', e + '.0'), (n + '_1', '{}', e + '.1'))),
    ('()', lambda r: '()', lambda n, e: ''),
    ('Mixed', lambda r: 'Mixed { a: %d, b: %d, c: 7 }' % (r.randint(0, 255), r.randint(0, 1 << 50)),
     lambda n, e: lines(*[('%s_%s' % (n, m), '{}', '%s.%s' % (e, m)) for m in 'abc'])),
    ('Small', lambda r: 'Small { x: %d, y: 9 }' % r.randint(0, 65535),
     lambda n, e: lines(*[('%s_%s' % (n, m), '{}', '%s.%s' % (e, m)) for m in 'xy'])),
    ('Meters', lambda r: 'Meters(%s)' % real(r), lambda n, e: lines((n + '_0', '{}', e + '.0'))),
    ('Box<u32>', lambda r: 'Box::new(5)', lambda n, e: lines((n, '0x{:X}', '&*%s as *const u32 as usize' % e))),
    ('Color', lambda r: 'Color::' + r.choice(['Red', 'Green', 'Blue']),
     lambda n, e: labelled(n, e, [('Color::' + c, lines((n, '%d<%s>' % (i, c), '')).replace(', )', ')'))
                                  for i, c in enumerate(['Red', 'Green', 'Blue'])])),
    ('Option<u64>', option_u64,
     lambda n, e: labelled(n, e, [('None', lines((n, '0<None>', '')).replace(', )', ')')),
                                  ('Some(v)', lines((n, '1<Some>{}', '""'), (n + '_Some_0', '{}', 'v')))])),
    ('Option<u32>', lambda r: r.choice(['None', 'Some(%d)' % r.randint(0, 1 << 30)]),
     lambda n, e: labelled(n, e, [('None', lines((n, '0<None>', '')).replace(', )', ')')),
                                  ('Some(v)', lines((n, '1<Some>{}', '""'), (n + '_Some_0', '{}', 'v')))])),
    ('Option<&\'static str>', lambda r: r.choice(['None', 'Some(WORDS[0])']),
     lambda n, e: labelled(n, e, [('None', lines((n, '0<None>', '')).replace(', )', ')')),
                                  ('Some(v)', lines((n + '_Some_0_length', '{}', 'v.len()')))])),
    ('Result<u32, i8>', lambda r: r.choice(['Ok(%d)' % r.randint(0, 1 << 30), 'Err(-3)']),
     lambda n, e: labelled(n, e, [('Ok(v)', lines((n, '0<Ok>{}', '""'), (n + '_Ok_0', '{}', 'v'))),
                                  ('Err(v)', lines((n, '1<Err>{}', '""'), (n + '_Err_0', '{}', 'v')))])),
    ('Shape', lambda r: r.choice(['Shape::Circle(%s)' % real(r), 'Shape::Rect { w: %s, h: 2.5 }' % real(r), 'Shape::Empty']),
     lambda n, e: labelled(n, e, [('Shape::Circle(v)', lines((n, '0<Circle>{}', '""'), (n + '_Circle_0', '{}', 'v'))),
                                  ('Shape::Rect { w, h }', lines((n, '1<Rect>{}', '""'), (n + '_Rect_w', '{}', 'w'),
                                                                 (n + '_Rect_h', '{}', 'h'))),
                                  ('Shape::Empty', lines((n, '2<Empty>', '')).replace(', )', ')'))])),
    ('&dyn Speaks', lambda r: '&%du32' % r.randint(0, 9),
     lambda n, e: lines((n + '_pointer', '0x{:X}', '%s as *const dyn Speaks as *const u8 as usize' % e))),
]
BY_NAME = {t[0]: t for t in TYPES}


def function(name, kinds, result, rng, generic=''):
    """The function's text and two calls of it."""
    params = ', '.join('%sp%d: %s' % ('mut ' if k % 5 == 4 else '', k, t) for k, t in enumerate(kinds))
    out = ['#[inline(never)]', 'fn %s%s(%s)%s {' % (name, generic, params, ' -> ' + result if result else '')]
    out.append('\tlet mut o = String::from("%s_entry");' % name)
    for k, t in enumerate(kinds):
        out.append('\t' + BY_NAME[t][2]('p%d' % k, 'p%d' % k))
    out.append('\tprintln!("{}", o);')
    for k in range(4, len(kinds), 5):
        out.append('\tp%d = %s; seen(&p%d);' % (k, BY_NAME[kinds[k]][1](rng), k))
    if result:
        out.append('\tlet r: %s = seen(%s);' % (result, BY_NAME[result][1](rng)))
        out.append('\tlet mut o = String::from("%s_exit"); %s println!("{}", o);' % (name, BY_NAME[result][2]('ret', 'r')))
        out.append('\tr')
    out.append('}')
    calls = ['\tseen(%s(%s));' % (name, ', '.join('seen(%s)' % BY_NAME[t][1](rng) for t in kinds)) for _ in range(2)]
    return out, calls


def main(seed, count):
    rng = random.Random(seed)
    text, calls = [], []
    fixed = [['String', 'u32'], ['Vec<u16>', 'u32'], ['[u64; 4]', 'u32'], ['Option<u64>', 'i64'],
             ['(f32, f32)', 'u32'], ['&str', 'u32'], ['()', 'u8', 'u32'], ['Shape', 'u32'], ['u128', 'u32'],
             ['Mixed', 'Mixed', 'f64', 'u8', 'u8', 'u8', 'u8', 'u8', 'u32']]
    results = [t[0] for t in TYPES if t[0] not in ('()', '&dyn Speaks', '&[u16]', '&str')] + ['', '']
    for n in range(count):
        kinds = fixed[n] if n < len(fixed) else [rng.choice(TYPES)[0] for _ in range(rng.randint(1, 7))]
        f, c = function('sig_%d' % n, kinds, results[n % len(results)], rng)
        text += f
        calls += c
    print(PRELUDE + '\n'.join(text))
    print('''#[inline(never)]
fn sig_generic<T: Into<f64> + Copy>(p0: T, p1: u32) { println!("sig_generic_entry|p0={}|p1={}", p0.into(), p1); }
#[inline(never)]
fn sig_closure<F: Fn(u32) -> u32>(p0: F, p1: u32) -> u32 { println!("sig_closure_entry|p1={}", p1); let r = p0(p1); println!("sig_closure_exit|ret={}", r); r }
#[inline(never)]
extern "C" fn sig_c(p0: u32, p1: f64, p2: u8) -> u64 { println!("sig_c_entry|p0={}|p1={}|p2={}", p0, p1, p2); println!("sig_c_exit|ret=77"); 77 }
fn main() {''')
    print('\n'.join(calls))
    print('''	sig_generic(seen(7u8), seen(3)); sig_generic(seen(2.5f32), seen(4));
	let (a, b) = (seen(5u32), seen(6u64));
	seen(sig_closure(move |x| x + a + b as u32, seen(8)));
	seen(sig_c(seen(1), seen(2.5), seen(3)));
}''')


main(int(sys.argv[1]), int(sys.argv[2]))
