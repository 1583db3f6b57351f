/* SPDX-License-Identifier: Apache-2.0 */
/* URLs and addresses, right and hostile: the parts are those that a library sees. */
#include "base/url.h"

#include <arpa/inet.h>

#include "base/err.h"
#include "tests/support/unit.h"

/* "scheme|user|host|port|path", or "-" for what is none. */
static char *
parts(const char *text)
{
	struct bu_url url;

	if (bu_url_parse(text, &url) < 0)
		return bu_xstrdup("-");
	return bu_xasprintf("%s|%s|%s|%d|%s", url.scheme,
			    url.has_password ? "password"
			    : url.has_user   ? "user"
					     : "",
			    url.host, url.port, url.path);
}

START_TEST(the_parts_of_a_url)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{"https://bmc1.oob", "https||bmc1.oob|-1|"},
		{"https://bmc1.oob:8443/redfish/v1?a=b",
		 "https||bmc1.oob|8443|/redfish/v1?a=b"},
		{"HTTPS://BMC1", "HTTPS||BMC1|-1|"},
		{"http://10.1.0.5:80", "http||10.1.0.5|80|"},
		{"https://[fd00::5]:443/x", "https||fd00::5|443|/x"},
		{"https://[fd00::5]", "https||fd00::5|-1|"},
		{"oci://registry:5000/a@sha256:1", "oci||registry|5000|/a@sha256:1"},
		{"git+https://h/x.git", "git+https||h|-1|/x.git"},
		{"qemu:///system#node001", "qemu|||-1|/system#node001"},
		{"qemu+unix:///system?socket=/run/x", "qemu+unix|||-1|/system?socket="
						      "/run/x"},
		{"https://h?x@y:z", "https||h|-1|?x@y:z"},
		{"https://h#://", "https||h|-1|#://"},
		{"10.1.0.5", "||10.1.0.5|-1|"},
		{"bmc-1_a:623", "||bmc-1_a|623|"},
		{"fd00::5", "||fd00::5|-1|"},
		{"[fd00::5]:623", "||fd00::5|623|"},
		{"h:0", "||h|0|"},
		{"h:65535", "||h|65535|"},
		{"ssh://git@h/x", "ssh|user|h|-1|/x"},
		{"https://u:p@h/x", "https|password|h|-1|/x"},
		/* the last '@' ends the user: what looks like the host is not it */
		{"https://good.example@evil/x", "https|user|evil|-1|/x"},
		{"https://a@b:c@evil", "https|password|evil|-1|"},
		{"https://evil?@good/", "https||evil|-1|?@good/"},
		{"https://good\\@evil/", "-"},
		{"", "-"},
		{"https://", "-"},
		{"https:///x", "https|||-1|/x"},
		{"///x", "-"},
		{"://h", "-"},
		{"1http://h", "-"},
		{"averyveryverylongscheme://h", "-"},
		{"/etc/passwd", "-"},
		{"-oProxyCommand=x", "-"},
		{"javascript:x", "-"},
		{"https://h:", "-"},
		{"https://h:/x", "-"},
		{"https://h:65536", "-"},
		{"https://h:4294967376", "-"},
		{"https://h:+80", "-"},
		{"https://h:80:90", "-"},
		{"https://:80", "-"},
		{"https://u@/x", "https|user||-1|/x"},
		{"https://-h", "-"},
		{"https://.h", "-"},
		{"https://h h", "-"},
		{"https://h/a b", "-"},
		{"https://h/\n", "-"},
		{"https://h/\"x", "-"},
		{"https://h/'x", "-"},
		{"https://h%2eevil/", "-"},
		{"https://caf\xc3\xa9/", "-"},
		{"https://256.1.1.1", "-"},
		{"https://10.1", "-"},
		{"https://[fd00::5", "-"},
		{"https://[fd00::5]x", "-"},
		{"https://[::g]", "-"},
		{"https://fd00::5", "-"},
		{"https://[10.1.0.5]", "-"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *seen = parts(rows[i].text);

		ck_assert_msg(strcmp(seen, rows[i].want) == 0, "%s: %s, not %s",
			      rows[i].text, seen, rows[i].want);
	}
}
END_TEST

START_TEST(a_host_has_a_longest_length)
{
	char text[BU_URL_HOST_SIZE + 1];
	struct bu_url url;

	memset(text, 'h', sizeof(text));
	text[BU_URL_HOST_SIZE] = '\0';
	ck_assert_int_eq(bu_url_parse(text, &url), -1);
	ck_assert_int_eq(bu_url_parse(text + 1, &url), 0);
	ck_assert_str_eq(url.host, text + 1);
}
END_TEST

START_TEST(addresses_are_told_from_names)
{
	uint32_t address = 7;
	struct sockaddr_in addr = {0};
	static const char *const none[] = {"bmc1",         "https://bmc1",   "10.1.0",
					   "10.1.0.5.nip", "https://[::1]/", ""};
	static const char *const no_socket[] = {
		"10.0.0.1", "h:80",     "10.0.0.1:80/", "http://10.0.0.1:80",
		":80",      "[::1]:80", "10.0.0.1:-1"};

	for (size_t i = 0; i < BU_LEN(none); i++)
		ck_assert_msg(bu_url_ipv4(none[i], &address) == -1, "%s", none[i]);
	ck_assert_uint_eq(address, 7);
	ck_assert_int_eq(bu_url_ipv4("https://10.1.0.5:443/x", &address), 0);
	ck_assert_uint_eq(address, 0x0a010005);
	ck_assert_int_eq(bu_url_ipv4("https://[::ffff:a01:6]/", &address), 0);
	ck_assert_uint_eq(address, 0x0a010006);
	for (size_t i = 0; i < BU_LEN(no_socket); i++)
		ck_assert_msg(bu_url_socket(no_socket[i], &addr) == -1, "%s",
			      no_socket[i]);
	ck_assert_int_eq(bu_url_socket("10.0.0.1:8080", &addr), 0);
	ck_assert_int_eq(addr.sin_family, AF_INET);
	ck_assert_uint_eq(ntohl(addr.sin_addr.s_addr), 0x0a000001);
	ck_assert_uint_eq(ntohs(addr.sin_port), 8080);
	ck_assert_int_eq(bu_url_socket("0.0.0.0:0", &addr), 0);
}
END_TEST

/* a | b | are they one host */
START_TEST(hosts_are_compared_as_they_are_reached)
{
	static const struct {
		const char *a, *b;
		int same;
	} rows[] = {
		{"https://bmc1", "https://BMC1:443/redfish/v1/Systems/2", 1},
		{"https://bmc1/redfish/v1/Systems/1", "bmc1", 1},
		{"10.1.0.5:623", "10.1.0.5", 1},
		{"https://[fd00::5]/", "https://[FD00::5]:443", 1},
		{"http://h", "http://h:80/", 1},
		{"bmc1.oob", "https://BMC1.oob.", 1},
		{"::ffff:10.1.0.5", "10.1.0.5:623", 1},
		{"https://bmc1", "https://bmc2", 0},
		{"https://bmc1:8443", "https://bmc1:8444", 0},
		{"https://bmc1:8443", "https://bmc1", 0},
		{"https://bmc1:623", "bmc1", 0},
		{"https://bmc1", "https://bmc10", 0},
		/* libvirt's: one hypervisor has the domains of many machines */
		{"qemu:///system#a", "qemu:///system#b", 0},
		{"not a url", "not a url", 0},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		ck_assert_msg(bu_url_same_host(rows[i].a, rows[i].b) == rows[i].same,
			      "%s %s", rows[i].a, rows[i].b);
		ck_assert_msg(bu_url_same_host(rows[i].b, rows[i].a) == rows[i].same,
			      "%s %s", rows[i].b, rows[i].a);
	}
}
END_TEST

START_TEST(one_bmc_has_one_key_in_all_its_spellings)
{
	/* Those of a row are one BMC, those of two rows are not. */
	static const char *const rows[][8] = {
		{"10.1.0.1", "10.1.0.1:623", "10.1.0.1:0623", "[::ffff:10.1.0.1]",
		 "::ffff:a01:1", "0x0a010001", "https://10.1.0.1/",
		 "https://[::FFFF:10.1.0.1]:443/redfish/v1/"},
		{"10.1.0.1:6230"},
		{"10.1.0.10"},
		{"bmc1.oob", "bmc1.oob.", "BMC1.OOB:623", "https://root@bmc1.oob",
		 "HTTPS://root:pw@bmc1.oob.:443//", "https://bmc1.oob?x=y#z"},
		{"bmc1.oo"},
		{"https://bmc1.oob:8443", "https://BMC1.oob:08443/redfish/v1"},
		{"https://bmc1.oob/redfish/v1/Systems/1",
		 "https://bmc1.oob.:443/redfish/v1//Systems/1/#x"},
		{"https://bmc1.oob/redfish/v1/Systems/2"},
		{"fd00::5", "[fd00::5]:623", "FD00:0:0::0005",
		 "https://[fd00:0000:0000:0000:0000:0000:0000:0005]/"},
		{"[fd00::5]:624"},
		{"fd00::50"},
		{"qemu:///system#x", "QEMU:///system#x", "qemu+unix:///system/#x",
		 "qemu:///system?mode=direct#x"},
		{"qemu:///system#X"},
		{"qemu:///session#x"},
		{"qemu+unix:///system?mode=direct&socket=/run/y#x",
		 "qemu:///system?socket=/run/y&no_verify=1#x"},
		{"qemu+ssh://kvm1/system#x", "qemu+ssh://root@KVM1./system#x"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *first = bu_url_key(rows[i][0]);

		for (size_t j = 0; j < BU_LEN(rows) * 8; j++) {
			const char *text = rows[j / 8][j % 8];
			bu_autofree char *key = text ? bu_url_key(text) : NULL;

			if (text)
				ck_assert_msg((strcmp(first, key) == 0) == (i == j / 8),
					      "%s: %s, and %s", text, key, first);
		}
	}
	ck_assert_ptr_null(bu_url_key("not a url"));
}
END_TEST

BU_UNIT("url", one_bmc_has_one_key_in_all_its_spellings, the_parts_of_a_url,
	a_host_has_a_longest_length, addresses_are_told_from_names,
	hosts_are_compared_as_they_are_reached)
