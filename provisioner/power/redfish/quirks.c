/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of what BMCs do differently; tree.c looks a BMC up in it,
 * docs/redfish.md shows it. Each row says what is done, for whom, where it was
 * reported and which test shows it. A row without flags is done for all: a fix of
 * the firmware or another vendor with the same habit needs no new release.
 */
#include "provisioner/power/redfish/quirks.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define ALL NULL, NULL, NULL, NULL
#define OF(vendor) vendor, NULL, NULL, NULL

const struct rf_quirk rf_quirks[] = {
	{1, ALL, 0,
	 "forgets the boot mode that is not sent: target, enabled and mode go together",
	 "DMTF/Redfishtool#106", "supermicro_wants_all_boot_fields"},
	{2, OF("HPE"), RF_QUIRK_BARE_BOOT,
	 "refuses the boot mode as not writable: the set without it is first there, and "
	 "second elsewhere",
	 "ansible-collections/community.general#3509", "hpe_refuses_the_mode"},
	{3, ALL, 0,
	 "says 200 and keeps another mode: what was written is read back and compared",
	 "bmc-toolbox/bmclib#459", "a_boot_mode_that_reverts_is_an_error"},
	{4, OF("AMI"), RF_QUIRK_BOOT_LATER,
	 "takes the boot override at the settings object (/SD) alone",
	 "DMTF/Redfish-Tacklebox#144", "dgx_boots_by_the_settings_object"},
	{5, "Dell", NULL, NULL, "1.99", RF_QUIRK_BOOT_LATER,
	 "iDRAC10 (firmware 1.x) takes the boot override at the settings object; for "
	 "all BMCs this is the second place, where the system refuses",
	 "stmcginnis/gofish#511", "the_settings_object_is_the_second_place"},
	{6, ALL, 0,
	 "refuses changes during POST: waits longer each time, at most three times",
	 "ironcore-dev/metal-operator#997", "backs_off_during_post"},
	{7, OF("HPE"), RF_QUIRK_KEEP_TARGET,
	 "refuses target None: Disabled goes with the target that is there",
	 "ironcore-dev/metal-operator#998", "hpe_disables_and_keeps_the_target"},
	{8, ALL, 0, "has no Continuous: Once is written before each start",
	 "openstack/ironic drivers/modules/redfish/management.py",
	 "once_comes_before_continuous"},
	{12, OF("Lenovo"), RF_QUIRK_NO_HDD,
	 "boots from Hdd for ever: the disk is \"no override\" there, and wherever Hdd is "
	 "not allowed",
	 "openstack/ironic#14", "lenovo_boots_its_disk_without_an_override"},
	{13, ALL, 0, "wants If-Match with every change (428): it is always sent",
	 "stmcginnis/gofish#171", "every_patch_brings_an_etag"},
	{14, ALL, 0,
	 "compares ETags wrongly: as given, weak or strong, without -gzip, quoted, none",
	 "ansible-collections/community.general#6434", "climbs_the_ladder_of_etags"},
	{15, ALL, 0, "refuses If-Match with actions: it goes with PATCH alone",
	 "stmcginnis/gofish schemas/task_monitor.go", "actions_have_no_etag"},
	{16, ALL, 0,
	 "ETags differ when compressed, and some answer 406 to identity: asked again "
	 "without",
	 "openstack/sushy sushy/connector.py", "asks_again_after_406"},
	{17, OF("HPE"), RF_QUIRK_CLOSE,
	 "resets connections that it kept: one for each request. Of others that is learnt at "
	 "the second loss and tried anew after an hour; a GET that the network lost goes "
	 "out once more, and idle connections are closed",
	 "openstack/sushy sushy/connector.py", "a_lost_get_goes_out_once_more"},
	{18, ALL, 0,
	 "has few sessions (503, RAC0218): one for each BMC, ended when idle; Basic where "
	 "none is free",
	 "bb-Ricardo/check_redfish#198", "no_free_session_means_basic"},
	{19, ALL, 0,
	 "ends sessions early: on 401 one new log-in, never a third password",
	 "NVIDIA/libredfish tests/mockups", "an_expired_token_is_renewed_once"},
	{20, ALL, 0,
	 "wants a new password first: said with the account that the BMC names",
	 "NVIDIA/infra-controller#4724", "a_password_to_change_is_said"},
	{21, ALL, 0, "answers 409 to On just after off: asked again after a while",
	 "openstack/ironic drivers/modules/redfish/power.py",
	 "on_after_409_is_asked_again"},
	{22, ALL, 0,
	 "shows PoweringOn, PoweringOff, Paused: these are unknown, never off",
	 "openstack/ironic drivers/modules/redfish/power.py",
	 "what_is_not_surely_off_is_unknown"},
	{24, ALL, 0,
	 "virtual drives: under the system or its managers, by action or by PATCH, some "
	 "take neither, each wants other parameters, the target may be UsbCd, and an empty "
	 "one may say Inserted: tried in turn, and the image read back",
	 "openstack/ironic drivers/modules/redfish/boot.py",
	 "each_tree_takes_a_medium"},
	{25, ALL, 0,
	 "has no EthernetInterfaces, or empty or long addresses in them: ports and "
	 "functions of the cards are read, and what is not an address is left out",
	 "NVIDIA/infra-controller#2821", "macs_come_from_the_cards"},
	{26, ALL, 0,
	 "has no sessions, and answers 401 to a log-in as to everything without a "
	 "password: where the root names none, Basic at once",
	 "openstack/sushy-tools sushy_tools/emulator/templates/root.json",
	 "a_root_without_sessions_means_basic"},
};
const size_t rf_quirks_count = sizeof(rf_quirks) / sizeof(rf_quirks[0]);

int
rf_firmware_compare(const char *a, const char *b)
{
	while (*a || *b) {
		char *a_end, *b_end;
		unsigned long x, y;

		a += strcspn(a, "0123456789");
		b += strcspn(b, "0123456789");
		x = strtoul(a, &a_end, 10);
		y = strtoul(b, &b_end, 10);
		if (x != y)
			return x < y ? -1 : 1;
		a = a_end;
		b = b_end;
	}
	return 0;
}

static int
is_of_product(const struct rf_quirk *quirk, const char *vendor, const char *product)
{
	return (!quirk->vendor || strcasecmp(quirk->vendor, vendor) == 0) &&
	       (!quirk->product ||
		strncasecmp(quirk->product, product, strlen(quirk->product)) == 0);
}

int
rf_quirks_ask_firmware(const char *vendor, const char *product)
{
	for (size_t i = 0; i < rf_quirks_count; i++)
		if ((rf_quirks[i].from || rf_quirks[i].to) &&
		    is_of_product(&rf_quirks[i], vendor, product))
			return 1;
	return 0;
}

static int
is_of(const struct rf_quirk *quirk, const char *vendor, const char *product,
      const char *firmware)
{
	if (!is_of_product(quirk, vendor, product))
		return 0;
	/* One that does not say its version is in no range of them. */
	if ((quirk->from || quirk->to) && !firmware[0])
		return 0;
	return (!quirk->from || rf_firmware_compare(firmware, quirk->from) >= 0) &&
	       (!quirk->to || rf_firmware_compare(firmware, quirk->to) <= 0);
}

unsigned
rf_quirks_of(const char *vendor, const char *product, const char *firmware)
{
	unsigned flags = 0;

	for (size_t i = 0; i < rf_quirks_count; i++)
		if (is_of(&rf_quirks[i], vendor, product, firmware))
			flags |= rf_quirks[i].flags;
	return flags;
}
