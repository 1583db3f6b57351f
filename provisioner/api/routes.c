/* SPDX-License-Identifier: Apache-2.0 */
/* Every route that there is. */
#include "provisioner/api/api.h"

enum { PEOPLE = BU_LISTEN_LOCAL | BU_LISTEN_PAGE };

const struct bu_route bu_api_routes[] = {
	{"GET", "/boot.ipxe", BU_LISTEN_BOOT, bu_api_boot_first,
	 "the first iPXE script"},
	{"GET", "/boot/script/*", BU_LISTEN_BOOT, bu_api_boot_script,
	 "iPXE script of the NIC with this MAC"},
	{"GET", "/boot/*", BU_LISTEN_BOOT, bu_api_boot_file, "kernel, ramdisk, CA"},
	{"GET", "/images/*/*", BU_LISTEN_BOOT, bu_api_image_file,
	 "manifest and parts of an image, by Range"},

	{"POST", "/v1/agent/enroll", BU_LISTEN_AGENT, bu_api_agent_enroll,
	 "trades an install token for a client certificate"},
	{"POST", "/v1/agent/hello", BU_LISTEN_AGENT, bu_api_agent_hello,
	 "who I am, what I run, what I am made of"},
	{"POST", "/v1/agent/work", BU_LISTEN_AGENT, bu_api_agent_work,
	 "waits for something to do"},
	{"POST", "/v1/agent/progress", BU_LISTEN_AGENT, bu_api_agent_progress,
	 "how far a work item is"},
	{"POST", "/v1/agent/result", BU_LISTEN_AGENT, bu_api_agent_result,
	 "how a work item ended"},

	{"GET", "/v1/status", PEOPLE, bu_api_status, "all nodes; ?since=&wait= waits"},
	{"GET", "/v1/events", PEOPLE, bu_api_events,
	 "the log; ?limit= or ?after=&wait=; ?node= is a nodeset"},
	{"GET", "/v1/nodes", PEOPLE, bu_api_nodes,
	 "nodes; ?set= is a nodeset: gpu[1-9], @pool, state=ready"},
	{"GET", "/v1/nodes/*", PEOPLE, bu_api_node,
	 "one node, and why it is where it is"},
	{"POST", "/v1/nodes/*/hold", BU_LISTEN_LOCAL, bu_api_hold,
	 "nothing is done with the node until it is released"},
	{"POST", "/v1/nodes/*/release", BU_LISTEN_LOCAL, bu_api_release,
	 "takes a held node back into work"},
	{"POST", "/v1/plan", BU_LISTEN_LOCAL, bu_api_plan,
	 "stores a revision and plans it"},
	{"POST", "/v1/apply", BU_LISTEN_LOCAL, bu_api_apply, "carries a plan out"},
	{"GET", "/", BU_LISTEN_PAGE, bu_api_web, "the status page"},
	{"GET", "/*", BU_LISTEN_PAGE, bu_api_web, "its files"},
	{NULL, NULL, 0, NULL, NULL},
};
