. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
spi_cc zoo zoo.c
quiet() { "$@" >/dev/null 2>>lttng.log; }
t() {
quiet lttng create exits$1 -o "$PWD/exits$1"
quiet lttng enable-event -u "$2"
quiet lttng start
LTTNG_SPI_DEBUG=1 "${SPI_ALONE[@]}" LTTNG_SPI_RULES=t_leaf ./zoo leaf 100 >out 2>err
quiet lttng destroy --all
cat err | tail -5 >&2
is "$(spi_count exits$1 t_leaf_exit)" 100 "$2 exit"
is "$(spi_count exits$1 t_leaf_entry)" 100 "$2 entry"
}
t 1 'spi:t_leaf_exit'
t 2 'spi:t_leaf*'
t 3 'spi:t_leaf_entry'
tap_done
