/* SPDX-License-Identifier: Apache-2.0 */
/* A machine behind libvirt, played by libvirt's own test driver: no daemon, no guest.
 */
#include <libvirt/libvirt.h>
#include <string.h>

#include "lab/bmc/machine.h"
#include "tests/support/unit.h"

static const char place[] = "test:///default#test";

/* The order of <boot dev=...> in its persistent definition, "network hd"; owned. */
static char *
order_of(virConnectPtr conn)
{
	virDomainPtr domain = virDomainLookupByName(conn, "test");
	char *xml = virDomainGetXMLDesc(domain, VIR_DOMAIN_XML_INACTIVE);
	char *list = bu_xstrdup(""), *at = xml;

	while ((at = strstr(at, "<boot dev='"))) {
		size_t length;
		char *longer;

		at += strlen("<boot dev='");
		length = strcspn(at, "'");
		longer = bu_xasprintf("%s%s%.*s", list, *list ? " " : "", (int)length,
				      at);
		free(list);
		list = longer;
	}
	free(xml);
	virDomainFree(domain);
	return list;
}

START_TEST(a_domain_goes_on_with_the_order_that_was_asked_for)
{
	static const struct {
		const char *target, *order;
	} rows[] = {{"Pxe", "network hd"},
		    {"Hdd", "hd network"},
		    {"Cd", "cdrom hd"},
		    {"UefiHttp", "network hd"}};
	/* The test driver's world lives as long as one connection to it. */
	virConnectPtr conn = virConnectOpen("test:///default");
	struct bu_bmc_identity identity;
	struct bu_err err = {0};
	struct bu_bmc_machine *machine = bu_bmc_machine_domain(place, &identity, &err);
	int is_on = -1;

	ck_assert_msg(machine != NULL, "%s", err.text);
	ck_assert_str_eq(identity.uuid, "6695eb01-f6a4-8304-79aa-97f2502e193f");
	ck_assert_int_eq(machine->ops->is_on(machine, &is_on, &err), 0);
	ck_assert_int_eq(is_on, 1);
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *order = NULL;

		ck_assert_int_eq(machine->ops->stop(machine, &err), 0);
		ck_assert_int_eq(machine->ops->stop(machine, &err), 0);
		machine->ops->is_on(machine, &is_on, &err);
		ck_assert_int_eq(is_on, 0);
		ck_assert_msg(
			machine->ops->start(machine, rows[i].target, NULL, &err) == 0,
			"%s", err.text);
		machine->ops->is_on(machine, &is_on, &err);
		ck_assert_int_eq(is_on, 1);
		order = order_of(conn);
		ck_assert_str_eq(order, rows[i].order);
	}
	ck_assert_int_eq(machine->ops->ask_off(machine, &err), 0);
	machine->ops->is_on(machine, &is_on, &err);
	ck_assert_int_eq(is_on, 0);
	machine->ops->close(machine);
	virConnectClose(conn);
}
END_TEST

START_TEST(what_is_no_domain_is_told)
{
	static const char *const places[] = {"test:///default", "#test",
					     "test:///default#", "test:///default#none",
					     "nothing:///x#y"};
	struct bu_bmc_identity identity;

	for (size_t i = 0; i < BU_LEN(places); i++) {
		struct bu_err err = {0};

		ck_assert_ptr_null(bu_bmc_machine_domain(places[i], &identity, &err));
		ck_assert_uint_gt(strlen(err.text), 0);
	}
}
END_TEST

BU_UNIT("lab bmc domain", a_domain_goes_on_with_the_order_that_was_asked_for,
	what_is_no_domain_is_told)
