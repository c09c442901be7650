/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Messages on their way to the broker.
 *
 * Hooks only queue; the plugin thread sends, as the socket has room. That an
 * application has registered, or was sent a rule, is nothing that anybody waits
 * for: it is sent a moment later, or with what comes in between, when the
 * application is past its start, which the plugin's and the broker's work would
 * otherwise slow down. The queue is open as long as there is a broker. When it
 * lags so far behind that the queue is full, messages are left out, which anybody
 * who registers in a loop can bring about: nothing may depend on a single one.
 * What was left out is made up for when the queue is empty again (queue_lost()).
 * The exception is what security rests on: who uses the client socket.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "spi-sessiond-plugin/base/base.h"
#include "spi-sessiond-plugin/broker/broker.h"

#define LATER_NS	10000000	/* what nobody waits for */

/* Messages from which on each kind is left out; many have a descriptor. */
static const unsigned int most[] = { [QUEUE_HINT] = 512, [QUEUE_TOLD_AGAIN] = 1024, [QUEUE_URGENT] = 2048,
				     [QUEUE_VITAL] = ~0u };

struct message {
	struct message *next;
	int fd;
	size_t size;
	char data[];
};

static struct message *first, **last = &first;
static unsigned int nr_queued;
static bool is_open, lost, broken;
static int wake = -1, later = -1;
static bool wake_sent, later_set;	/* spare the system call while the thread is on its way */

int queue_create(void)
{
	wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (wake < 0)
		return -errno;
	later = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	return 0;		/* without it everything is sent at once */
}

unsigned int queue_poll(struct pollfd *set)
{
	set[0] = (struct pollfd) { .fd = wake, .events = POLLIN };
	set[1] = (struct pollfd) { .fd = later, .events = POLLIN };
	return 2;
}

void queue_wake(void)
{
	const uint64_t one = 1;

	if (__atomic_exchange_n(&wake_sent, true, __ATOMIC_SEQ_CST))
		return;
	if (write(wake, &one, sizeof(one)) < 0)
		return;		/* only when it is set already */
}

static void queue_wake_later(void)
{
	const struct itimerspec due = { .it_value.tv_nsec = LATER_NS };

	if (__atomic_exchange_n(&later_set, true, __ATOMIC_SEQ_CST))
		return;
	if (later < 0 || timerfd_settime(later, 0, &due, NULL))
		queue_wake();
}

/* In this order: what is queued after the flag fell wakes again. */
void queue_drain(const struct pollfd *set)
{
	uint64_t value;

	if (set[0].revents) {
		if (read(wake, &value, sizeof(value)) < 0)
			value = 0;	/* nobody called */
		__atomic_store_n(&wake_sent, false, __ATOMIC_SEQ_CST);
	}
	if (set[1].revents || later < 0) {
		if (later >= 0 && read(later, &value, sizeof(value)) < 0)
			value = 0;
		__atomic_store_n(&later_set, false, __ATOMIC_SEQ_CST);
	}
}

bool queue_is_open(void)
{
	return is_open;
}

static void message_free(struct message *m)
{
	if (m->fd >= 0)
		close(m->fd);
	free(m);
}

void queue_open(bool open)
{
	while (first) {
		struct message *m = first;

		first = m->next;
		message_free(m);
	}
	last = &first;
	nr_queued = 0;
	is_open = open;
	lost = broken = false;
}

bool queue_post(uint16_t type, const void *body, size_t size, const void *more, size_t more_size, int fd,
		enum queue_kind kind)
{
	struct spi_broker_msg head = { .magic = SPI_BROKER_MAGIC, .version = SPI_BROKER_VERSION, .type = type,
				       .size = size + more_size };
	struct message *m = NULL;

	if (is_open && nr_queued < most[kind])
		m = malloc(sizeof(*m) + sizeof(head) + size + more_size);
	if (!m) {
		if (fd >= 0)
			close(fd);
		lost |= is_open && kind != QUEUE_HINT;
		broken |= is_open && kind == QUEUE_VITAL;
		return false;
	}
	m->next = NULL;
	m->fd = fd;
	m->size = sizeof(head) + size + more_size;
	memcpy(m->data, &head, sizeof(head));
	memcpy(m->data + sizeof(head), body, size);
	if (more_size)
		memcpy(m->data + sizeof(head) + size, more, more_size);
	*last = m;
	last = &m->next;
	nr_queued++;
	if (type == SPI_BROKER_APP || kind == QUEUE_HINT)
		queue_wake_later();
	else
		queue_wake();
	return true;
}

bool queue_lost(void)
{
	bool value;

	pthread_mutex_lock(&plugin_lock);
	value = lost && !first;
	if (value)
		lost = false;
	pthread_mutex_unlock(&plugin_lock);
	return value;
}

static int message_send(int sock, const struct message *m)
{
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec data = { (void *) m->data, m->size };
	struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1 };
	ssize_t n;

	if (m->fd >= 0) {
		memset(&control, 0, sizeof(control));
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.head), &m->fd, sizeof(int));
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
	}
	do {
		n = sendmsg(sock, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

int queue_send(int sock)
{
	for (;;) {
		struct message *m;
		bool give_up;
		int ret;

		/* Only this thread takes from the front. */
		pthread_mutex_lock(&plugin_lock);
		m = first;
		give_up = broken;
		pthread_mutex_unlock(&plugin_lock);
		if (give_up)
			return -ENOMEM;
		if (!m)
			return 0;
		ret = message_send(sock, m);
		if (ret)
			return ret == -EAGAIN ? 1 : ret;
		pthread_mutex_lock(&plugin_lock);
		first = m->next;
		if (!first)
			last = &first;
		nr_queued--;
		pthread_mutex_unlock(&plugin_lock);
		message_free(m);
	}
}
