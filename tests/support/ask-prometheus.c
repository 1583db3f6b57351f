/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ask-prometheus URL RECEIVED SENT DELAY_MS LEAVES SPINES: the gate's client alone. For
 * each line of standard input it reads once and prints the links, or "error: ...".
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "profiles/language/values.h"
#include "provisioner/gate/campaign/prometheus.h"

static void
on_answer(const json_t *answer, const struct bu_err *err, void *arg)
{
	bu_autofree char *text = answer ? bu_json_canonical(answer) : NULL;

	if (err)
		printf("error: %s\n", err->text);
	else
		puts(text);
	fflush(stdout);
	bu_loop_stop(arg);
}

static int
place_all(struct bu_ids *ids, const char *names)
{
	char *name;

	*ids = (struct bu_ids){json_array(), json_object()};
	while ((name = bu_value_next_word(&names))) {
		bu_ids_place(ids, name);
		free(name);
	}
	return (int)json_array_size(ids->list);
}

int
main(int argc, char **argv)
{
	struct bu_desired_network network = {
		.switch_device_label = (char *)"instance",
		.switch_peer_label = (char *)"ifAlias",
		.switch_port_label = (char *)"ifName",
	};
	struct bu_topology shape = {.nodes = 0};
	struct bu_prometheus *prometheus;
	struct bu_loop *loop;
	char line[80];

	if (argc != 7) {
		fputs("usage: ask-prometheus URL RECEIVED SENT DELAY_MS LEAVES SPINES\n",
		      stderr);
		return 1;
	}
	network.switch_counters = argv[1];
	network.switch_received = argv[2];
	network.switch_sent = argv[3];
	network.switch_delay_ms = strtol(argv[4], NULL, 10);
	shape.leaves = place_all(&shape.leaf_ids, argv[5]);
	shape.spines = place_all(&shape.spine_ids, argv[6]);
	loop = bu_loop_create(NULL);
	prometheus = bu_prometheus_create(loop);
	while (fgets(line, sizeof(line), stdin)) {
		bu_prometheus_ask(prometheus, &network, &shape, on_answer, loop);
		bu_loop_run(loop);
	}
	bu_prometheus_destroy(prometheus);
	bu_loop_destroy(loop);
	bu_topology_fini(&shape);
	return 0;
}
