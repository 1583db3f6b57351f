/* SPDX-License-Identifier: Apache-2.0 */
/* bringupd.conf: what is wrong in it is said at the start, not found later. */
#include "provisioner/settings.h"

#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/support/unit.h"

static int
load(const char *text, struct bu_settings *ret, struct bu_err *err)
{
	char path[] = "/tmp/bringup-conf-XXXXXX";
	int fd = mkstemp(path), rc;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(bu_write_all(fd, text, strlen(text), NULL), 0);
	close(fd);
	rc = bu_settings_load(path, ret, err);
	unlink(path);
	return rc;
}

START_TEST(an_empty_section_is_all_defaults)
{
	struct bu_settings s;

	ck_assert_int_eq(load("[bringupd]\n", &s, NULL), 0);
	ck_assert_str_eq(s.state, "/var/lib/bringup");
	ck_assert_str_eq(s.page_listen, "127.0.0.1:8480");
	ck_assert_str_eq(s.boot_listen, "");
	ck_assert_str_eq(s.serve_dns, "yes");
	for (int i = 0; i < BU_STATE_COUNT; i++)
		ck_assert_int_eq(s.limit_s[i], 0);
	bu_settings_fini(&s);
	ck_assert_ptr_null(s.state);
}
END_TEST

START_TEST(what_is_said_counts)
{
	struct bu_settings s;

	ck_assert_int_eq(load("[bringupd]\nstate = /srv/b\nboot_listen = 10.0.0.1:80\n"
			      "boot_interface = eth1\nboot_address = 10.0.0.1\n"
			      "dhcp_range = 10.0.0.50,10.0.0.99\n"
			      "[limits]\nimaging = 60\njoining = 5\n",
			      &s, NULL),
			 0);
	ck_assert_str_eq(s.state, "/srv/b");
	ck_assert_str_eq(s.boot_listen, "10.0.0.1:80");
	ck_assert_int_eq(s.limit_s[BU_STATE_IMAGING], 60);
	ck_assert_int_eq(s.limit_s[BU_STATE_JOINING], 5);
	ck_assert_int_eq(s.limit_s[BU_STATE_BOOTING], 0);
	bu_settings_fini(&s);
}
END_TEST

/* Another server gives the addresses: there is no range to name. */
START_TEST(only_full_dhcp_needs_a_range)
{
	static const char *const modes[] = {"proxy", "relay", "off"};

	for (size_t i = 0; i < BU_LEN(modes); i++) {
		bu_autofree char *text = bu_xasprintf(
			"[bringupd]\nboot_listen = 10.0.0.1:80\n"
			"boot_interface = eth1\nboot_address = 10.0.0.1\ndhcp = %s\n",
			modes[i]);
		struct bu_settings s;

		ck_assert_int_eq(load(text, &s, NULL), 0);
		ck_assert_str_eq(s.dhcp, modes[i]);
		bu_settings_fini(&s);
	}
}
END_TEST

START_TEST(webhooks_are_read_in_their_order)
{
	struct bu_settings s;

	ck_assert_int_eq(load("[bringupd]\n[webhook ops]\nurl = https://h/a\n"
			      "secret = env:A\nevents = held, state\n[limits]\n"
			      "imaging = 60\n[webhook chat]\nurl = http://h/b\n"
			      "secret = file:/s\npools = train\n",
			      &s, NULL),
			 0);
	ck_assert_uint_eq(s.webhooks_count, 2);
	ck_assert_str_eq(s.webhooks[0].name, "ops");
	ck_assert_str_eq(s.webhooks[0].url, "https://h/a");
	ck_assert_str_eq(s.webhooks[0].events, "held, state");
	ck_assert_str_eq(s.webhooks[0].pools, "");
	ck_assert_str_eq(s.webhooks[1].name, "chat");
	ck_assert_str_eq(s.webhooks[1].secret, "file:/s");
	ck_assert_str_eq(s.webhooks[1].pools, "train");
	ck_assert_int_eq(s.limit_s[BU_STATE_IMAGING], 60);
	bu_settings_fini(&s);
}
END_TEST

START_TEST(what_is_wrong_is_named)
{
	static const struct {
		const char *text, *says;
	} rows[] = {
		{"[bringupd]\nsockett = /x\n",
		 "[bringupd] sockett: is an unknown key (did you mean 'socket'?); "
		 "bringupd.conf(5)"},
		{"[bringup]\nstate = /x\n",
		 "[bringup] state: is an unknown key (did you mean 'bringupd'?)"},
		{"state = /x\n", "[] state: is an unknown key;"},
		{"[limits]\nasleep = 5\n", "[limits] asleep: is an unknown key;"},
		{"[limits]\nbootin = 5\n", "(did you mean 'booting'?)"},
		{"[webhook ops]\nulr = x\n",
		 "[webhook ops] ulr: is an unknown key (did you mean 'url'?)"},
		{"[webhook ops]\nurl = x\n", "[webhook ops] url = x: give https://"},
		{"[webhook Ops!]\nurl = http://h/\nsecret = env:A\n",
		 "[webhook ops!]: a name has lower-case letters"},
		{"[limits]\nready = 5\n", "limits:ready = 5"},
		{"[limits]\nimaging = soon\n", "limits:imaging = soon"},
		{"[limits]\nimaging = 60s\n", "1 to 604800 seconds"},
		{"[limits]\nimaging = 0\n", "limits:imaging = 0"},
		{"[limits]\nimaging = -1\n", "limits:imaging = -1"},
		{"[limits]\nimaging = 99999999999999999999\n", "limits:imaging"},
		{"[bringupd]\nsocket = sock\n", "'sock' is not an absolute path"},
		{"[bringupd]\nstate = var/lib\n", "'var/lib' is not an absolute path"},
		{"[bringupd]\nstate =\n", "'' is not an absolute path"},
		{"[bringupd]\nboot_interface = eth1\n", "boot_interface also needs"},
		{"[bringupd]\nserve_dns = maybe\n", "serve_dns and serve_time"},
		{"[bringupd]\ndhcp = on\n", "full, proxy, relay or off"},
		{"[bringupd]\nboot_listen = 0.0.0.0:80\n",
		 "'0.0.0.0:80' is not an address"},
		{"[bringupd]\nagent_listen = 0.0.0.0:8443\n",
		 "'0.0.0.0:8443' is not an address that nodes or people can use"},
		{"[bringupd]\npeople_listen = 0.0.0.0:8444\n",
		 "'0.0.0.0:8444' is not an address that nodes or people can use"},
		{"[bringupd]\noidc_issuer = https://id\noidc_client = b\n",
		 "oidc_issuer also needs people_listen"},
		{"[bringupd]\npeople_listen = 10.0.0.1:8444\noidc_client = b\n"
		 "oidc_issuer = http://id\n",
		 "oidc_issuer = http://id: https://HOST/PATH is needed"},
		{"[bringupd]\npeople_ca = /ca.pem\n",
		 "people_ca also needs people_listen"},
		{"[bringupd]\npeople_listen = 10.0.0.1:1\npeople_crl = /crl.pem\n",
		 "people_crl also needs people_ca"},
		{"[bringupd]\npeople_listen = 10.0.0.1:1\npeople_ca = ca.pem\n",
		 "are absolute paths"},
		{"[bringupd]\npage_listen = 10.0.0.1:80\n",
		 "page_listen = 10.0.0.1:80: the page has no login, so only 127.0.0.1 "
		 "is allowed"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_settings s;
		struct bu_err err = {0};

		ck_assert_msg(load(rows[i].text, &s, &err) == -1, "%s", rows[i].text);
		ck_assert_int_eq(err.kind, BU_ERR_INVAL);
		ck_assert_msg(strstr(err.text, rows[i].says) != NULL, "%s: %s",
			      rows[i].text, err.text);
		ck_assert_ptr_nonnull(strstr(err.text, "/tmp/bringup-conf-"));
	}
}
END_TEST

/* What bringup-power keeps to is the file's, and a slip in it ends the start. */
START_TEST(passwords_go_where_the_file_says)
{
	struct bu_settings s;
	struct bu_err err = {0};

	ck_assert_int_eq(load("[bringupd]\n", &s, NULL), 0);
	ck_assert_str_eq(bu_settings_power(&s).bmc_networks, "private, attached");
	bu_settings_fini(&s);
	ck_assert_int_eq(
		load("[bringupd]\nbmc_networks = 10.1.0.0/16, fd00::/8\n", &s, NULL),
		0);
	ck_assert_str_eq(bu_settings_power(&s).bmc_networks, "10.1.0.0/16, fd00::/8");
	ck_assert_int_eq(bu_settings_confine(&s, NULL), 0);
	ck_assert_int_eq(bu_networks_check_bmc("10.1.0.1", NULL), 0);
	ck_assert_int_eq(bu_networks_check_bmc("10.2.0.1", NULL), -1);
	bu_settings_fini(&s);
	ck_assert_int_eq(load("[bringupd]\nbmc_networks = 10.1.0.0/99\n", &s, NULL), 0);
	ck_assert_int_eq(bu_settings_confine(&s, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "'10.1.0.0/99'"));
	bu_settings_fini(&s);
}
END_TEST

/* A group that the machine has not is nobody's; an empty word takes the role away. */
START_TEST(groups_of_the_system_have_the_roles)
{
	struct bu_callers_group groups[BU_PERSON_COUNT];
	struct bu_settings s;

	ck_assert_int_eq(load("[bringupd]\ngroup_viewer = root\ngroup_grant =\n"
			      "group_admin = no-such-group\n",
			      &s, NULL),
			 0);
	bu_settings_groups(&s, groups);
	ck_assert_str_eq(groups[BU_PERSON_VIEWER].name, "root");
	ck_assert_int_eq(groups[BU_PERSON_VIEWER].gid, 0);
	ck_assert_str_eq(groups[BU_PERSON_OPERATOR].name, "bringup-operator");
	ck_assert_str_eq(groups[BU_PERSON_GRANT].name, "");
	ck_assert_int_eq(groups[BU_PERSON_GRANT].gid, -1);
	ck_assert_int_eq(groups[BU_PERSON_ADMIN].gid, -1);
	bu_settings_fini(&s);
}
END_TEST

/* Names of the certificate: each address once, and what people call the appliance where
 * they come to it. */
START_TEST(the_certificate_is_of_all_listeners)
{
	static const char *const want[] = {"DNS:bringup",   "IP:127.0.0.1",
					   "IP:10.0.0.1",   "IP:10.1.0.1",
					   "DNS:b.example", "IP:192.0.2.7"};
	struct bu_settings s;
	char **names;

	ck_assert_int_eq(load("[bringupd]\nagent_listen = 10.0.0.1:8443\n"
			      "people_listen = 10.1.0.1:8444\n"
			      "names = b.example, 192.0.2.7\n",
			      &s, NULL),
			 0);
	names = bu_settings_server_names(&s);
	for (size_t i = 0; i < BU_LEN(want); i++) {
		ck_assert_str_eq(names[i], want[i]);
		free(names[i]);
	}
	ck_assert_ptr_null(names[BU_LEN(want)]);
	free(names);
	bu_settings_fini(&s);
}
END_TEST

START_TEST(a_missing_file_is_named)
{
	struct bu_settings s;
	struct bu_err err = {0};

	ck_assert_int_eq(bu_settings_load("/no/such.conf", &s, &err), -1);
	ck_assert_str_eq(err.text, "read '/no/such.conf': No such file or directory");
}
END_TEST

BU_UNIT("settings", only_full_dhcp_needs_a_range, an_empty_section_is_all_defaults,
	passwords_go_where_the_file_says, groups_of_the_system_have_the_roles,
	the_certificate_is_of_all_listeners, what_is_said_counts,
	webhooks_are_read_in_their_order, what_is_wrong_is_named,
	a_missing_file_is_named)
