/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Saved sessions through the parser, and through the ruleset that is made of its
 * lines; real ones named as arguments must be read whole.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "broker/rules/ruleset.h"
#include "broker/rules/xml-rules.h"

static unsigned int checks, failures;
static char lines[1 << 20];

static void check(int good, const char *name)
{
	checks++;
	failures += !good;
	printf("%sok %u - %s\n", good ? "" : "not ", checks, name);
	if (!good)
		fprintf(stderr, "# got: %.2000s\n", lines);
}

/* 0 and what was read in `lines`, or -1. */
static int convert(const char *xml, size_t size)
{
	int in = memfd_create("in", 0), out = memfd_create("out", 0), ret = -1;
	ssize_t n;

	*lines = 0;
	if (in >= 0 && out >= 0 && write(in, xml, size) == (ssize_t) size)
		ret = xml_rules_convert(in, out);
	n = pread(out, lines, sizeof(lines) - 1, 0);
	lines[n > 0 ? n : 0] = 0;
	close(in);
	close(out);
	return ret;
}

#define SESSION(inside) "<?xml version=\"1.0\"?><sessions><session><name>s</name><domains><domain><type>UST</type>" \
	inside "</domain></domains></session></sessions>"
#define CHANNEL(events) "<channels><channel><name>c</name><enabled>true</enabled><events>" events \
	"</events></channel></channels>"
#define EVENT(name, enabled) "<event><name>" name "</name><enabled>" enabled "</enabled></event>"

static void expect(const char *xml, const char *expected, const char *name)
{
	check(!convert(xml, strlen(xml)) && !strcmp(lines, expected), name);
}

static void refuse(const char *xml, size_t size, const char *name)
{
	check(convert(xml, size) && !*lines, name);
}

static void reading(void)
{
	expect(SESSION(CHANNEL(EVENT("spi:f_entry", "true") EVENT("spi:g", "false") EVENT("other:e", "true"))),
	       "channel\tc\ton\nevent\tspi:f_entry\ton\nevent\tspi:g\toff\nend\n", "events of our provider, on and off");
	expect(SESSION(CHANNEL("<event><name>spi:f_*</name><enabled>true</enabled><filter>a &lt; \"b\"</filter>"
			       "<exclusions><exclusion>spi:f_x</exclusion></exclusions></event>")),
	       "channel\tc\ton\nevent\tspi:f_*\ton\ta < \"b\"\nend\n", "one with a filter and an exclusion");
	expect(SESSION("<process_attr_trackers><vpid_process_attr_tracker><process_attr_values><vpid><id>7</id></vpid>"
		       "</process_attr_values></vpid_process_attr_tracker><vuid_process_attr_tracker>"
		       "<process_attr_values><vuid><name>root</name></vuid></process_attr_values>"
		       "</vuid_process_attr_tracker><vgid_process_attr_tracker><process_attr_values/>"
		       "</vgid_process_attr_tracker></process_attr_trackers>"),
	       "tracker\tvpid\nid\t7\ntracker\tvuid\nname\troot\ntracker\tvgid\nend\n", "trackers");
	expect(SESSION(CHANNEL(EVENT("spi:a&#9;b&#10;event%", "true"))),
	       "channel\tc\ton\nevent\tspi:a%09b%0aevent%25\ton\nend\n", "a name that would be another line");
	expect("<sessions><session><domains><domain><type>KERNEL</type>" CHANNEL(EVENT("spi:f_entry", "true"))
	       "</domain></domains></session></sessions>", "end\n", "another domain");
	expect("<sessions/>", "end\n", "no session");
	expect(SESSION(CHANNEL("<event><name>spi:<b/>x</name></event>") "<channels><channel/></channels>"),
	       "channel\tc\ton\nend\n", "elements where text should be");
}

static void hostile(void)
{
	static const char laughs[] =
		"<!DOCTYPE s [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;\">"
		"<!ENTITY c \"&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;\">]><sessions><session>&c;</session></sessions>";
	static const char file[] = "<!DOCTYPE s [<!ENTITY a SYSTEM \"file:///etc/passwd\">]><sessions>&a;</sessions>";
	const char *good = SESSION(CHANNEL(EVENT("spi:f_entry", "true")));
	size_t size = XML_FILE_MAX + 1;
	char *big = calloc(1, size);
	int cut = 0;

	refuse(laughs, strlen(laughs), "entities that grow");
	refuse(file, strlen(file), "an entity that is a file");
	refuse("", 0, "an empty file");
	refuse("\x7f" "ELF\0\0\0", 8, "no XML at all");
	refuse("<other/>", 8, "another document");
	for (size_t n = 1; n < strlen(good); n++)
		cut += convert(good, n) && !*lines;
	check(cut == (int) strlen(good) - 1, "a file cut anywhere");
	memset(big, ' ', size);
	memcpy(big, good, strlen(good));
	refuse(big, size, "a file that is too large");
	for (size_t i = 0; i < 60000; i++)
		memcpy(big + 3 * i, "<a>", 3);
	refuse(big, 180000, "elements nested without end");
	free(big);
}

static void building(void)
{
	struct ruleset *set = ruleset_create();
	struct session *session = ruleset_add_session(set, "s", 1000, "");
	char text[] = "channel\tc\ton\nevent\tspi:f_entry\ton\nchannel\td\toff\nevent\tspi:g%09\ton\n"
		      "tracker\tvuid\nname\troot\nid\t12\ntracker\tvgid\nname\tno-such-group\nend\n";
	FILE *in = fmemopen(text, strlen(text), "r");
	char half[] = "channel\tc\ton\n";

	check(!ruleset_add_lines(set, session, in), "lines become rules");
	fclose(in);
	check(set->accounts->rules == 2 && set->rules->enabled && !set->rules->next->enabled && set->rules->owner == 1000 &&
	      !strcmp(set->rules->next->name, "spi:g\t"), "with the channel's state, and their owner");
	check(session->trackers[TRACK_VUID].n == 2 && session->trackers[TRACK_VUID].ids[0] == 0 &&
	      session->trackers[TRACK_VGID].any && !session->trackers[TRACK_VPID].present,
	      "names of trackers are looked up; who is not found means nobody in particular");
	in = fmemopen(half, strlen(half), "r");
	check(ruleset_add_lines(set, session, in) < 0, "lines without an end are not taken");
	fclose(in);
	ruleset_free(set);
}

int main(int argc, char **argv)
{
	reading();
	hostile();
	building();
	for (int i = 1; i < argc; i++) {
		int fd = open(argv[i], O_RDONLY), out = memfd_create("out", 0);

		check(fd >= 0 && !xml_rules_convert(fd, out) && pread(out, lines, sizeof(lines) - 1, 0) > 0, argv[i]);
		close(fd);
		close(out);
	}
	printf("1..%u\n", checks);
	return failures != 0;
}
