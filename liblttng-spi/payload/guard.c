/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Payloads that do not return: an exception that nobody in the payload catches, a fault, abort(). The payload's client
 * is switched off and named, and the program's call goes on.
 *
 * A thread has one guard for each payload that it is in, the innermost first: a signal's handler may have come in
 * between. What the payload had locked or allocated stays so.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unwind.h>
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/patch/patch.h"
#include "liblttng-spi/signals/signals.h"
#include "liblttng-spi/payload/internal.h"

void spi_guarded_landing(void) SPI_HIDDEN;
void spi_guarded_fault(void) SPI_HIDDEN;

/* ---- exceptions ---- */

_Unwind_Reason_Code spi_guard_personality(int version, _Unwind_Action actions, _Unwind_Exception_Class kind,
	struct _Unwind_Exception *exception, struct _Unwind_Context *context) SPI_HIDDEN;
_Unwind_Reason_Code spi_guard_personality(int version, _Unwind_Action actions, _Unwind_Exception_Class kind,
	struct _Unwind_Exception *exception, struct _Unwind_Context *context)
{
	const uint64_t caller = (uint64_t) __builtin_return_address(0);
	void (*set_ip)(struct _Unwind_Context *, _Unwind_Ptr) = spi_symbol_beside("_Unwind_SetIP", caller);
	void (*set_gr)(struct _Unwind_Context *, int, _Unwind_Word) = spi_symbol_beside("_Unwind_SetGR", caller);

	(void) version;
	(void) kind;
	if ((actions & _UA_FORCE_UNWIND) || !set_ip || !set_gr)
		return _URC_CONTINUE_UNWIND;		/* pthread_exit() and pthread_cancel() end the thread, and so the call */
	if (actions & _UA_SEARCH_PHASE)
		return _URC_HANDLER_FOUND;
	if (!(actions & _UA_HANDLER_FRAME))
		return _URC_CONTINUE_UNWIND;
	set_gr(context, SPI_LANDING_EXCEPTION, (_Unwind_Word) exception);
	set_ip(context, (_Unwind_Ptr) spi_guarded_landing);
	return _URC_INSTALL_CONTEXT;
}

/* As `catch (...)` does where the exception is C++'s, which counts exceptions under way; else as _Unwind_DeleteException(). */
static void exception_delete(struct _Unwind_Exception *exception)
{
	const uint64_t cleanup = exception ? (uint64_t) exception->exception_cleanup : 0;
	void *(*begin)(void *) = cleanup ? spi_symbol_beside("__cxa_begin_catch", cleanup) : NULL;
	void (*end)(void) = cleanup ? spi_symbol_beside("__cxa_end_catch", cleanup) : NULL;

	if (begin && end) {
		begin(exception);
		end();
	} else if (cleanup) {
		exception->exception_cleanup(_URC_FOREIGN_EXCEPTION_CAUGHT, exception);
	}
}

/* ---- faults ---- */

#define STACK_MOST	(UINT64_C(8) << 20)

static int guarded(void *context)
{
	struct spi_guard *guard = spi_thread_is_foreign(&spi_thread) || !spi_thread.own ? NULL : spi_thread.own->guard;
	const uint64_t sp = spi_context_sp(context), top = (uint64_t) guard;

	/* the payload's own: on its stack, and not of a handler that has interrupted it */
	if (!guard || sp >= top || top - sp > STACK_MOST || spi_has_signal_frame(sp, top))
		return 0;
	spi_context_pc_set(context, (uint64_t) spi_guarded_fault);
	spi_context_argument_set(context, (uint64_t) guard);
	return 1;
}

/* LTTNG_SPI_COREDUMP: as large as the process may have it. */
static void core_allow(void)
{
	struct rlimit limit;

	if (spi_sys(SYS_prlimit64, 0L, (long) RLIMIT_CORE, NULL, &limit) < 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	spi_sys(SYS_prlimit64, 0L, (long) RLIMIT_CORE, &limit, NULL);
}

/* The signal of limit.c: the thread is in a payload whose client was switched off meanwhile. */
static int late(void *context)
{
	const struct spi_thread *t = &spi_thread;
	const struct spi_guard *guard = spi_thread_is_foreign(t) || !t->own ? NULL : t->own->guard;

	return guard && guard->client->state == SPI_CLIENT_FAILED && guarded(context);
}

/* ---- faults that are no payload's: those of workers (struct spi_worker) ---- */

#define FAULTS	(SPI_SIGNAL_BIT(SIGSEGV) | SPI_SIGNAL_BIT(SIGBUS) | SPI_SIGNAL_BIT(SIGILL) | SPI_SIGNAL_BIT(SIGFPE))

static int taken(int number, void *info, void *context)
{
	for (unsigned int i = 0; i < SPI_CLIENTS_MAX && spi_clients[i]; i++) {
		const struct spi_client *client = spi_clients[i];
		spi_fault *fault = __atomic_load_n(&client->fault, __ATOMIC_ACQUIRE);

		if (fault && fault(client->owner, number, info, context, client->fault_data))
			return 1;
	}
	return 0;
}

int spi_clients_take_faults(const char **why)
{
	if (!spi_signals_interposed && spi_trap_watch && spi_trap_watch(why) < 0) {
		*why = "libc's functions for signals cannot be watched";
		return -EPERM;
	}
	spi_signals_interposed = 1;
	__atomic_fetch_or(&spi_watched, SPI_WATCH_FAULTS, __ATOMIC_SEQ_CST);
	__atomic_store_n(&spi_mask_open, FAULTS, __ATOMIC_RELEASE);
	__atomic_store_n(&spi_fault_taken, taken, __ATOMIC_RELEASE);
	return 0;
}

void spi_guard_begin(void)
{
	spi_fault_guarded = spi_env.coredump ? NULL : guarded;
	spi_fault_late = late;
	if (spi_env.coredump)
		core_allow();
	else if (spi_signals_interposed)		/* a fault whose signal its thread blocks ends the process */
		__atomic_store_n(&spi_mask_open, FAULTS, __ATOMIC_RELEASE);
	spi_fault_install();
	spi_fault_guard_install();
}

/* ---- cancellation ---- */

/*
 * A payload may call cancellation points, where the program has none: a thread would end in the payload with the
 * program's locks. To switch cancellation off and on takes longer than a payload's entry, so that begins with the first
 * pthread_cancel().
 */
#define LEAVE_US	100u
#define LEAVE_LOOKS	500u

uint32_t spi_guard_cancels;

/* Threads that have entered a payload before: until they have left it, but not for ever. */
static void payloads_leave(void)
{
	for (const struct spi_thread_own *own = spi_threads_first(); own; own = own->next) {
		const struct spi_guard *guard = __atomic_load_n(&own->guard, __ATOMIC_ACQUIRE);

		for (uint32_t i = 0; guard && own->thread != &spi_thread && i < LEAVE_LOOKS; i++) {
			if (guard != __atomic_load_n(&own->guard, __ATOMIC_ACQUIRE) || !own->in_use)
				break;
			spi_sleep_us(LEAVE_US);
		}
	}
}

/* Threads that are in a payload of the client's, which none enters any more; a payload may itself wait for what ends here. */
void spi_guard_leave(const struct spi_client *client)
{
	for (uint32_t looks = LEAVE_LOOKS; looks;) {
		const struct spi_thread_own *own = spi_threads_first();

		for (; own; own = own->next) {
			const struct spi_guard *guard = __atomic_load_n(&own->guard, __ATOMIC_ACQUIRE);
			const struct spi_client *in = NULL;

			/* the thread may end meanwhile, and its stack with it */
			if (guard && own->thread != &spi_thread && own->in_use &&
					spi_memory_copy(&in, (uint64_t) &guard->client, sizeof(in)) == 0 && in == client)
				break;
		}
		if (!own)
			return;
		spi_sleep_us(LEAVE_US);
		looks--;
	}
}

static uint64_t cancel_enters(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride)
{
	(void) point;
	(void) frame;
	(void) vec;
	(void) stride;
	if (!__atomic_exchange_n(&spi_guard_cancels, 1, __ATOMIC_SEQ_CST) && spi_may(SPI_MAY_ACT))
		payloads_leave();
	return 0;
}

const struct spi_hook spi_guard_hooks[] = {
	{ "pthread_cancel", .before = cancel_enters, .ways = SPI_HOOK_ENTRY, .set = SPI_HOOKS_TREES },
	{ NULL },
};

/* ---- */

/* What limit.c looks at. The time is written last, and cleared first. */
static struct spi_watched_call watched_begin(struct spi_thread_own *own, struct spi_client *client)
{
	const struct spi_watched_call outer = own ? own->watched : (struct spi_watched_call) { 0, NULL };

	if (own) {
		__atomic_store_n(&own->watched.since, 0, __ATOMIC_RELEASE);
		__atomic_store_n(&own->watched.client, client, __ATOMIC_RELEASE);
		__atomic_store_n(&own->watched.since, spi_now_ns(), __ATOMIC_RELEASE);
	}
	return outer;
}

static void watched_end(struct spi_thread_own *own, struct spi_watched_call outer)
{
	if (!own)
		return;
	__atomic_store_n(&own->watched.since, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&own->watched.client, outer.client, __ATOMIC_RELEASE);
	__atomic_store_n(&own->watched.since, outer.since, __ATOMIC_RELEASE);
}

void spi_guard_ended(struct spi_client *client, uint64_t ended, struct _Unwind_Exception *exception, uint32_t busy)
{
	const int is_thrown = ended == SPI_GUARD_THROWN;

	spi_thread.busy = busy;
	if (is_thrown)
		exception_delete(exception);
	spi_client_fails(client, is_thrown ? "an exception left it" : "it has faulted, or called abort()");
}

uint64_t spi_guard_call(struct spi_thread *t, struct spi_client *client, void *function, struct spi_call *call, void *data)
{
	const uint32_t busy = t->busy;
	const uint32_t is_cancelled = __atomic_load_n(&spi_guard_cancels, __ATOMIC_RELAXED);
	struct spi_guard *nowhere = NULL;
	struct spi_watched_call outer;
	struct spi_guarded done;
	int cancel;

	if (spi_unlikely(is_cancelled))
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	if (spi_unlikely(client->limit_us))
		outer = watched_begin(t->own, client);
	done = spi_guarded_call(call, data, function, client, t->own ? &t->own->guard : &nowhere);
	if (spi_unlikely(client->limit_us))
		watched_end(t->own, outer);
	if (spi_unlikely(is_cancelled))
		pthread_setcancelstate(cancel, NULL);
	if (spi_likely(done.ended == SPI_GUARD_RETURNED))
		return done.result;
	spi_guard_ended(client, done.ended, (struct _Unwind_Exception *) done.result, busy);
	return 0;
}
