/* SPDX-License-Identifier: Apache-2.0 */
/* What policy forbids, and what it lets pass with a warning. */
#include "tests/support/plan.h"

/* Edits that a rule forbids: what refuses the plan. */
static const struct {
	const char *to; /* replaces "[image debian12]\n", line 17 */
	const char *rule, *node, *error;
} forbidden[] = {
	{"[policy]\nresidency = ae-*\n[image debian12]\n", "residency", "node[001-002]",
	 "policy forbids this plan, for 3 reasons; the first: site.ini:4: nodes "
	 "node[001-002] are in zone z1; [policy] residency = ae-* (site.ini:18) allows "
	 "no "
	 "other"},
	{"[policy]\nregistries = reg.lab\n[image debian12]\nsource = oci://evil/x\n",
	 "registries", "",
	 "policy forbids this plan: site.ini:19: [image debian12] comes from evil; "
	 "[policy] registries = reg.lab (site.ini:18) allows no other"},
	{"[policy]\nimage_keys = file:/etc/a.pub\n[image debian12]\nkey = "
	 "file:/etc/b.pub\n",
	 "image_keys", "",
	 "policy forbids this plan: site.ini:19: [image debian12] is signed with "
	 "file:/etc/b.pub; [policy] image_keys = file:/etc/a.pub (site.ini:18) allows "
	 "no other"},
	{"[policy]\ncompatibility = refuse\n[image debian12]\ncuda = 13.0\ndriver = "
	 "570.1\n",
	 "compatibility", "node[001-002]",
	 "policy forbids this plan: site.ini:21: [image debian12] on [hardware vm]: "
	 "driver 570.1 does not fit cuda 13.0, which needs >= 580 (a source of words)"},
	{"[policy]\ncompatibility = refuse\n[image debian12]\nkernel = 5.10\n",
	 "compatibility", "node[001-002]",
	 "policy forbids this plan: site.ini:20: [image debian12] on [hardware vm]: "
	 "kernel 5.10 is declared, and the image's manifest says 6.1.0-28-amd64"},
};

static void
made_from(struct site *site, const char *name, const char *host)
{
	struct bu_image_source *source =
		bu_origin_add(&site->image.origin, BU_SOURCE_OCI, name, NULL);

	strcpy(source->host, host);
	memset(source->digest, 'a', BU_DIGEST_SIZE - 1);
}

/* Whatever the profile says or leaves out: what the image was made from counts. */
START_TEST(the_manifest_tells_the_registry)
{
	static const struct {
		const char *to, *made, *host;
		const char *error; /* "" = the plan is allowed */
	} rows[] = {
		{"[policy]\nregistries = reg.lab\n[image debian12]\n",
		 "oci://evil:5000/x:1", "evil:5000",
		 "policy forbids this plan: site.ini:19: [image debian12] comes from "
		 "evil:5000, as its manifest says; [policy] registries = reg.lab "
		 "(site.ini:18) allows no other"},
		{"[policy]\nregistries = reg.lab\n[image debian12]\n"
		 "source = oci://reg.lab/x:1\n",
		 "oci://evil/x:1", "evil",
		 "policy forbids this plan, for 2 reasons; the first: site.ini:19: "
		 "[image debian12] comes from evil, as its manifest says; [policy] "
		 "registries = reg.lab (site.ini:18) allows no other"},
		{"[policy]\ncompatibility = refuse\n[image debian12]\n"
		 "source = oci://reg.lab/x:2\n",
		 "oci://reg.lab/x:1", "reg.lab",
		 "policy forbids this plan: site.ini:20: [image debian12] on "
		 "[hardware vm]: source oci://reg.lab/x:2 is declared, and the "
		 "image's manifest says oci://reg.lab/x:1"},
		{"[policy]\nregistries = reg.lab\n[image debian12]\n"
		 "source = oci://evil/x\n",
		 "oci://evil/x", "evil",
		 "policy forbids this plan: site.ini:19: [image debian12] comes from "
		 "evil; [policy] registries = reg.lab (site.ini:18) allows no other"},
		{"[policy]\nregistries = reg.lab,*.ours\n[image debian12]\n",
		 "oci://a.ours/x", "a.ours", ""},
		{"[policy]\ncompatibility = refuse\n[image debian12]\n", "oci://evil/x",
		 "evil", ""},
		{"[policy]\ncompatibility = refuse\n[image debian12]\n"
		 "source = oci://reg.lab/x@sha256:"
		 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n",
		 "oci://reg.lab/x:1", "reg.lab", ""},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct site site;
		struct bu_err err = {0};
		bu_autojson json_t *plan = NULL;

		begin(&site, NULL, NULL, "[image debian12]\n", rows[i].to);
		made_from(&site, rows[i].made, rows[i].host);
		plan = make(&site);
		ck_assert_msg(plan_allowed(plan, &err) == (*rows[i].error ? -1 : 0),
			      "row %zu: %s", i, err.text);
		ck_assert_str_eq(err.text, rows[i].error);
		end(&site);
	}
}
END_TEST

static struct bu_compat *
table(void)
{
	bu_autojson json_t *value =
		json_pack("{s:i,s:[{s:{s:s},s:{s:s},s:s,s:s}]}", "format", 1, "rows",
			  "if", "cuda", "13", "need", "driver", ">= 580", "source",
			  "a source of words", "date", "2026-11-21");
	struct bu_compat *compat = bu_compat_parse(value, NULL);

	ck_assert_ptr_nonnull(compat);
	return compat;
}

START_TEST(policy_refuses_the_plan_as_a_whole)
{
	for (size_t i = 0; i < BU_LEN(forbidden); i++) {
		struct site site;
		struct bu_compat *compat = table();
		struct bu_err err = {0};
		bu_autojson json_t *plan = NULL;
		const json_t *first;

		begin(&site, NULL, NULL, "[image debian12]\n", forbidden[i].to);
		site.input.compat = compat;
		plan = make(&site);
		first = json_array_get(json_object_get(plan, "refused"), 0);
		ck_assert_str_eq(bu_json_str(first, "rule", ""), forbidden[i].rule);
		ck_assert_int_gt(bu_word_find(bu_plan_rules, forbidden[i].rule), 0);
		ck_assert_str_eq(bu_json_str(first, "node", "?"), forbidden[i].node);
		ck_assert_str_eq(bu_json_str(first, "file", ""), "site.ini");
		ck_assert_int_eq(plan_allowed(plan, &err), -1);
		ck_assert_int_eq(err.kind, BU_ERR_DENIED);
		ck_assert_str_eq(err.text, forbidden[i].error);
		bu_compat_destroy(compat);
		end(&site);
	}
}
END_TEST

START_TEST(what_policy_lets_pass_is_a_warning)
{
	static const struct {
		const char *to, *want; /* "" = no warning */
	} cases[] = {
		{"[image debian12]\ncuda = 13.0\ndriver = 570.1\n",
		 "site.ini:19: node[001-002]: [image debian12] on [hardware vm]: "
		 "driver "
		 "570.1 does not fit cuda 13.0, which needs >= 580 (a source of "
		 "words)"},
		{"[policy]\ncompatibility = warn\n[image debian12]\ncuda = 13.0\n"
		 "driver = 570.1\n",
		 "site.ini:21: node[001-002]: "},
		{"[policy]\ncompatibility = refuse\n[image debian12]\ncuda = 13.0\n",
		 "site.ini:19: node[001-002]: [image debian12] on [hardware vm]: cuda "
		 "13.0 needs driver >= 580, and no driver is declared"},
		{"[policy]\ncompatibility = refuse\n[image debian12]\ncuda = 12.4\n",
		 ""},
	};

	for (size_t i = 0; i < BU_LEN(cases); i++) {
		struct site site;
		struct bu_compat *compat = table();
		bu_autojson json_t *plan = NULL;
		bu_autofree char *text = NULL;

		begin(&site, NULL, NULL, "[image debian12]\n", cases[i].to);
		site.input.compat = compat;
		plan = make(&site);
		text = warning_of(plan);
		ck_assert_int_eq(plan_allowed(plan, NULL), 0);
		ck_assert_msg(!*text == !*cases[i].want &&
				      strncmp(text, cases[i].want,
					      strlen(cases[i].want)) == 0,
			      "case %zu: %s", i, text);
		bu_compat_destroy(compat);
		end(&site);
	}
}
END_TEST

/* The nodes of one pool are no group where one of them divides its GPUs. */
START_TEST(who_divides_its_gpus_is_judged_alone)
{
	bu_autojson json_t *value =
		json_pack("{s:i,s:[{s:{s:s},s:{s:s},s:s,s:s}]}", "format", 1, "rows",
			  "if", "mig", "*", "need", "driver", ">= 580", "source",
			  "a source of words", "date", "2026-11-21");
	struct bu_compat *compat = bu_compat_parse(value, NULL);

	for (int i = 0; i < NODES; i++) {
		struct site site;
		bu_autojson json_t *plan = NULL;
		bu_autofree char *text = NULL;

		begin(&site, NULL, NULL, "[image debian12]\n",
		      "[image debian12]\ndriver = 570.1\n");
		site.input.compat = compat;
		site.desired->nodes[i].mig = bu_xstrdup("1g.10gb*7");
		plan = make(&site);
		text = warning_of(plan);
		ck_assert_msg(strstr(text, i ? ": node002: " : ": node001: ") != NULL,
			      "%s", text);
		end(&site);
	}
	bu_compat_destroy(compat);
}
END_TEST

/* What the signed manifest says that the image holds, against pool and profile. */
START_TEST(what_an_image_holds_is_judged)
{
	static const struct {
		const char *to, *driver;
		int described, slurmd;
		const char *want; /* of the refusal; "" = none */
	} rows[] = {
		{"", "", 1, 1, ""},
		{"", "", 0, 0, ""}, /* of before: nobody looked */
		{"", "", 1, 0,
		 "[image debian12] on [hardware vm]: the image has no slurmd, and [pool "
		 "train] joins [cluster "},
		{"driver = 570.1\n", "580.2", 1, 1,
		 "driver 570.1 is declared, and the image's manifest says 580.2"},
		{"driver = 580.2\n", "580.2", 1, 1, ""},
		{"cuda = 13.0\n", "570.1", 1, 1, "driver 570.1 does not fit cuda 13.0"},
		{"cuda = 13.0\n", "580.2", 1, 1, ""},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct site site;
		struct bu_compat *compat = table();
		struct bu_err err = {0};
		bu_autojson json_t *plan = NULL;
		bu_autofree char *to = bu_xasprintf("[policy]\ncompatibility = refuse\n"
						    "[image debian12]\n%s",
						    rows[i].to);

		begin(&site, NULL, NULL, "[image debian12]\n", to);
		site.input.compat = compat;
		strcpy(site.image.driver, rows[i].driver);
		site.image.described = rows[i].described;
		site.image.clients = rows[i].slurmd ? ~0U : 0;
		plan = make(&site);
		ck_assert_msg(plan_allowed(plan, &err) == (*rows[i].want ? -1 : 0),
			      "row %zu: %s", i, err.text);
		ck_assert_msg(strstr(err.text, rows[i].want) != NULL, "row %zu: %s", i,
			      err.text);
		bu_compat_destroy(compat);
		end(&site);
	}
}
END_TEST

/* With no policy: the installer would refuse it with the machine out of service. */
START_TEST(a_whole_disk_is_for_pools_that_say_so)
{
	static const struct {
		const char *to;
		int is_disk;
		const char *want;
	} rows[] = {
		{"features = rxe, lab\n", 0, ""},
		{"root = disk\n", 0, ""},
		{"root = raw\n", 1, ""},
		{"root = disk\n", 1,
		 "this plan cannot install node node[001-002]: site.ini:26: [image "
		 "debian12] is a whole disk (raw: or qcow2:), and [pool train] has root "
		 "= disk"},
		{"root = raw\n", 0,
		 "[image debian12] is not a whole disk (raw: or qcow2:), and [pool "
		 "train] has root = raw"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct site site;
		struct bu_err err = {0};
		bu_autojson json_t *plan = NULL;

		begin(&site, NULL, NULL, "features = rxe, lab\n", rows[i].to);
		site.image.is_disk = rows[i].is_disk;
		plan = make(&site);
		ck_assert_msg(plan_allowed(plan, &err) == (*rows[i].want ? -1 : 0),
			      "row %zu: %s", i, err.text);
		ck_assert_msg(strstr(err.text, rows[i].want) != NULL, "row %zu: %s", i,
			      err.text);
		end(&site);
	}
}
END_TEST

/* The agent would refuse it, with the machine out of service. */
START_TEST(what_runs_from_memory_has_the_ramdisks_kernel)
{
	static const struct {
		const char *to, *kernel, *ramdisk, *want; /* "" = allowed */
	} rows[] = {
		{"root = ram\n", "6.1.0-28-amd64", "6.1.0-28-amd64", ""},
		{"root = ram\n", "6.1.0-28-amd64", NULL, ""},
		{"root = disk\n", "6.1.0-28-amd64", "6.1.0-29-amd64", ""},
		{"root = ram\n", "6.1.0-28-amd64", "6.1.0-29-amd64",
		 "this plan cannot install node node[001-002]: site.ini:26: [image "
		 "debian12] has kernel 6.1.0-28-amd64, and the boot ramdisk "
		 "6.1.0-29-amd64, under which the nodes of [pool train] run (root = "
		 "ram); build both anew: bringup image build ramdisk debian12"},
		{"root = ram\n", "", "6.1.0-29-amd64", "[image debian12] has kernel "},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct site site;
		struct bu_err err = {0};
		bu_autojson json_t *plan = NULL;

		begin(&site, NULL, NULL, "features = rxe, lab\n", rows[i].to);
		strcpy(site.image.kernel, rows[i].kernel);
		site.input.ramdisk_kernel = rows[i].ramdisk;
		plan = make(&site);
		ck_assert_msg(plan_allowed(plan, &err) == (*rows[i].want ? -1 : 0),
			      "row %zu: %s", i, err.text);
		ck_assert_msg(strstr(err.text, rows[i].want) != NULL, "row %zu: %s", i,
			      err.text);
		end(&site);
	}
}
END_TEST

/* Its systems would not find their root. */
START_TEST(an_image_of_before_mirrors_nothing)
{
	static const char to[] = "disk = smallest\ndisks = two\nnics = 2\n[disks two]\n"
				 "mirror = size:1TiB-\n[hardware more]\n"
				 "disk = smallest\n";

	for (int mirrors = 0; mirrors < 2; mirrors++) {
		struct site site;
		struct bu_err err = {0};
		bu_autojson json_t *plan = NULL;

		begin(&site, NULL, NULL, "disk = smallest\n", to);
		site.image.mirrors = mirrors;
		plan = make(&site);
		ck_assert_int_eq(plan_allowed(plan, &err), mirrors ? 0 : -1);
		ck_assert_msg(mirrors || strstr(err.text,
						"[image debian12] does not "
						"support a mirrored root") != NULL,
			      "%s", err.text);
		end(&site);
	}
}
END_TEST

START_TEST(an_image_of_before_has_one_root)
{
	static const char to[] = "disk = smallest\ndisks = two\nnics = 2\n[disks two]\n"
				 "roots = 2\n[hardware more]\ndisk = smallest\n";

	for (int slots = 0; slots < 2; slots++) {
		struct site site;
		struct bu_err err = {0};
		bu_autojson json_t *plan = NULL;

		begin(&site, NULL, NULL, "disk = smallest\n", to);
		site.image.slots = slots;
		plan = make(&site);
		ck_assert_int_eq(plan_allowed(plan, &err), slots ? 0 : -1);
		ck_assert_msg(slots || strstr(err.text, "[image debian12] does not "
							"support two roots") != NULL,
			      "%s", err.text);
		end(&site);
	}
}
END_TEST

/* Nodes of one image and one hardware, of which some join no cluster. */
START_TEST(what_does_not_fit_is_said_of_those_that_it_is_about)
{
	static const char from[] = "[pool train]\nnodes = node[001-002]\n";
	static const char to[] =
		"[pool bare]\nnodes = node002\nhardware = vm\nimage = debian12\n"
		"power = libvirt\nnetworks = boot, fabric\nvalidation = pairs\n"
		"max_unavailable = 50 %\n[pool train]\nnodes = node001\n";
	struct site site;
	bu_autojson json_t *plan = NULL;
	bu_autofree char *warning = NULL;

	begin(&site, from, to, from, to);
	site.image.described = 1;
	plan = make(&site);
	warning = warning_of(plan);
	ck_assert_str_eq(warning,
			 "site.ini:17: node001: [image debian12] on [hardware vm]: the "
			 "image has no slurmd, and [pool train] joins [cluster hpc]");
	end(&site);
}
END_TEST

/* The steps that boot: a person is needed for each. */
START_TEST(who_is_switched_by_hand_is_a_warning)
{
	static const struct {
		const char *to;
		size_t nodes, warnings; /* that have a machine already */
	} rows[] = {
		{"power = manual\n", 0, 1},
		{"power = manual\n", NODES, 0}, /* nothing to do */
		{"power = manual\nsysctl = vm.swappiness=1\n", NODES, 0},
		{"power = manual\nkargs = quiet\n", NODES, 1},
		{"power = libvirt\n", 0, 0},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct site site;
		bu_autojson json_t *plan = NULL;
		const json_t *warnings;
		bu_autofree char *said = NULL;

		begin(&site, NULL, NULL, "power = libvirt\n", rows[i].to);
		site.input.count = rows[i].nodes;
		plan = make(&site);
		warnings = json_object_get(plan, "warnings");
		ck_assert_msg(json_array_size(warnings) == rows[i].warnings, "row %zu",
			      i);
		said = bu_said_text(json_array_get(warnings, 0));
		if (rows[i].warnings)
			ck_assert_str_eq(said,
					 "node[001-002]: power = manual: each boot "
					 "needs a person to switch the machine; "
					 "bringup node why says when");
		end(&site);
	}
}
END_TEST

BU_UNIT("policy", who_divides_its_gpus_is_judged_alone, the_manifest_tells_the_registry,
	who_is_switched_by_hand_is_a_warning, policy_refuses_the_plan_as_a_whole,
	what_policy_lets_pass_is_a_warning, what_an_image_holds_is_judged,
	what_runs_from_memory_has_the_ramdisks_kernel,
	a_whole_disk_is_for_pools_that_say_so, an_image_of_before_mirrors_nothing,
	an_image_of_before_has_one_root,
	what_does_not_fit_is_said_of_those_that_it_is_about)
