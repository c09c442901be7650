/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A daemon that sends two rules to an application, laid out as one version of
 * lttng-ust's protocol has them: abi-daemon DIRECTORY VERSION. Built twice: as the
 * library that takes them (-DLIBRARY), and as the daemon. It listens, waits for a
 * line of input, makes and enables the rule of a session and that of a trigger,
 * and waits for the end of its input.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int lttng_ust_ctl_recv_reg_msg(int sock, int *type, uint32_t *numbers);
int lttng_ust_ctl_create_event(int sock, void *event, void *channel, void **object);
int lttng_ust_ctl_create_event_notifier(int sock, void *event, void *group, void **object);
int lttng_ust_ctl_enable(int sock, void *object);

#ifdef LIBRARY
int lttng_ust_ctl_recv_reg_msg(int sock, int *type, uint32_t *numbers)
{
	return -1;
}

int lttng_ust_ctl_create_event(int sock, void *event, void *channel, void **object)
{
	*object = malloc(16);
	return 0;
}

int lttng_ust_ctl_create_event_notifier(int sock, void *event, void *group, void **object)
{
	*object = malloc(16);
	return 0;
}

int lttng_ust_ctl_enable(int sock, void *object)
{
	return 0;
}
#else

static int never(int fd)
{
	int type;
	uint32_t numbers[16];

	/* Imported, as the real one's are; the plugin looks for these. */
	accept(fd, NULL, NULL);
	return lttng_ust_ctl_recv_reg_msg(fd, &type, numbers);
}

int main(int argc, char **argv)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), pair[2], version = argc > 2 ? atoi(argv[2]) : 0;
	char line[16], event[320] = { 0 }, notifier[320] = { 0 };
	void *objects[2];

	if (!version || argc > 3)
		return argc > 3 ? never(fd) : 2;
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/lttng-ust-sock-%d", argv[1], version);
	if (bind(fd, (struct sockaddr *) &address, sizeof(address)) || listen(fd, 8) ||
	    socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || !fgets(line, sizeof(line), stdin))
		return 1;
	strcpy(event + (version < 11 ? 4 : 20), "spi:of_session");
	strcpy(notifier + (version < 11 ? 4 : 28), "spi:of_trigger");
	if (lttng_ust_ctl_create_event(pair[0], event, NULL, &objects[0]) || lttng_ust_ctl_enable(pair[0], objects[0]) ||
	    lttng_ust_ctl_create_event_notifier(pair[0], notifier, NULL, &objects[1]) ||
	    lttng_ust_ctl_enable(pair[0], objects[1]))
		return 1;
	while (fgets(line, sizeof(line), stdin))
		;
	close(fd);
	return 0;
}
#endif
