. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
spi_private "$@"
broker_setup
record s 'spi:tree(main;ipc=pipe+unix+tcp+udp)'
P="python3 $SPI_PROGRAMS/peers.py /run/lttng/spi-agent"
for k in mapped udp udp-wildcard udp-dual udp6 udp-connected udp-nobody nobody; do
echo "# == $k"; timeout 20 $P $k 2>&1 | sed 's/^/# /'
done
for k in "tcp twice" "tcp receiver" "pair receiver" "tcp foreign" "tcp wrong" "tcp user=3" "tcp net" "tcp more=3" "listening more=3" "pipe alone" "tcp flood=100" "tcp times=30" "pair times=30" "pipe times=30" "tcp sender=3" "tcp plain deadline=1000"; do
echo "# == $k"; rm -f fifo; timeout 20 $P $k 2>&1 | sed 's/^/# /'
done
status | sed 's/^/# /'
lttng list --spi 2>/dev/null| sed 's/^/# /'
$SPI_LTTNG list --spi | sed 's/^/# /'
cat plugin.log | tail -5 | sed 's/^/# /'
tap_done
