/* SPDX-License-Identifier: Apache-2.0 */
/* The world of the Kubernetes driver: node001 behind an API server of paper. */
#ifndef BU_TESTS_SUPPORT_KUBE_WORLD_H
#define BU_TESTS_SUPPORT_KUBE_WORLD_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "tests/support/paper_cluster.h"
#include "tests/support/paper_kube.h"
#include "tests/support/rig.h"

/* Of nobody: only its form counts. */
static const char paper_ca[] =
	"-----BEGIN CERTIFICATE-----\n"
	"MIIBeDCCAR2gAwIBAgIUEwtVxGuxLrjA9kdYYci5+vtk4+4wCgYIKoZIzj0EAwIw\n"
	"EDEOMAwGA1UEAwwFcGFwZXIwIBcNMjYxMTMwMDYzNjI4WhgPMjEyNjExMDYwNjM2\n"
	"MjhaMBAxDjAMBgNVBAMMBXBhcGVyMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n"
	"0dI3HRAjk1lrdDf6J5gBA48o0GQ5v26ooUHS94en+xuaNHRRH/371Ur6MuR8g3jU\n"
	"fZjoV/s2dp9/6jcx+8atv6NTMFEwHQYDVR0OBBYEFIKusVkCjIi6Gbm9K6ANvPZZ\n"
	"tFI9MB8GA1UdIwQYMBaAFIKusVkCjIi6Gbm9K6ANvPZZtFI9MA8GA1UdEwEB/wQF\n"
	"MAMBAf8wCgYIKoZIzj0EAwIDSQAwRgIhANfkt/iuE0nunaO1+0HS6TzNmf5clf33\n"
	"J5EJU09Mor0CAiEAx3wt7xNeNLdi3OXHYz/A3tnnE+dtnu5h3/OgiMuKSk4=\n"
	"-----END CERTIFICATE-----\n";

static struct paper_kube *kube;

static inline void
kube_begin(struct rig *rig, char handle[BU_CLUSTER_HANDLE_SIZE])
{
	setenv("PAPER_TOKEN", "paper-token\n", 1);
	kube = paper_kube_start(rig->loop);
	rig_write(rig, "ca.pem", paper_ca);
	snprintf(handle, BU_CLUSTER_HANDLE_SIZE,
		 "http://127.0.0.1:%d env:PAPER_TOKEN %s/ca.pem", kube->port, rig->dir);
}

static inline void
kube_end(void)
{
	paper_kube_stop(kube);
}

static inline json_t *
kube_node(enum paper_is is)
{
	int gated = is == PAPER_OURS || is == PAPER_LEAVING;
	int cordoned = is == PAPER_THEIRS || is == PAPER_LEAVING;
	json_t *node =
		json_pack("{s:{s:s,s:s,s:{}},s:{s:b},s:{s:[{s:s,s:s}]}}", "metadata",
			  "name", "node001", "uid", "u1", "annotations", "spec",
			  "unschedulable", cordoned, "status", "conditions", "type",
			  "Ready", "status", is == PAPER_AWAY ? "Unknown" : "True");
	json_t *meta = json_object_get(node, "metadata");

	if (gated)
		json_object_set_new(json_object_get(node, "spec"), "taints",
				    json_pack("[{s:s,s:s}]", "key",
					      "readiness.k8s.io/bringup-validated",
					      "effect", "NoSchedule"));
	if (is == PAPER_LEAVING)
		json_object_set_new(json_object_get(meta, "annotations"),
				    "bringup.dev/leaves", json_string("true"));
	if (is == PAPER_THEIRS)
		json_object_set_new(meta, "managedFields",
				    json_pack("[{s:s,s:{s:{s:{}}}}]", "manager",
					      "kubectl-cordon", "fieldsV1", "f:spec",
					      "f:unschedulable"));
	return node;
}

static inline void
kube_be(const struct rig *rig, enum paper_is is)
{
	int busy = is == PAPER_BUSY || is == PAPER_LEAVING;

	paper_kube_remove(kube, PAPER_PODS, "train-12");
	paper_kube_remove(kube, PAPER_NODES, "node001");
	kube->budget = busy;
	if (is != PAPER_UNKNOWN)
		paper_kube_put(kube, PAPER_NODES, kube_node(is));
	if (busy)
		paper_kube_put(kube, PAPER_PODS,
			       json_pack("{s:{s:s,s:s},s:{s:s}}", "metadata", "name",
					 "train-12", "namespace", "default", "spec",
					 "nodeName", "node001"));
}

/* The pod of an acceptance ends as soon as it is there. */
static inline void
kube_turn(const struct rig *rig)
{
	json_t *pod = paper_kube_get(kube, PAPER_PODS, "bringup-acceptance-node001");

	if (!pod || json_object_get(pod, "status"))
		return;
	pod = json_deep_copy(pod);
	json_object_set_new(pod, "status",
			    json_pack("{s:s,s:[{s:{s:{s:i,s:s}}}]}", "phase",
				      "Succeeded", "containerStatuses", "state",
				      "terminated", "exitCode", 0, "message",
				      paper_cluster.prints));
	paper_kube_put(kube, PAPER_PODS, pod);
}

static inline enum paper_is
kube_now(void)
{
	json_t *node = paper_kube_get(kube, PAPER_NODES, "node001");
	json_t *spec = json_object_get(node, "spec");
	json_t *first = json_array_get(
		json_object_get(json_object_get(node, "status"), "conditions"), 0);
	int leaves = json_object_get(json_object_get(json_object_get(node, "metadata"),
						     "annotations"),
				     "bringup.dev/leaves") != NULL;
	int theirs = bu_json_bool(spec, "unschedulable", 0) && !leaves;
	int gated = json_array_size(json_object_get(spec, "taints")) > 0;
	int busy = paper_kube_get(kube, PAPER_PODS, "train-12") != NULL;

	if (!node)
		return PAPER_UNKNOWN;
	if (strcmp(bu_json_str(first, "status", ""), "Unknown") == 0)
		return PAPER_AWAY;
	if (theirs)
		return PAPER_THEIRS;
	if (gated)
		return busy ? PAPER_LEAVING : PAPER_OURS;
	return busy ? PAPER_BUSY : PAPER_SERVES;
}

static inline void
kube_silence(const struct rig *rig, int on)
{
	kube->silent = on;
	if (on)
		paper_kube_hang_up(kube);
}

static inline int
kube_labelled(const struct rig *rig)
{
	json_t *meta = json_object_get(paper_kube_get(kube, PAPER_NODES, "node001"),
				       "metadata");

	return strcmp(bu_json_str(json_object_get(meta, "labels"), "tier", ""),
		      "gold") == 0;
}

static inline int
kube_gated(const struct rig *rig)
{
	json_t *spec =
		json_object_get(paper_kube_get(kube, PAPER_NODES, "node001"), "spec");

	return json_array_size(json_object_get(spec, "taints")) > 0;
}

#endif
