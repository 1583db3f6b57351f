/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of the table in schema_keys.c: the switches of a network, and where to learn
 * what they count. */
#ifndef BU_PROFILES_LANGUAGE_SCHEMA_SWITCHES_H
#define BU_PROFILES_LANGUAGE_SCHEMA_SWITCHES_H

/* clang-format off */
#define BU_SWITCHES_KEYS							       \
{"network", "routing", BU_KEY_CHOICE, "static|sprayed", 0, 0, "static",		       \
	FIELD(network, routing), CONTENT(NONE),					       \
	"how its switches choose a way between leaves; sprayed: each flow takes all "  \
	"spines"},								       \
{"network", "spines", BU_KEY_WORDS, NULL, 0, 0, NULL,				       \
	FIELD(network, spines), CONTENT(NONE),					       \
	"names of the spines between its leaves, as switch_counters tells them"},      \
{"network", "switch_counters", BU_KEY_COUNTERS, NULL, 0, 0, NULL,		       \
	FIELD(network, switch_counters), CONTENT(NONE),				       \
	"where to learn what its switches count: a Prometheus, or themselves over "    \
	"InfiniBand; where flows are sprayed only these name a bad link"},             \
{"network", "switch_received", BU_KEY_TEXT, NULL, 0, 0, "ifInErrors",		       \
	FIELD(network, switch_received), CONTENT(NONE),				       \
	"of a Prometheus: the query for the errors of what each switch port received"},\
{"network", "switch_sent", BU_KEY_TEXT, NULL, 0, 0, "ifOutErrors",		       \
	FIELD(network, switch_sent), CONTENT(NONE),				       \
	"of a Prometheus: the query for the errors of what each switch port sent"},    \
{"network", "switch_device_label", BU_KEY_WORD, NULL, 0, 0, "instance",		       \
	FIELD(network, switch_device_label), CONTENT(NONE),			       \
	"of a Prometheus: the label with the name of the switch that counts"},	       \
{"network", "switch_peer_label", BU_KEY_WORD, NULL, 0, 0, "ifAlias",		       \
	FIELD(network, switch_peer_label), CONTENT(NONE),			       \
	"of a Prometheus: the label with the name of the switch at the other end"},    \
{"network", "switch_port_label", BU_KEY_WORD, NULL, 0, 0, "ifName",		       \
	FIELD(network, switch_port_label), CONTENT(NONE),			       \
	"of a Prometheus: the label with the name of the port"},		       \
{"network", "switch_delay", BU_KEY_DURATION, NULL, 0, 300000, "30 s",		       \
	FIELD(network, switch_delay_ms), CONTENT(NONE),				       \
	"of a Prometheus: how long after a round it is asked; longer than it takes to "\
	"ask all switches once"},						       \
{"network", "switch_credentials", BU_KEY_SECRET, NULL, 0, 0, NULL,		       \
	FIELD(network, switch_credentials), CONTENT(NONE),			       \
	"of a Prometheus: a bearer token, or USER:PASSWORD; its URL is https"},
/* clang-format on */

#endif
