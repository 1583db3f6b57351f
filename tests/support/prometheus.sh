# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Debian's Prometheus with the alerts of packaging/monitoring, for system tests; to be
# sourced, with die() there. Whoever starts it ends prometheus_pid.
prometheus_rules=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)/packaging/monitoring/bringup.rules.yml
readonly prometheus_rules

# prometheus_start DIRECTORY PORT: scrapes what DIRECTORY/scrape.yml says, each second. The
# alerts are as they are delivered, but for the time for which they wait.
prometheus_start() {
	local dir=$1
	prometheus_port=$2
	sed 's/^    for: .*/    for: 1s/' "$prometheus_rules" >"$dir/rules.yml"
	cat - "$dir/scrape.yml" >"$dir/prometheus.yml" <<'YML'
global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: [rules.yml]
scrape_configs:
YML
	promtool check config "$dir/prometheus.yml" >"$dir/check.log" ||
		die 'promtool refuses the configuration'
	prometheus --config.file="$dir/prometheus.yml" --storage.tsdb.path="$dir/data" \
		--web.listen-address="127.0.0.1:$prometheus_port" >"$dir/prometheus.log" 2>&1 &
	prometheus_pid=$!
}

# ask PATH EXPRESSION [OPTION...]: of Python over the answer's `data`, as `d`.
ask() {
	curl -sf -G "${@:3}" "http://127.0.0.1:$prometheus_port/api/v1/$1" | python3 -c '
import json, sys
d = json.load(sys.stdin)["data"]
sys.exit(0 if eval(sys.argv[1]) else 1)' "$2"
}

# fires ALERT LABEL=VALUE...
fires() {
	ask alerts "any(a['state'] == 'firing' and a['labels']['alertname'] == '$1' and all(
		a['labels'].get(l.split('=')[0]) == l.split('=')[1] for l in '${*:2}'.split())
		for a in d['alerts'])"
}
