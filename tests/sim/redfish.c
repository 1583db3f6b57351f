/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Redfish driver by hand: "redfish URL OPERATION..." does one after the other at
 * one BMC and prints what came of each. For tests against BMCs that others wrote, and
 * for whoever has a real one. REDFISH_USER, REDFISH_PASSWORD and REDFISH_FINGERPRINT
 * say who asks whom, REDFISH_MEDIA which image goes in or out. Exit status 1 when one
 * of them failed.
 */
#include <stdio.h>
#include <string.h>

#include "provisioner/power/redfish/redfish.h"

static const struct {
	const char *name;
	enum bu_power_op op;
	enum bu_boot_first first;
} words[] = {
	{"status", BU_POWER_STATUS, 0},
	{"identity", BU_POWER_IDENTITY, 0},
	{"on", BU_POWER_SWITCH_ON, 0},
	{"off", BU_POWER_SWITCH_OFF, 0},
	{"network", BU_POWER_BOOT_FIRST, BU_BOOT_NETWORK},
	{"disk", BU_POWER_BOOT_FIRST, BU_BOOT_DISK},
	{"cd", BU_POWER_BOOT_FIRST, BU_BOOT_MEDIA},
	{"insert", BU_POWER_MEDIA_INSERT, 0},
	{"eject", BU_POWER_MEDIA_EJECT, 0},
};

struct result {
	struct bu_loop *loop;
	enum bu_power_op op;
	int failed;
};

static void
on_done(const struct bu_power_answer *answer, const struct bu_err *err, void *arg)
{
	struct result *result = arg;

	result->failed = err != NULL;
	if (err)
		printf("%s: %s\n", bu_err_name(err->kind), err->text);
	else if (result->op == BU_POWER_STATUS)
		printf("%s\n", bu_power_state_name(answer->state));
	else if (result->op == BU_POWER_IDENTITY)
		printf("%s %s %zu %s\n", answer->machine.serial, answer->machine.uuid,
		       answer->machine.macs_count,
		       answer->machine.macs_count ? answer->machine.macs[0] : "-");
	else
		printf("done\n");
	bu_loop_stop(result->loop);
}

static int
run(void *driver, struct bu_loop *loop, const char *url, const char *word)
{
	struct bu_power_request request = {
		.target = {.bmc = url,
			   .user = getenv("REDFISH_USER"),
			   .password = getenv("REDFISH_PASSWORD"),
			   .fingerprint = getenv("REDFISH_FINGERPRINT")},
		.media = getenv("REDFISH_MEDIA"),
	};
	struct result result = {.loop = loop};
	size_t i = 0;

	while (i < BU_LEN(words) && strcmp(words[i].name, word) != 0)
		i++;
	if (i == BU_LEN(words)) {
		printf("no operation %s\n", word);
		return 1;
	}
	request.op = result.op = words[i].op;
	request.first = words[i].first;
	printf("%s: ", word);
	if (bu_power_redfish.start(driver, &request, on_done, &result))
		bu_loop_run(loop);
	fflush(stdout);
	return result.failed;
}

int
main(int argc, char **argv)
{
	struct bu_loop *loop;
	void *driver;
	int failed = 0;

	if (argc < 3) {
		fprintf(stderr,
			"redfish URL status|identity|on|off|network|disk|cd|insert|eject "
			"...\n");
		return 1;
	}
	loop = bu_loop_create(NULL);
	driver = bu_power_redfish.open(loop, "", NULL);
	for (int i = 2; i < argc; i++)
		failed |= run(driver, loop, argv[1], argv[i]);
	bu_power_redfish.close(driver);
	bu_loop_destroy(loop);
	return failed;
}
