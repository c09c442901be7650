# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A private machine for one test: the script starts itself again inside new
# mount, network and pid namespaces, with its own /run/lttng, /dev/shm and
# loopback, so that its session, consumer and relay daemons neither see nor
# disturb the machine's, and several tests run side by side on the same ports.
# The pid namespace is also what cleans up: when the script, its process 1,
# ends or is killed for taking too long, the kernel ends whatever it started.
#
# Works as root, and without root where user namespaces are allowed.

# Bounds of waits are multiplied by it; run-all says how often, 1 to 4.
export SPI_PATIENCE=${SPI_PATIENCE:-1}

# spi_private "$@" - returns inside the namespaces; exports SPI_TMP, an empty directory that is removed at the end
spi_private() {
	if [ -z "${SPI_PRIVATE:-}" ]; then
		private_enter "$0" "$@"
	fi
	unset SPI_PRIVATE
	private_mounts || { echo "Bail out! cannot mount private directories"; exit 1; }
	export HOME=$SPI_TMP/home
	export LTTNG_HOME=$HOME XDG_CACHE_HOME=$HOME/.cache XDG_CONFIG_HOME=$HOME/.config
	mkdir -p "$HOME"
	mkfifo "$SPI_TMP/.idle"
	export LC_ALL=C.UTF-8 LANG=C.UTF-8 TZ=UTC
	unset LD_PRELOAD LTTNG_SPI_RULES LTTNG_SPI_SOCKET LTTNG_UST_REGISTER_TIMEOUT
	cd "$SPI_TMP" || exit 1
}

private_flags=(-m -n -p --fork --mount-proc --kill-child --propagation private)
[ "$(id -u)" = 0 ] || private_flags=(-r "${private_flags[@]}")

# private_refused - succeeds where this machine does not let us make the namespaces, and says why
private_refused() {
	local why
	why=$(unshare "${private_flags[@]}" true 2>&1) && return 1
	[ "$(id -u)" != 0 ] || mountpoint -q / || why+="; the root directory is no mount point, as in a chroot: use pivot_root"
	echo "needs mount, network and pid namespaces, of root or of unprivileged users: $why"
}

# Does not return.
private_enter() {
	local script=$1 tmp status why
	local -a flags=("${private_flags[@]}")
	shift
	! why=$(private_refused) || skip_all "$why"
	tmp=$(mktemp -d "${TMPDIR:-/tmp}/spi-test.XXXXXX") || exit 1
	chmod 755 "$tmp"
	# The shell stays behind to remove the directory, whatever becomes of the test.
	SPI_PRIVATE=1 SPI_TMP=$tmp SPI_OUTER_UID=$(id -u) unshare "${flags[@]}" bash "$script" "$@"
	status=$?
	rm -rf "$tmp"
	exit "$status"
}

private_mounts() {
	if [ "${SPI_OUTER_UID:-0}" = 0 ]; then
		mkdir -p /run/lttng && mount -t tmpfs -o mode=755 tmpfs /run/lttng
	else
		mount -t tmpfs -o mode=755 tmpfs /run && mkdir -p /run/lttng
	fi &&
		mount -t tmpfs -o mode=1777 tmpfs /dev/shm &&
		ip link set lo up
}

# spi_daemon [OPTION...] - a stock session daemon, ready when this returns
spi_daemon() {
	local -a group=()

	[ "${SPI_OUTER_UID:-0}" = 0 ] || group=(--group root)
	lttng-sessiond --no-kernel --daemonize "${group[@]}" "$@" >"$SPI_TMP/sessiond.log" 2>&1 ||
		{ diag "$(cat "$SPI_TMP/sessiond.log")"; echo "Bail out! lttng-sessiond does not start"; exit 1; }
}

# spi_patient - for daemons with the plugin: programs wait for their rules longer than the 2 and 3 seconds of every day, which a busy
# machine exceeds
spi_patient() {
	export LTTNG_SPI_HOLD_MS=${LTTNG_SPI_HOLD_MS:-8000} LTTNG_UST_REGISTER_TIMEOUT=${LTTNG_UST_REGISTER_TIMEOUT:-12000}
}

# spi_wait SECONDS COMMAND... - until the command succeeds, asking 50 times a second, later 10 times; 1 when the time is over. Five
# seconds and more are a bound, and may be more on slow machines (run-all). The descriptor that nothing comes from is not a
# process substitution's: bash 5.2 loses the end of one now and then, and its `wait` waits for that for ever.
spi_wait() {
	local deadline=$((SECONDS + 1 + ($1 < 5 ? $1 : $1 * SPI_PATIENCE))) idle pause=2
	shift
	exec {idle}<>"$SPI_TMP/.idle"
	until "$@" >/dev/null 2>&1; do
		if [ "$SECONDS" -ge "$deadline" ]; then
			exec {idle}>&-
			return 1
		fi
		printf -v pause '%02d' "$pause"
		read -r -t "0.$pause" -u "$idle" || :
		pause=$((10#$pause < 10 ? 10#$pause + 1 : 10))
	done
	exec {idle}>&-
}

# spi_scaled MS - MS on a machine that has nothing else to do, more where others use its processors at the same time
spi_scaled() {
	awk -v ms="$1" -v cpus="$(nproc)" '{ share = $1 / cpus; print int(ms * (share > 1 ? share : 1)) }' /proc/loadavg
}

# spi_soon TIME LIMIT NAME - TIME, in ms where NAME says nothing else, is at most LIMIT. `make soak` judges that; `make check`
# shows the figure only, as other programs may use the processors while the tests run.
spi_soon() {
	if [ -z "${SPI_SOAK:-}" ]; then
		diag "$3: $1 (make soak: at most $2)"
	else
		[ "$1" -le "$(spi_scaled "$2")" ]
		ok $? "$3 ($1)"
	fi
}

# may_die COMMAND... - as without, but for what bash would say when a signal ends it
may_die() { { "$@" 2>&9 9>&-; } 9>&2 2>/dev/null; }

# file_has FILE REGEX, pid_gone PID - conditions for spi_wait
file_has() { grep -Eqa -- "$2" "$1"; }
pid_gone() { ! kill -0 "$1"; }
