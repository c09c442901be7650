/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The functions that stand before those lttng-sessiond imports.
 *
 * Each calls the real one with exactly the arguments it was given and returns
 * its result with its errno; what is noted beside it takes well under a
 * microsecond when nobody is concerned. The one exception is the point of the
 * whole: a registration that is to be held is answered -EPIPE, as if the
 * application had hung up. The daemon then closes its descriptor, says nothing,
 * and is ready for the next; the application waits on the duplicate that is kept
 * here (registrations/held.c). That is done in recv_reg_msg because there, unlike in
 * register_done, the daemon holds no lock.
 *
 * Functions of which only leading arguments are of interest are declared with
 * six integer ones, as many as go in registers: so versions of the same function
 * with further arguments pass through unchanged.
 */
#include <errno.h>
#include <string.h>

#include "spi-sessiond-plugin/base/base.h"
#include "spi-sessiond-plugin/daemon/daemon.h"
#include "spi-sessiond-plugin/hooks/hooks.h"
#include "spi-sessiond-plugin/registrations/registrations.h"
#include "spi-sessiond-plugin/thread/thread.h"

typedef long (*generic_fn)(long, long, long, long, long, long);
typedef int (*recv_fn)(int, int *, uint32_t *, uint32_t *, uint32_t *, uint32_t *, uint32_t *, uint32_t *, uint32_t *,
		       uint32_t *, uint32_t *, uint32_t *, uint32_t *, uint32_t *, int *, char *);

static recv_fn real_recv;
static generic_fn real_create_event, real_create_notifier, real_enable, real_disable, real_release, real_done;
static int (*real_listen)(int, int);
static int (*real_accept)(int, struct sockaddr *, socklen_t *);
static int (*real_accept4)(int, struct sockaddr *, socklen_t *, int);
static int (*real_close)(int);
static ssize_t (*real_sendmsg)(int, const struct msghdr *, int);

/* ---- registrations ------------------------------------------------------- */

static int hook_recv(int sock, int *type, uint32_t *major, uint32_t *minor, uint32_t *pid, uint32_t *ppid,
		     uint32_t *uid, uint32_t *gid, uint32_t *bits, uint32_t *align8, uint32_t *align16,
		     uint32_t *align32, uint32_t *align64, uint32_t *align_long, int *byte_order, char *name)
{
	uint32_t *const out[12] = { major, minor, pid, ppid, uid, gid, bits, align8, align16, align32, align64,
				    align_long };
	struct registration reg;
	struct ucred peer = { 0 };
	socklen_t size = sizeof(peer);
	int ret, saved;

	if (!plugin_armed() || getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &peer, &size))
		peer.pid = 0;
	if (peer.pid && peer.pid == plugin_pid) {
		ret = held_take(sock, &reg);
		if (ret < 0)
			return ret;
		if (ret) {
			*type = reg.type;
			for (unsigned int i = 0; i < 12; i++)
				*out[i] = reg.number[i];
			*byte_order = reg.byte_order;
			memcpy(name, reg.name, sizeof(reg.name));
			return 0;
		}
		peer.pid = 0;	/* the daemon itself is never held */
	}
	ret = real_recv(sock, type, major, minor, pid, ppid, uid, gid, bits, align8, align16, align32, align64,
			align_long, byte_order, name);
	if (!ret && *bits != 32 && *bits != 64)
		return -EPIPE;	/* no real application; lttng-sessiond 2.13 would look for a consumer daemon of it, and abort */
	if (ret || !peer.pid)
		return ret;
	saved = errno;
	reg.type = *type;
	for (unsigned int i = 0; i < 12; i++)
		reg.number[i] = *out[i];
	reg.byte_order = *byte_order;
	memcpy(reg.name, name, sizeof(reg.name));
	if (held_keep(sock, &peer, &reg))
		ret = -EPIPE;
	errno = saved;
	return ret;
}

/* register_done(sock): the application was told, or is gone */
static long hook_done(long a, long b, long c, long d, long e, long f)
{
	long ret = real_done(a, b, c, d, e, f);
	int saved = errno;

	if (plugin_armed())
		turns_end((int) a);
	errno = saved;
	return ret;
}

/* ---- event rules ----------------------------------------------------------- */

static long create_noted(long ret, long sock, long event, bool trigger, long channel, long object)
{
	int saved = errno;

	if ((int) ret == 0 && event && object && plugin_armed())
		rules_created((int) sock, (const void *) event, trigger, (const void *) channel, *(void *const *) object);
	errno = saved;
	return ret;
}

/* create_event(sock, event, channel, &object), and the same of a notifier */
static long hook_create_event(long a, long b, long c, long d, long e, long f)
{
	const struct ust_calls ust = { real_create_event, real_enable, real_release };
	long ret = create_noted(real_create_event(a, b, c, d, e, f), a, b, false, c, d);
	int saved = errno;

	if ((int) ret == 0 && b && plugin_armed())
		told_rules_created((int) a, (const void *) b, (const void *) c, &ust);
	errno = saved;
	return ret;
}

static long hook_create_notifier(long a, long b, long c, long d, long e, long f)
{
	return create_noted(real_create_notifier(a, b, c, d, e, f), a, b, true, 0, d);
}

static long switch_noted(long ret, long sock, long object, bool enabled)
{
	int saved = errno;

	if ((int) ret == 0 && plugin_armed())
		rules_switched((int) sock, (const void *) object, enabled);
	errno = saved;
	return ret;
}

/*
 * enable(sock, object) and disable(). No object: the application was gone when it was to be told of the rule, which the daemon
 * takes for done, but has not been unregistered yet. The real functions have -EINVAL for that, at which the daemon leaves the
 * rule as it was in all applications that come after this one, or says that it failed; -EPIPE is what they have for one that
 * is gone (lttng-tools 2.13 and later, ust-app.c: create_ust_event(), enable_ust_object(), ust_app_enable_event_glb()).
 */
static long hook_enable(long a, long b, long c, long d, long e, long f)
{
	if (!b)
		return -EPIPE;
	return switch_noted(real_enable(a, b, c, d, e, f), a, b, true);
}

static long hook_disable(long a, long b, long c, long d, long e, long f)
{
	if (!b)
		return -EPIPE;
	if (plugin_armed())
		rules_switching_off((const void *) b);
	return switch_noted(real_disable(a, b, c, d, e, f), a, b, false);
}

/* Before the call: afterwards the address may mean another object. */
static long hook_release(long a, long b, long c, long d, long e, long f)
{
	if (plugin_armed())
		rules_released((const void *) b);
	return real_release(a, b, c, d, e, f);
}

/* ---- the daemon's sockets ----------------------------------------------------- */

static int hook_listen(int fd, int backlog)
{
	int ret = real_listen(fd, backlog), saved = errno;

	if (!ret && sockets_listening(fd))
		plugin_start();
	errno = saved;
	return ret;
}

static int accept_noted(int listening, int fd)
{
	int saved = errno;

	if (fd >= 0 && listening == sockets.client_fd && plugin_armed())
		clients_accepted(fd);
	errno = saved;
	return fd;
}

static int hook_accept(int fd, struct sockaddr *address, socklen_t *size)
{
	return accept_noted(fd, real_accept(fd, address, size));
}

static int hook_accept4(int fd, struct sockaddr *address, socklen_t *size, int flags)
{
	return accept_noted(fd, real_accept4(fd, address, size, flags));
}

/* Before the call: afterwards the number may be another thread's. */
static int hook_close(int fd)
{
	if (plugin_armed()) {
		clients_closed(fd);
		turns_end(fd);
	}
	return real_close(fd);
}

/* Among others to a consumer daemon. */
static ssize_t hook_sendmsg(int fd, const struct msghdr *message, int flags)
{
	if (plugin_armed())
		flush_before_message();
	return real_sendmsg(fd, message, flags);
}

#define HOOK(function, old, short_name) \
	{ .name = function, .old_name = old, .hook = (void *) hook_##short_name, .real = (void **) &real_##short_name }

struct got_hook plugin_hooks[] = {
	HOOK("lttng_ust_ctl_recv_reg_msg", "ustctl_recv_reg_msg", recv),
	HOOK("lttng_ust_ctl_register_done", "ustctl_register_done", done),
	HOOK("listen", NULL, listen),
	HOOK("close", NULL, close),
	HOOK("accept", NULL, accept),
	HOOK("accept4", NULL, accept4),
	HOOK("sendmsg", NULL, sendmsg),
	HOOK("lttng_ust_ctl_create_event", "ustctl_create_event", create_event),
	HOOK("lttng_ust_ctl_create_event_notifier", NULL, create_notifier),
	HOOK("lttng_ust_ctl_enable", "ustctl_enable", enable),
	HOOK("lttng_ust_ctl_disable", "ustctl_disable", disable),
	HOOK("lttng_ust_ctl_release_object", "ustctl_release_object", release),
};
const unsigned int plugin_nr_hooks = sizeof(plugin_hooks) / sizeof(plugin_hooks[0]);

/* Only the session daemon receives registrations; without these there is nothing to be done in it. */
bool hooks_wanted(void)
{
	return real_recv && real_listen && real_close && (real_accept || real_accept4);
}
