# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""What tests/reader/pages.t looks at in a browser: pages.py PART DIRECTORY.

A line each: `ok NAME` or `not NAME # WHY`. pages.py open FILE.html: how long it takes to open a page, and its memory.
"""
import base64
import collections
import gzip
import json
import os
import re
import sys
import tempfile
import time

from browser import Browser, PATIENCE

# Calls that are in the page by themselves, as [function, thread, depth, duration], and blocks as [level, calls].
ALL_CALLS = '''
return (async () => {
	const calls = [], blocks = [];
	for (const chunk of data.chunks) {
		const items = await data.load(chunk);
		for (let i = 0; i < items.count; i++)
			if (chunk.blocks)
				blocks.push([chunk.level, items.more[i]]);
			else
				calls.push([data.about.functions[items.function[i]][0], data.about.threads[items.thread[i]][2],
					items.depth[i], items.duration[i], chunk.level]);
	}
	return [calls, blocks];
})()'''
TABLE = '''return [...document.querySelectorAll("#rows tr")].map(row => [
	row.cells[0].firstElementChild.nextSibling.data,
	...[...row.cells].slice(1).map(cell => Number(cell.dataset.value))])'''
# The least contrast of text on bars, of all colours, and of text on paper.
CONTRAST = '''
const context = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d");
const light = colour => {
	context.fillStyle = colour;
	context.fillRect(0, 0, 1, 1);
	const [r, g, b] = [...context.getImageData(0, 0, 1, 1).data].map(v => v / 255)
		.map(v => v <= 0.04045 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4));
	return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
return [Math.min(...theme.colours.map(colour => contrast(theme.onbar, colour))), contrast(theme.ink, theme.paper),
	contrast(theme.faint, theme.paper), light(theme.paper)];'''


def check(name, test, *arguments):
    try:
        test(*arguments)
        print('ok', name, flush=True)
    except Exception as error:  # pylint: disable=broad-except
        print('not', name, '#', re.sub(r'\s+', ' ', f'{type(error).__name__}: {error}')[:600], flush=True)


def same(got, expected):
    if got != expected:
        raise AssertionError(f'{got!r}, not {expected!r}')


def report(path):
    with open(path, encoding='utf-8') as file:
        return {row['name']: (row['calls'], row['total'], row['self']) for row in json.load(file)['rows']}


def ends(path):
    """The ends of calls, as `lttng-spi calls --format json` has them."""
    with open(path, encoding='utf-8') as file:
        return [call for call in map(json.loads, file) if call['kind'] != 'entry']


def opened(b, path):
    b.open(path)
    b.until('document.body.dataset.ready === "1" && document.body.dataset.missing === "0"')


def quiet(b):
    same([text for text in b.messages()
          if not re.search('^chrome:|GL Driver|console-api|willReadFrequently', text)], [])
    same([url for url in b.requests() if not url.startswith('file:///')], [])


def span(b):
    return b.run('return timeline.view.end - timeline.view.begin')


def choose(b, name):
    """A function, by search and the Enter key."""
    b.keys('Escape')
    b.run('document.getElementById("search").value = ""')
    b.keys('/', *name, 'Enter')
    b.until('document.getElementById("walk").dataset.calls > 0')


# ---- timeline ----

def numbers(b, path):
    same({name: tuple(values) for name, *values in b.run(TABLE)}, report(path))


def every_call(b, path):
    calls, _ = b.run(ALL_CALLS)
    same(collections.Counter(tuple(call[:4]) for call in calls),
         collections.Counter((c['function'], c['thread'], c['depth'], c['duration']) for c in ends(path)))


def whole_calls(b, path):
    calls, _ = b.run(ALL_CALLS)
    same(collections.Counter((call[0], call[1], call[3]) for call in calls),
         collections.Counter((c['function'], c['thread'], c['duration']) for c in ends(path)))
    same({(call[0], call[2]) for call in calls},
         {('shop::work', 0), ('shop::pay', 1), ('shop::total', 2), ('shop::check', 2), ('shop::price', 3)})


def blocks_count(b, path):
    _, blocks = b.run(ALL_CALLS)
    counts, least = collections.Counter(), b.run('return data.about.least')
    for level, calls in blocks:
        counts[level] += calls
    for level in range(max(least - 1, 0), 20):
        same((level, counts[level]), (level, sum(c['duration'] < 64 * 4 ** level or level == 19 for c in ends(path))))


def search(b):
    b.keys('/', *'price')
    same([row[0] for row in b.run(TABLE)], ['shop::price'])
    same(b.run('return [...timeline.highlight].map(f => data.about.functions[f][0])'), ['shop::price'])
    b.keys(*'zz')
    same(b.run('return document.getElementById("more").textContent'), 'No function has this in its name.')
    b.keys('Escape')
    b.run('''document.getElementById("search").value = "";
        document.getElementById("search").dispatchEvent(new Event("input"))''')


def walk(b, path):
    choose(b, 'pay')
    same(b.run('return Number(document.getElementById("walk").dataset.calls)'),
         sum(call['function'] == 'shop::pay' for call in ends(path)))
    seen = []
    for _ in range(2):
        b.keys('n')
        b.until(f'walk.at === {len(seen)} && timeline.selected')
        seen.append(b.run('return timeline.selected'))
    assert seen[0]['begin'] < seen[1]['begin'], seen
    b.keys('l')
    longest = max(call['duration'] for call in ends(path) if call['function'] == 'shop::pay')
    b.until(f'timeline.selected.duration === {longest}')


def click(b, path):
    """A call of the canvas: what the panel says of it, and zooming to it."""
    choose(b, 'work')
    b.keys('0', 'n')
    b.until('timeline.selected && walk.at === 0')
    call = b.run('return timeline.selected')
    b.keys('Escape', '0')
    x, y = b.run('''const [call] = arguments, { view } = timeline;
        const box = document.getElementById("lanes").getBoundingClientRect();
        return [box.left + (call.begin + call.duration / 2 - view.begin) / (view.end - view.begin) * view.width,
            box.top + timeline.place(call.thread, call.depth) + 6]''', call)
    b.mouse(x, y, 1)
    b.until('timeline.selected')
    said = b.run('''return Object.fromEntries([...document.querySelectorAll("#details dd")]
        .map(dd => [dd.dataset.name, dd.textContent]))''')
    with open(path, encoding='utf-8') as file:
        lines = [json.loads(line) for line in file]
    exit_line = next(line for line in lines if line['kind'] == 'exit' and line['function'] == 'shop::work' and
                     line['duration'] == call['duration'])
    entry = next(line for line in lines if line['kind'] == 'entry' and line['call'] == exit_line['call'])
    same(int(re.sub(r'\D', '', said['took'].split('(')[-1])), exit_line['duration'])
    same(int(re.sub(r'\D', '', said['self'].split('(')[-1])), exit_line['self'])
    same(said['arguments'], ', '.join(f'{name} = {value}' for name, value in entry['arguments'].items()))
    b.mouse(x, y, 2)
    # with what is around it, but never more than the trace and a tenth
    b.until('Math.abs(timeline.view.end - timeline.view.begin - '
            f'Math.min(1.2 * {call["duration"]}, 1.1 * (data.about.last - data.about.first))) < 30')


def zoom(b):
    b.keys('Escape', '0')
    whole = span(b)
    b.keys('+', '+')
    b.until(f'timeline.view.end - timeline.view.begin < {whole} / 2')
    b.wheel(400, 400, -240)
    b.until(f'timeline.view.end - timeline.view.begin < {whole} / 3')
    for _ in range(14):
        b.keys('+', '+', '+')
    same(span(b), 20)
    b.keys('0')
    same(span(b), whole)
    begin = b.run('return timeline.view.begin')
    b.keys('+', 'ArrowRight')
    assert b.run('return timeline.view.begin') > begin


def hostile(b, title):
    choose(b, 'pay')
    b.keys('0', 'n')
    b.until('walk.at === 0 && document.querySelector("#details dd.value")')
    said = b.run('return document.querySelector("#details dd.value").textContent')
    assert r'''who = "<script>document.title='broken'</script> Zoë \"& co"''' in said, said
    choose(b, 'evil')
    b.keys('0', 'n')
    b.until('walk.at === 0')
    same(b.run('return document.querySelector("#details h2").textContent'),
         "evil</script><script>document.title='broken'</script>")
    same(b.run('return document.title'), title)
    same(b.run('return document.querySelectorAll("script:not([type])").length'), 1)


def colours(b, is_dark):
    bars, ink, faint, paper = b.run(CONTRAST)
    assert bars >= 4.5 and ink >= 7 and faint >= 4.5, (bars, ink, faint)
    assert (paper < 0.1) if is_dark else (paper > 0.9), paper


def layout(b):
    """Nothing is wider than its place, but what has an ellipsis."""
    same(b.run('''return document.documentElement.scrollWidth <= innerWidth &&
        document.body.scrollHeight <= innerHeight'''), True)
    same(b.run('''return [...document.querySelectorAll("#rows td:not(:first-child), #table-room th, button, #summary")]
        .filter(e => e.scrollWidth > e.clientWidth + 1 && e.clientWidth).map(e => e.textContent)'''), [])


def merged(b, path):
    numbers(b, path)
    note = b.run('return document.getElementById("notes").textContent')
    calls = sum(values[0] for values in report(path).values())
    kept = b.run('return data.about.kept')
    assert 0 < kept < calls, (kept, calls)
    same(int(re.sub(r'\D', '', note.split(' calls shorter')[0])), calls - kept)


def fast(b, path):
    begin = time.monotonic()
    opened(b, path)
    took = time.monotonic() - begin
    assert took < 30 * PATIENCE, took		# make bench has the figure
    assert b.memory() < 500e6, b.memory()


def part_timeline(d):
    b = Browser(d)
    try:
        check('the timeline opens', opened, b, d + '/typed.html')
        check('it asks for nothing, and has no error', quiet, b)
        check('its table is that of the report', numbers, b, d + '/report.json')
        check('each call is in it: function, thread, depth, duration', every_call, b, d + '/calls.json')
        check('blocks of each level count all shorter calls', blocks_count, b, d + '/calls.json')
        check('nothing is cut off', layout, b)
        check('search', search, b)
        check('one function\'s calls: how many, the next, the longest', walk, b, d + '/calls.json')
        check('a click shows times and values, a double click zooms', click, b, d + '/calls.json')
        check('zoom by keys and wheel, down to 20 ns', zoom, b)
        check('names and values are text', hostile, b, 'typed: timeline')
        check('light: contrast', colours, b, False)
        check('no errors after all this', quiet, b)
        opened(b, d + '/whole.html')
        check('whole-call events: the same numbers', numbers, b, d + '/whole-report.json')
        check('whole-call events: nested', whole_calls, b, d + '/whole-calls.json')
        check('a page of a given size opens at once', fast, b, d + '/many.html')
        check('it says what is merged; its table counts all', merged, b, d + '/many-report.json')
        b.open(d + '/empty.html')
        b.until('document.getElementById("empty")')
        check('no calls: the page says so', quiet, b)
    finally:
        b.close()


def part_dark(d):
    b = Browser(d, dark=True, size=(900, 600))
    try:
        check('dark: the timeline opens', opened, b, d + '/typed.html')
        check('dark: contrast', colours, b, True)
        check('dark, and small: nothing is cut off', layout, b)
        b.open(d + '/flame.html')
        b.until('document.title.includes("speedscope")') if os.path.exists(d + '/flame.html') else None
    finally:
        b.close()


# ---- flame ----

def profile(path):
    with open(path, encoding='utf-8') as file:
        text = re.search(r'id="profile"[^>]*>([^<]*)</script>', file.read())[1]
    return json.loads(gzip.decompress(base64.b64decode(text)))


def exact(path, report_path):
    """The flame graph of all threads: each function's total and self, and its calls in its text."""
    given = profile(path)
    frames, stack = given['shared']['frames'], []
    total, own = collections.Counter(), collections.Counter()
    for event in given['profiles'][0]['events']:
        if event['type'] == 'O':
            stack.append([event['frame'], event['at'], 0])
            continue
        frame, at, inner = stack.pop()
        duration = event['at'] - at
        same(frame, event['frame'])
        own[frame] += duration - inner
        if all(other[0] != frame for other in stack):
            total[frame] += duration
        if stack:
            stack[-1][2] += duration
    same({frames[i]['name']: (frames[i]['line'], total[i], own[i]) for i in total}, report(report_path))


def is_shown_as(ns, text):
    """Speedscope writes two digits behind the point, and rounds as JavaScript does."""
    value, unit = re.fullmatch(r'([0-9.]+)(ns|µs|ms|s)', text).groups()
    size = {'ns': 1, 'µs': 1e3, 'ms': 1e6, 's': 1e9}[unit]
    return abs(float(value) * size - ns) <= 0.0051 * size


def tab(b, name):
    b.run('''[...document.querySelectorAll("div")].filter(div => div.textContent.endsWith(arguments[0]) &&
        div.textContent.length < arguments[0].length + 4).pop().click()''', name)


def sandwich(b, path):
    tab(b, 'Sandwich')
    rows = b.wait(lambda: b.run('''return [...document.querySelectorAll("tr")]
        .filter(row => row.cells.length === 3 && row.cells[1].innerText.includes("%"))
        .map(row => [...row.cells].map(cell => cell.innerText.trim()))'''), 'the table')
    tab(b, 'Time Order')
    expected = report(path)
    same({name for _, _, name in rows}, set(expected))
    for total, own, name in rows:
        for ns, text in zip(expected[name][1:], (total, own)):
            assert is_shown_as(ns, text.split(' ')[0]), (name, ns, text)


def tooltip(b, path):
    frame = next(name for name, values in report(path).items() if name == 'shop::pay')
    calls = report(path)[frame][0]

    def is_shown():
        b.mouse(300, 160)
        b.mouse(301, 173)
        return f'calls:{calls}' in b.run('return document.body.innerText')
    b.wait(is_shown, 'a tooltip')


def flame_zoom(b, d):
    b.mouse(5, 780)
    b.picture(d + '/before.png')
    b.mouse(300, 173, 2)

    def differs():
        b.mouse(5, 780)
        b.picture(d + '/after.png')
        with open(d + '/before.png', 'rb') as one, open(d + '/after.png', 'rb') as other:
            return one.read() != other.read()
    b.wait(differs, 'another picture')


def flame_threads(b):
    names = b.run('return [...document.querySelectorAll("tr")].map(row => row.title).filter(title => title)')
    same(len(names), 7)
    same(sum('flame graph' in name for name in names), 4)
    same(sum('flame chart' in name for name in names), 3)


def flame_opened(b, path):
    b.open(path)
    b.until('document.title.includes("speedscope") && document.querySelector("canvas")')


def part_flame(d):
    b = Browser(d)
    try:
        check('the flame graph opens', flame_opened, b, d + '/flame.html')
        check('flame: it asks for nothing, and has no error', quiet, b)
        check('flame: totals, self times and calls are those of the report', exact, d + '/flame.html',
              d + '/report.json')
        check('flame: all threads and each, as graph and as chart', flame_threads, b)
        check('flame: the table in the page is that of the report', sandwich, b, d + '/report.json')
        check('flame: a tooltip has the calls', tooltip, b, d + '/report.json')
        check('flame: a double click zooms', flame_zoom, b, d)
        check('flame: no errors after all this', quiet, b)
        check('flame: a large trace opens', flame_opened, b, d + '/flame-many.html')
        b.open(d + '/flame-empty.html')
        b.until('document.getElementById("empty")')
        check('flame: no calls: the page says so', quiet, b)
    finally:
        b.close()


# ---- flow ----

def flow_opened(b, path):
    b.open(path)
    b.until('document.body.dataset.ready === "1" && document.body.dataset.drawn > 0')


def flow_numbers(b, path):
    with open(path, encoding='utf-8') as file:
        edges = json.load(file)['edges']
    rows = b.run('''return [...document.querySelectorAll("#rows tr")].map(row =>
        [...row.cells].slice(1).map(cell => Number(cell.dataset.value)))''')
    same(sorted(rows), sorted([e['messages'], e['bytes'], e['latency']['median'], e['latency']['max']] for e in edges))
    same(b.run('return flow.messages.length'), sum(e['messages'] for e in edges))
    same(b.run('return Number(document.body.dataset.drawn)'), sum(e['messages'] for e in edges))


def flow_walk(b, path):
    """The slowest message: what the panel says of it, and a click on its line."""
    with open(path, encoding='utf-8') as file:
        slowest = max((json.loads(line) for line in file), key=lambda m: m['latency'])
    b.keys('0', 'l')
    b.until('flow.selected')
    said = b.run('''return Object.fromEntries([...document.querySelectorAll("#details dd")]
        .map(dd => [dd.dataset.name, dd.textContent]))''')
    same(int(re.sub(r'\D', '', said['took'].split('(')[-1])), slowest['latency'])
    same(int(said['bytes']), slowest['bytes'])
    x, y = b.run('''const [x0, y0, x1, y1] = flow.line(flow.selected);
        const box = document.getElementById("lanes").getBoundingClientRect();
        return [box.left + (x0 + x1) / 2, box.top + (y0 + y1) / 2]''')
    b.keys('Escape')
    same(b.run('return flow.selected'), None)
    b.mouse(x, y, 1)
    b.until(f'flow.selected && flow.selected.end - flow.selected.begin === {slowest["latency"]}')


def flow_row(b):
    """A row shows its messages alone; searching, calls and peers."""
    def show(what):
        b.run('''const show = document.getElementById("show");
            show.value = arguments[0];
            show.dispatchEvent(new Event("change"));''', what)
    b.keys('Escape', '0')
    b.run('document.querySelector("#rows tr").click()')
    same(b.run('return flow.chosen.size'), 1)
    b.keys('Escape', '/', *'store')
    b.until('tables.shown.length < flow.about.edges.length')
    assert b.run('return tables.shown.every(row => tables.who(row).join(" ").includes("store"))')
    b.run('document.getElementById("search").value = ""')
    show('chains')
    same(b.run('return document.querySelectorAll("#rows tr").length'), b.run('return flow.about.chains.length'))
    show('peers')
    assert 'another user' in b.run('return document.getElementById("rows").textContent')
    show('edges')


def flow_colours(b, is_dark):
    least = b.run(CONTRAST.replace('theme.colours.map(colour => contrast(theme.onbar, colour))',
                                   '[...flow.groups.values()].map(group => contrast(flow.colour(group, false), theme.lane))'))
    assert least[0] >= 3 and least[1] >= 7 and least[2] >= 4.5, least
    assert (least[3] < 0.1) if is_dark else (least[3] > 0.9), least


def part_flow(d):
    b = Browser(d)
    try:
        check('flow: the page opens', flow_opened, b, d + '/flow.html')
        check('flow: it asks for nothing, and has no error', quiet, b)
        check('flow: the table is that of the text', flow_numbers, b, d + '/flow.json')
        check('flow: the slowest message, by key and by click', flow_walk, b, d + '/flow-messages.json')
        check('flow: one row, a search, calls, peers', flow_row, b)
        check('flow: names are text', lambda: same(b.run('return document.title'), 'flow: flow'))
        check('flow: nothing is cut off', layout, b)
        check('flow: light: contrast', flow_colours, b, False)
        check('flow: no errors after all this', quiet, b)
        b.open(d + '/flow-empty.html')
        b.until('document.getElementById("empty")')
        check('flow: no messages: the page says so', quiet, b)
        b.open(d + '/flow-timeline.html')
        b.until('document.body.dataset.ready === "1" && document.body.dataset.messages > 0')
        check('the timeline has messages as arrows, and lanes for their threads', lambda: same(
            b.run('return [timeline.messages.length, timeline.lanes.length]'),
            [b.run('return data.about.messages_all'), 5]))
        b.keys('m')
        check('the key m hides them', b.until, 'timeline.are_messages_hidden')
        check('the timeline: no errors', quiet, b)
    finally:
        b.close()
    b = Browser(d, dark=True, size=(900, 600))
    try:
        check('flow, dark: the page opens', flow_opened, b, d + '/flow.html')
        check('flow, dark: contrast', flow_colours, b, True)
        check('flow, dark, and small: nothing is cut off', layout, b)
    finally:
        b.close()


def measure(path):
    with tempfile.TemporaryDirectory() as directory:
        b = Browser(directory)
        try:
            begin = time.monotonic()
            b.open(path)
            b.until('document.title.includes("speedscope") || document.body.dataset.missing === "0"', 300)
            print(f'{time.monotonic() - begin:.2f} s, {b.memory() / 1e6:.0f} MB')
        finally:
            b.close()


if __name__ == '__main__':
    {'timeline': part_timeline, 'flow': part_flow, 'dark': part_dark, 'flame': part_flame, 'open': measure}[sys.argv[1]](sys.argv[2])
