# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What every lint shares. A lint takes the root of the tree as its argument (default:
# this one), prints "file:line: what" for each finding and exits 1 when there is one.
set -euo pipefail
export LC_ALL=C

lint_root=${1:-$(dirname -- "${BASH_SOURCE[0]}")/../..}
cd -- "$lint_root"

readonly lint_rooms="base model profiles images fabric checks provisioner agent cli lab tests"

# lint_find ARGS...: the regular files of the house that find's ARGS select.
lint_find() {
	local room
	for room in $lint_rooms; do
		[[ ! -d $room ]] || find "$room" -type f "$@"
	done | sort
}

# lint_need PROGRAM...: a lint whose tool is missing must not pass.
lint_need() {
	local program
	for program in "$@"; do
		command -v "$program" >/dev/null || {
			printf '%s: %s is not installed; ./bootstrap.sh check installs it\n' \
				"$0" "$program" >&2
			exit 1
		}
	done
}

# lint_end FINDINGS: prints them; the exit status of the lint.
lint_end() {
	[[ -n $1 ]] || return 0
	printf '%s\n' "$1"
	return 1
}
