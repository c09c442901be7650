#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Entries of the table: by executable, cut at 23 bytes, or by the name that it was
# started by, and by user.
. "${SPI_TOP_SRCDIR:?}/tests/lib/plugin.sh"
spi_private "$@"
plugin_build
cp app an-executable-of-a-very-long-name
end() { kill "$daemon"; spi_wait 10 pid_gone "$daemon"; : >broker.log; }
# after COUNT-REGEX N - wait until the broker knows of that many
told() { spi_wait 5 log_counts '^(APP|HELD) ' "$1"; }

plugin_daemon "exec=an-executable-of-a-very"
./app 1
./an-executable-of-a-very-long-name 1
told 2
who=$(grep -E '^(APP|HELD)' broker.log | cut -d' ' -f1,7 | tr '\n' ' ')
like "$who" '^APP name=app HELD name=an-executable-o ' "by executable"
end
cp app run-1.2
ln -s run-1.2 another
plugin_daemon "exec=another"
./another 1
./run-1.2 1
told 2
who=$(grep -E '^(APP|HELD)' broker.log | cut -d' ' -f1,7 | tr '\n' ' ')
is "$who" 'HELD name=another APP name=run-1.2 ' "by a link's name"
end
plugin_daemon "exec=run"
printf '#!%s\n' "$PWD/run-1.2" >script
chmod +x script
./script 1
./run-1.2 1
./another 1
./app 1
told 4
who=$(grep -E '^(APP|HELD)' broker.log | cut -d' ' -f1,7 | tr '\n' ' ')
is "$who" 'HELD name=script APP name=run-1.2 HELD name=another APP name=app ' "by an interpreter's, who may have been started so"
end
plugin_daemon "uid=4711"
./app 1
told 1
is "$(count_log ^HELD)" 0 "another user's entry concerns nobody here"
end
plugin_daemon "uid=$(id -u)"
./app 1
told 1
is "$(count_log ^HELD)" 1 "one's own does"
tap_done
