/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Names of functions. The C++ runtime demangles (__cxa_demangle, whose recursion is bounded). Its
 * result is text, so parameters and return types are cut off as text, with the brackets of
 * templates and the oddities of operators in mind. Rust's names have neither parameters nor return
 * types (rust.c, rust-legacy.c).
 */
#include <stdlib.h>
#include <string.h>
#include "codemap/base/libraries.h"
#include "codemap/names/names.h"
#include "rules/glob.h"

#define LINKAGE_MAX	8192	/* longer names are kept as they are */
#define EVENT_MAX	200

int name_is_mangled(const char *linkage)
{
	return linkage[0] == '_' && (linkage[1] == 'Z' || linkage[1] == 'R');
}

const char *name_demangle(const char *linkage)
{
	static __thread char *room;
	static __thread size_t size;
	static __thread struct text rust;
	char *text;
	int status;

	if (!name_is_mangled(linkage) || strnlen(linkage, LINKAGE_MAX) == LINKAGE_MAX)
		return NULL;
	rust.count = 0;
	if (linkage[1] == 'R')
		return rust_demangle(linkage, &rust) ? text_end(&rust) : NULL;
	if (rust_demangle_legacy(linkage, &rust))
		return text_end(&rust);
	text = libraries.demangle(linkage, room, &size, &status);
	if (!text)
		return NULL;
	room = text;
	return text;
}

static int is_identifier(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
	       (unsigned char) c >= 0x80;
}

/* Length of the operator symbol at s, which follows "operator": "<<", "()", "[]"; 0 for conversions, new, delete. */
static size_t operator_symbol(const char *s)
{
	static const char *const symbol[] = {
		"<=>",
		"<<=",
		">>=",
		"->*",
		"()",
		"[]",
		"->",
		"<<",
		">>",
		"<=",
		">=",
		"==",
		"!=",
		"&&",
		"||",
		"++",
		"--",
		"+=",
		"-=",
		"*=",
		"/=",
		"%=",
		"^=",
		"&=",
		"|=",
		"<",
		">",
		"+",
		"-",
		"*",
		"/",
		"%",
		"^",
		"&",
		"|",
		"~",
		"!",
		"=",
		",",
	};
	size_t i;

	for (i = 0; i < sizeof(symbol) / sizeof(*symbol); i++)
		if (!strncmp(s, symbol[i], strlen(symbol[i])))
			return strlen(symbol[i]);
	return 0;
}

/* Is the word "operator" at s[i], as a word of its own? */
static int operator_at(const char *s, size_t i)
{
	return !strncmp(s + i, "operator", 8) && !is_identifier(s[i + 8]) && (!i || !is_identifier(s[i - 1]));
}

/* Find, outside all brackets: the '(' of the parameters (or the end), and where the name begins behind its return type.
 */
static void name_find(const char *s, size_t *begin, size_t *end)
{
	size_t i = 0, space = 0, last_open = 0, size = strlen(s);
	int depth = 0, conversion = 0;

	*end = 0;
	while (i < size) {
		char c = s[i];

		if (!depth && operator_at(s, i)) {
			size_t symbol = operator_symbol(s + i + 8);

			conversion = !symbol;
			i += 8 + symbol;
			continue;
		}
		if (c == '(' || c == '<' || c == '[' || c == '{') {
			if (!depth && c == '(' && !(i == 0 || s[i - 1] == ':' || s[i - 1] == ' ' ) )
				last_open = i;
			else if (!depth && c == '(' && conversion)
				last_open = i;
			depth++;
		} else if (c == ')' || c == '>' || c == ']' || c == '}') {
			if (depth && !(c == '>' && i && s[i - 1] == '-'))
				depth--;
		} else if (c == ' ' && !depth && !conversion && !last_open) {
			space = i + 1;
		} else if (c == ':' && !depth && last_open && s[i + 1] == ':') {
			last_open = 0;		/* f(int)::lambda: those were parameters of an enclosing function */
		}
		i++;
	}
	*end = last_open ? last_open : size;
	*begin = space < *end ? space : 0;
}

char *name_base(const char *demangled)
{
	static const char *const prefix[] = {
		"non-virtual thunk to ", "virtual thunk to ", "covariant return thunk to "};
	const char *clone = strstr(demangled, " [clone "), *keep = "", *close;
	struct text text = { 0 };
	char *work, *base;
	size_t begin, end, i;

	work = mem_string(demangled, clone ? (size_t) (clone - demangled) : strlen(demangled));
	for (i = 0; i < sizeof(prefix) / sizeof(*prefix); i++)
		if (!strncmp(work, prefix[i], strlen(prefix[i]))) {
			keep = prefix[i];
			work += strlen(prefix[i]);
		}
	name_find(work, &begin, &end);
	text_add(&text, keep);
	text_add_bytes(&text, work + begin, end - begin);
	while (clone && (clone = strstr(clone, "[clone "))) {
		clone += 7;
		close = strchr(clone, ']');
		if (!close)
			break;
		text_add_bytes(&text, clone, (size_t) (close - clone));
		clone = close;
	}
	text_end(&text);
	base = mem_string(text.at, text.count);
	free(text.at);
	return base;
}

const char *name_unclone(const char *name)
{
	static const char *const suffix[] = { ".isra.", ".constprop.", ".lto_priv." };
	const char *end = name + strlen(name), *before;
	size_t i;

again:
	for (before = end; before > name && before[-1] >= '0' && before[-1] <= '9'; before--)
		;
	for (i = 0; i < sizeof(suffix) / sizeof(*suffix) && before < end; i++) {
		size_t size = strlen(suffix[i]);

		if ((size_t) (before - name) > size && !memcmp(before - size, suffix[i], size)) {
			end = before - size;
			goto again;
		}
	}
	return *end ? mem_string(name, (size_t) (end - name)) : name;
}

char *name_event(const char *base)
{
	size_t size = strlen(base), i;
	char *event;

	/* "@123" is added to what is not unique. */
	event = mem_string(base, size > EVENT_MAX - 8 ? EVENT_MAX - 8 : size);
	for (i = 0; event[i]; i++)
		if (event[i] == '"' || event[i] == '\\' || event[i] < ' ' || event[i] == 0x7f)
			event[i] = event[i] == '"' ? '\'' : '_';
	return event;
}


/* Words that a demangled name shows and its linkage name abbreviates. */
static int word_is_abbreviated(const char *word, size_t size)
{
	static const char *const list[] = {
		"std",
		"string",
		"allocator",
		"basic_string",
		"istream",
		"ostream",
		"iostream",
		"basic_istream",
		"basic_ostream",
		"basic_iostream",
		"char_traits",
		"char",
		"operator",
		"anonymous",
		"namespace",
		"clone",
		"unsigned",
		"int",
		"long",
		"short",
		"bool",
		"void",
		"float",
		"double",
		"const",
		"signed",
		"volatile",
		"wchar_t",
		"char8_t",
		"char16_t",
		"char32_t",
		"decltype",
		"auto",
		"nullptr",
		"lambda",
		"unnamed",
		"thunk",
		"non",
		"virtual",
		"to",
		"new",
		"delete",
		"co_await",
		"type",
		"true",
		"false",
		"nullptr_t",
		"covariant",
		"return",
		"for",
		"guard",
		"variable",
		"vtable",
		"typeinfo",
		"TLS",
		"init",
		"function",
		"abi",
		"__float128",
		"__int128",
		"reference",
		"temporary",
		/* Rust's types and words */
		"i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize", "f32", "f64", "str",
		"fn", "dyn", "mut", "as", "unsafe", "extern", "closure", "shim", "impl", "C",
	};
	size_t i;

	if (word[0] >= '0' && word[0] <= '9')
		return 1;
	for (i = 0; i < size; i++)
		if ((unsigned char) word[i] >= 0x80)	/* punycode in Rust's */
			return 1;
	for (i = 0; i < sizeof(list) / sizeof(*list); i++)
		if (strlen(list[i]) == size && !memcmp(list[i], word, size))
			return 1;
	return 0;
}

/*
 * The longest whole identifier of the pattern that must be spelled out in the
 * linkage name of what matches, so that most symbols need no demangling.
 */
static void pattern_hint(struct pattern *pattern)
{
	const char *s = pattern->text, *word;

	for (; *s; s = *s ? s + 1 : s) {
		size_t size;

		if (*s == '\\')		/* an escaped character may belong to a word: no hint */
			break;
		if (!is_identifier(*s))
			continue;
		for (word = s; is_identifier(*s); s++)
			;
		size = (size_t) (s - word);
		if (size > pattern->hint_size && *s != '*' && *s != '?' && *s != '[' && *s != '\\' &&
		    (word == pattern->text || !strchr("*?]", word[-1])) && !word_is_abbreviated(word, size)) {
			pattern->hint = word;
			pattern->hint_size = size;
		}
		s--;
	}
	if (*s || strchr(pattern->text, '[')) {
		pattern->hint = NULL;
		pattern->hint_size = 0;
	}
}

void pattern_parse(struct pattern *pattern, const char *text)
{
	char *end;

	memset(pattern, 0, sizeof(*pattern));
	pattern->text = text;
	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X') && text[2]) {
		pattern->address = strtoull(text + 2, &end, 16);
		pattern->is_address = !*end || (*end == ' ' && end[1]);
		pattern->known_as = pattern->is_address && *end ? end + 1 : NULL;
	}
	pattern->is_literal = !strpbrk(text, "*?[\\");
	pattern->has_parameters = strchr(text, '(') != NULL;
	pattern_hint(pattern);
}
