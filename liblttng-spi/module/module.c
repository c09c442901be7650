/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Bringing in the event module, and with it liblttng-ust, into a program that
 * may know neither. The agent itself depends on libc alone, so that injecting it
 * stops a thread for a moment only; this is done by the agent's own thread, or
 * before main().
 *
 * Where the module's file cannot be opened, because the program lives in another
 * root, the controller sends it and the libraries it needs as memfds; each is
 * loaded from /proc/self/fd/N and found again by its soname. There the daemon's
 * socket is out of reach too: the controller sends a directory descriptor that
 * leads to it, and lttng-ust takes it for the user's home while it starts.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/link/link.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/patch/patch.h"
#include "liblttng-spi/calls/calls.h"
#include "liblttng-spi/hooks/hooks.h"
#include "liblttng-spi/ledger/ledger.h"
#include "liblttng-spi/process/process.h"
#include "liblttng-spi/module/internal.h"

#define MODULE_NAME	"liblttng-spi-tp.so"

static uint32_t run, run_is_new;
int spi_module_records_wait;

struct spi_core_ops spi_core_ops = {
	.abi = SPI_PAYLOAD_ABI,
	.size = sizeof(spi_core_ops),
	.near_alloc = (void *(*)(struct spi_object *, size_t, size_t)) spi_near_alloc,
	.alloc = spi_alloc,
	.note = spi_note,
	.string_copy = spi_string_copy,
	.memory_copy = spi_memory_copy,
	.tree_tagged = &spi_tree_tagged,
	.within_lttng = spi_within_lttng,
	.has_room = spi_first_call_has_room,
	.object_path = spi_object_path_real,
};

/* ---- finding the module ----------------------------------------------------------- */

static int file_exists(const char *path)
{
	return spi_sys(SYS_faccessat, AT_FDCWD, path, R_OK) == 0;
}

/* Beside the agent as installed, or in the build tree's other directory. */
static int module_path(char *path, size_t size)
{
	static const char *const places[] = { "lttng-spi/" MODULE_NAME, "../../tp/.libs/" MODULE_NAME, MODULE_NAME };
	Dl_info info;
	const char *slash;
	int n;

	if (spi_env.tp && file_exists(spi_env.tp)) {
		spi_format(path, size, "%s", spi_env.tp);
		return 0;
	}
	if (!dladdr(spi_slot_code_base, &info) || !info.dli_fname || !(slash = strrchr(info.dli_fname, '/')))
		return -ENOENT;
	if (spi_path_is_descriptor(info.dli_fname))
		return -ENOENT;
	n = (int) (slash + 1 - info.dli_fname);
	if ((size_t) n + 64 > size)
		return -ENAMETOOLONG;
	memcpy(path, info.dli_fname, (size_t) n);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		spi_format(path + n, size - (size_t) n, "%s", places[i]);
		if (file_exists(path))
			return 0;
	}
	return -ENOENT;
}

/* An injector's dlopen() kept our symbols local, and the module is linked to them by name. */
static void publish_own_symbols(void)
{
	Dl_info info;

	if (dladdr(spi_slot_code_base, &info) && info.dli_fname)
		dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
}

/* ---- another root: files through the controller ---------------------------------------- */

int spi_module_file(struct spi_link *link, const char *name, char *error, size_t error_size)
{
	struct {
		struct spi_msg_file head;
		char text[400];
	} answer;
	uint32_t id = ++link->next_id;
	int fd;
	long r = spi_link_send(link, SPI_MSG_FILE_REQUEST, id, name, strlen(name) + 1, NULL, 0, -1);

	if (r < 0)
		return (int) r;
	r = spi_link_answer(link, SPI_MSG_FILE, id, &answer, sizeof(answer) - 1, &fd);
	if (r < 0)
		return (int) r;
	answer.text[sizeof(answer.text) - 1] = 0;
	if (answer.head.status < 0 || fd < 0) {
		spi_format(error, error_size, "%s: %s", name, answer.text);
		return answer.head.status < 0 ? answer.head.status : -ENOENT;
	}
	return spi_fd_high(fd);
}

/*
 * Loaded with a number that no later one shares: libc's loader takes a path that
 * it has seen for the library it loaded then.
 */
static void *load_fetched(struct spi_link *link, const char *name, char *error, size_t error_size)
{
	char path[SPI_PROC_PATH], file[16];
	void *handle;
	int fd = spi_module_file(link, name, error, error_size);

	if (fd < 0)
		return NULL;
	spi_format(file, sizeof(file), "fd/%d", fd);
	handle = dlopen(spi_proc_path(path, file), RTLD_NOW | RTLD_GLOBAL);
	if (!handle)
		spi_format(error, error_size, "%s", dlerror());
	return handle;
}

static int is_loadable(const char *name)
{
	void *handle = dlopen(name, RTLD_NOW | RTLD_GLOBAL);

	return handle != NULL;
}

/*
 * lttng-ust keeps pointers to its variables, and reads them again in each forked child. Programs that show what they do in their arguments
 * (nginx, PostgreSQL) write over the strings: so it is shown others while its constructors run. NULL: it needs none.
 */
static char **environment_copy(const char *home)
{
	const char *const more[] = { spi_module_records_wait ? "LTTNG_UST_ALLOW_BLOCKING=1" : NULL, home };
	char **old = environ, **changed, *text;
	size_t n = 0, k = 0, bytes = 0;

	for (size_t i = 0; i < 2; i++)
		bytes += more[i] ? strlen(more[i]) + 1 : 0;

	for (; old && old[n]; n++)
		if (!strncmp(old[n], "LTTNG_", 6))
			bytes += strlen(old[n]) + 1;
	changed = bytes ? spi_map_pages((n + 3) * sizeof(*changed) + bytes) : NULL;
	if (!changed)
		return NULL;
	text = (char *) (changed + n + 3);
	for (size_t i = 0; i < n + 2; i++) {	/* getenv() takes the first of a name */
		const char *from = i < 2 ? more[i] : old[i - 2];

		if (!from)
			continue;
		changed[k] = (char *) from;
		if (i < 2 || !strncmp(from, "LTTNG_", 6)) {
			changed[k] = strcpy(text, from);
			text += strlen(from) + 1;
		}
		k++;
	}
	return changed;
}

/* The program's own is back right after, unless the program has set a variable meanwhile. */
static void environment_back(char **changed, char **old)
{
	if (changed && environ == changed)
		environ = old;
}

static void *load_beside(const char *path)
{
	char **old = environ, **changed = environment_copy(NULL);
	void *handle;

	if (changed)
		environ = changed;
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	environment_back(changed, old);
	return handle;
}

static void *load_everything(struct spi_link *link, char *error, size_t error_size)
{
	/* the first for pthread_cancel(), which lttng-ust calls at the process's end: libc aborts where there is none */
	static const char *const needed[] = {
		"libgcc_s.so.1", "libnuma.so.1", "liblttng-ust-common.so.1", "liblttng-ust-tracepoint.so.1", "liblttng-ust.so.1",
	};
	char **old = environ, **changed, home[96], file[16], path[SPI_PROC_PATH];
	void *handle = NULL;
	int fd = spi_module_file(link, "daemon-home", error, error_size);

	if (fd < 0)
		return NULL;
	spi_format(file, sizeof(file), "fd/%d", fd);
	spi_format(home, sizeof(home), "LTTNG_HOME=%s", spi_proc_path(path, file));
	changed = environment_copy(home);
	if (!changed)
		return NULL;
	environ = changed;
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (!is_loadable(needed[i]) && !load_fetched(link, needed[i], error, error_size))
			goto out;
	handle = load_fetched(link, MODULE_NAME, error, error_size);
out:
	environment_back(changed, old);
	return handle;
}

/* ---- loading --------------------------------------------------------------------------------- */

/*
 * A program that is running may close a number of lttng-ust's from the moment it is opened, in lttng-ust's constructor: then
 * lttng-ust aborts it. Its list of them is in a library without threads, which comes first.
 */
static void tracker_load(void)
{
	void *common = dlopen("liblttng-ust-common.so.1", RTLD_NOW | RTLD_LOCAL);
	int (*close_fd)(int fd, int (*real_close)(int fd)) = NULL;

	if (common)
		*(void **) &close_fd = dlsym(common, "lttng_ust_safe_close_fd");
	spi_descriptors_guard(close_fd);
}

/* What starts in lttng-ust's and our own code is the tracer's. In another root they have no names of their own. */
void spi_tracer_code_find(void)
{
	for (struct spi_object *o = spi_objects_scan(); o; o = o->next)
		if (o->seen && (!strncmp(o->name, "liblttng-ust", 12) || !strncmp(o->name, "liblttng-spi", 12) || spi_path_is_descriptor(o->path) ||
				!strncmp(o->path, "/memfd:", 7)))
			spi_tracer_code_add(o->low, o->high);
}

/*
 * The agent's threads are hidden from the program, and its code's steps from one that steps, without the module, too.
 */
void spi_module_do_without(void)
{
	spi_hooks_point();
	spi_tracer_code_find();
}

/* Before the first rule of a run: the process says to its session what it is made of. Under the control lock. */
static void run_join(void)
{
	if (!run_is_new || !spi_payload)
		return;
	run_is_new = 0;
	if (!run || !spi_payload->state_dump)
		return;
	spi_objects_scan();
	spi_state_dump();
}

void spi_module_run(uint32_t number)
{
	run_is_new |= number != run;
	run = number;
	if (spi_payload && spi_payload->set_run)
		spi_payload->set_run(run);
}

int spi_module_is_run(void)
{
	return run != 0;
}

static uint32_t is_loading;

/*
 * lttng-ust's threads begin in its constructor, before its code is known as the tracer's. Where the code of others is a
 * file in memory, it has no name either.
 */
int spi_module_loads_code(uint64_t address)
{
	struct spi_vma vma;
	char path[512];

	return spi_unlikely(__atomic_load_n(&is_loading, __ATOMIC_ACQUIRE)) && spi_maps_find(address, &vma, path, sizeof(path)) &&
		(strstr(path, "/liblttng-ust") || !strncmp(path, "/memfd:", 7));
}

int spi_module_load(struct spi_link *link, char *error, size_t error_size)
{
	static struct spi_core_ops core;	/* the module keeps the pointer */
	uint32_t busy = spi_thread.busy;
	spi_payload_init_fn init;
	const struct spi_payload_ops *ops;
	const char *why = NULL;
	uint64_t signals;
	char path[1200], name[16];
	void *handle;
	int has_path, knew_some;

	spi_hooks_point();
	if (spi_payload) {
		run_join();
		return 0;
	}
	error[0] = 0;
	has_path = module_path(path, sizeof(path)) == 0;
	if (!has_path && !link) {
		spi_format(error, error_size, "%s is not beside the agent; set LTTNG_SPI_TP to its path", MODULE_NAME);
		return -ENOENT;
	}
	spi_thread.busy = SPI_BUSY_ALWAYS;	/* what the loader calls is not the program's doing */
	publish_own_symbols();
	if (spi_env.preloaded)
		spi_child_signals_block(&signals);	/* lttng-ust forks a helper in its constructor */
	spi_low_fds_hold();
	why = spi_ust_because();
	if (why) {
		spi_low_fds_release();
		if (spi_env.preloaded)
			spi_child_signals_restore(&signals);
		spi_thread.busy = busy;
		spi_format(error, error_size, "LTTng-UST is not loaded: %s", why);
		return -ENOTSUP;
	}
	spi_name_borrow(name);
	spi_objects_scan();
	spi_hooks_known();
	knew_some = spi_loads_known(0);
	if (has_path && !spi_env.preloaded)
		tracker_load();
	__atomic_store_n(&is_loading, 1, __ATOMIC_RELEASE);
	handle = has_path ? load_beside(path) : load_everything(link, error, error_size);
	spi_name_give_back(name);
	spi_low_fds_release();
	if (spi_env.preloaded)
		spi_child_signals_restore(&signals);
	spi_tracer_code_find();
	__atomic_store_n(&is_loading, 0, __ATOMIC_RELEASE);
	spi_sandbox_prepare();
	spi_loads_known(1);
	spi_hooks_point_tracer();
	if (!handle && has_path)
		spi_format(error, error_size, "%s", dlerror());
	init = handle ? (spi_payload_init_fn) dlsym(handle, "spi_payload_init") : NULL;
	if (init) {
		core = spi_core_ops;
		core.is_early = spi_env.preloaded || spi_attached_early;
		core.no_tsc = spi_env.test_no_tsc != NULL;
		ops = init(&core, &why);
		/* an older module has not all that we call */
		if (ops && (ops->abi != SPI_PAYLOAD_ABI || ops->size < sizeof(*ops))) {
			ops = NULL;
			why = "liblttng-spi-tp.so and liblttng-spi.so are of different versions: install both from one build";
		}
		spi_payload = ops;
		spi_first_call_loaded();	/* this thread's vector is as new as lttng-ust now */
		if (!spi_payload)
			spi_format(error, error_size, "the event module cannot start: %s", why ? why : "unknown");
		else
			spi_descriptors_guard(spi_payload->close_fd);
		spi_floor_tell();
		if (spi_payload && run && spi_payload->set_run)
			spi_payload->set_run(run);
		run_join();
		if (spi_payload && knew_some && !spi_env.preloaded && !spi_attached_early)
			spi_payload->libraries_update();
		spi_frames_find_unwinder();	/* later who waits for us in dlopen() may have the lock that this needs */
	}
	spi_thread.busy = busy;
	return spi_payload ? 0 : -ELIBACC;
}
