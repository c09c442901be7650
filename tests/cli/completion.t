#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# bash completion: `trace` among the commands, its options, those of the commands
# with --spi, and the real lttng's own completion for everything else.
. "${SPI_TOP_SRCDIR:?}/tests/lib/tap.sh"

[ ! -r /usr/share/bash-completion/bash_completion ] || . /usr/share/bash-completion/bash_completion
. "$SPI_TOP_SRCDIR/cli/lttng.bash-completion"

# completed WORD... - the last word is being typed; the candidates, a line each
completed() {
	COMP_WORDS=("$@")
	COMP_CWORD=$(($# - 1))
	COMP_LINE="$*" COMP_POINT=${#COMP_LINE}
	COMPREPLY=()
	_lttng_spi lttng "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}" 2>/dev/null
	printf '%s\n' "${COMPREPLY[@]}"
}

is "$(completed lttng trace)" trace "the command"
is "$(completed lttng -n trace)" trace "behind a general option"
is "$(completed lttng -g group trace)" trace "behind a general option with a value"
is "$(completed lttng trace --one)" --one-event "its options"
is "$(completed lttng trace -f)" -f "a short option"
is "$(completed lttng trace -o /usr/inclu)" /usr/include "a directory"
like "$(completed lttng trace -f x -p $$)" "(^|[[:space:]])$$([[:space:]]|\$)" "a pid"
is "$(completed lttng trace --exec x --one)" --one-event "behind --exec"
is "$(completed lttng trace -f x --one)" --one-event "behind an option with a value"
is "$(completed lttng trace --prototypes /usr/inclu)" /usr/include "a file of prototypes"
is "$(completed lttng trace -f mal)" "" "a function is not guessed"
like "$(completed lttng trace -f x babeltr)" babeltrace2 "COMMAND"
like "$(completed lttng trace -f x ls /usr/incl)" /usr/include "COMMAND's arguments"
unlike "$(completed lttng trace -f x ls --one)" one-event "COMMAND's options are not ours"
is "$(completed lttng trace --tree --dep)" --depth "a tree's options"
is "$(completed lttng trace --tree --on-signal USR)" $'USR1\nUSR2' "a tree's signal"
is "$(completed lttng trace --tree --follow no)" none "what a tree follows"
is "$(completed lttng trace --tree --exclude mal)" "" "what it leaves out is not guessed"
like "$(completed lttng trace --tree --depth 3 babeltr)" babeltrace2 "COMMAND behind a tree's options"
is "$(completed lttng enable-event --spi --tree --bud)" --budget "enable-event --spi: a tree's options"
is "$(completed lttng disable-event --spi --calls)" --calls-of "disable-event --spi: a tree's options"
unlike "$(completed lttng list --spi --)" depth "list --spi: none of them"
is "$(completed lttng enable-event --spi --one)" --one-event "enable-event --spi: its options"
is "$(completed lttng enable-event -f x --spi --fil)" --filter "--spi anywhere"
like "$(completed lttng enable-event --spi -f x --pid $$)" "(^|[[:space:]])$$([[:space:]]|\$)" "its pid"
is "$(completed lttng enable-event --spi -f mal)" "" "its function is not guessed"
is "$(completed lttng disable-event --spi --al)" --all "disable-event --spi"
is "$(completed lttng -n list --spi --verb)" --verbose "list --spi"
like "$(completed lttng list --sp)" '(^|[[:space:]])--spi' "--spi itself"
unlike "$(completed lttng start --sp)" '--spi' "--spi for no other command"
unlike "$(completed lttng enable-event --one)" one-event "without --spi: the real lttng's options"
if declare -F _lttng >/dev/null && declare -F _get_comp_words_by_ref >/dev/null; then
	like "$(completed lttng cre)" create "the real lttng's commands"
	like "$(completed lttng create --li)" --live "and their options"
fi
tap_done
