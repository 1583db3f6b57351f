/* SPDX-License-Identifier: Apache-2.0 */
/* Which advisories a list of packages has: Debian's tracker, OSV, files that are none.
 */
#include "images/build/scan.h"

#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "images/build/packages_impl.h"
#include "tests/support/unit.h"

static char path[] = "/tmp/bringup-advisories-XXXXXX";
static struct bu_packages packages;

static void
add(const char *name, const char *version, const char *source, const char *of)
{
	const struct bu_package package = {(char *)name, (char *)version,
					   (char *)"amd64", (char *)source, (char *)of};

	ck_assert_int_eq(bu_packages_add(&packages, &package, NULL), 0);
}

/* What dpkg of Debian 12 says of its kernel and of what Secure Boot loads. */
static const char signed_status[] =
	"Package: linux-image-6.1.0-50-amd64\nStatus: install ok installed\n"
	"Architecture: amd64\nSource: linux-signed-amd64 (6.1.192+2)\n"
	"Version: 6.1.192-2\n\n"
	"Package: linux-image-amd64\nStatus: install ok installed\n"
	"Architecture: amd64\nSource: linux-signed-amd64 (6.1.192+2)\n"
	"Version: 6.1.192-2\n\n"
	"Package: linux-image-6.12.9-amd64\nStatus: install ok installed\n"
	"Architecture: amd64\nSource: linux-signed-6.12-amd64 (6.12.9+1~bpo12+1)\n"
	"Version: 6.12.9-1~bpo12+1\n\n"
	"Package: grub-efi-amd64-signed\nStatus: install ok installed\n"
	"Architecture: amd64\nVersion: 1+2.06+13+deb12u1\n\n"
	"Package: shim-signed\nStatus: install ok installed\n"
	"Architecture: amd64\nSource: shim-signed (1.44)\n"
	"Version: 1.44+15.8-1~deb12u1\n";

static void
begin_signed(void)
{
	char dir[] = "/tmp/bringup-signed-XXXXXX";
	bu_autofree char *folder = NULL, *file = NULL;
	struct bu_err err = {0};

	ck_assert_ptr_nonnull(mkdtemp(dir));
	folder = bu_xasprintf("%s/var/lib/dpkg", dir);
	file = bu_xasprintf("%s/status", folder);
	ck_assert_int_eq(bu_mkdir_p(folder, 0755, NULL), 0);
	ck_assert_int_eq(bu_file_write_text(file, 0644, NULL, "%s", signed_status), 0);
	ck_assert_msg(!bu_packages_read(dir, dir, &packages, &err), "%s", err.text);
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
	strcpy(packages.os, "debian");
	strcpy(packages.release, "12");
	strcpy(packages.codename, "bookworm");
}

static void
begin(enum bu_package_kind kind, const char *os, const char *release)
{
	memset(&packages, 0, sizeof(packages));
	packages.kind = kind;
	strcpy(packages.os, os);
	strcpy(packages.release, release);
	if (kind == BU_PACKAGES_DEB) {
		strcpy(packages.codename, "bookworm");
		add("libc6", "2.36-9+b1", "glibc", "2.36-9");
		add("libc-bin", "2.36-9", "glibc", "2.36-9");
		add("bash", "5.2.15-2", "bash", "5.2.15-2");
	} else {
		add("bash", "5.1.8-6.el9_1", "bash", "5.1.8-6.el9_1");
		add("openssl-libs", "1:3.0.7-24.el9", "openssl", "3.0.7-24.el9");
	}
}

/* The descriptor that the next file gets. */
static int
lowest_free(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

/* Whatever comes of it, the file is closed again. */
static int
scan(const char *text, struct bu_scan *ret, struct bu_err *err)
{
	int rc, before;

	memset(err, 0, sizeof(*err));
	strcpy(path + strlen(path) - 6, "XXXXXX");
	close(mkstemp(path));
	ck_assert_int_eq(bu_file_write(path, text, strlen(text), 0600, NULL), 0);
	before = lowest_free();
	rc = bu_scan_packages(&packages, path, ret, err);
	ck_assert_int_eq(lowest_free(), before);
	unlink(path);
	return rc;
}

/* "ID severity package version fixed" a line, as the text is. */
static void
expect(const char *text, const char *want)
{
	struct bu_scan found;
	struct bu_err err;
	bu_autofree char *have = bu_xstrdup("");

	ck_assert_msg(!scan(text, &found, &err), "%s", err.text);
	for (size_t i = 0; i < found.count; i++) {
		const struct bu_scan_finding *it = &found.list[i];
		char *more = bu_xasprintf("%s%s %s %s %s %s\n", have, it->id,
					  bu_severity_name(it->severity), it->package,
					  it->version, it->fixed);

		free(have);
		have = more;
	}
	bu_scan_fini(&found);
	ck_assert_str_eq(have, want);
}

#define ENTRY(id, release, status, rest)                                               \
	"\"" id "\": {\"description\": \"d\", \"releases\": {\"" release               \
	"\": {\"status\": \"" status "\"" rest "}}}"

START_TEST(debians_tracker_is_by_source_and_release)
{
	begin(BU_PACKAGES_DEB, "debian", "12");
	expect("{\"glibc\": {" ENTRY("CVE-1", "bookworm", "resolved", ", \"fixed_version\": \"2.36-9+deb12u4\", \"urgency\": \"high**\"") "," ENTRY("CVE-2", "bookworm", "resolved", ", \"fixed_version\": \"2.36-9\"") "," ENTRY(
		       "CVE-3", "bookworm", "resolved",
		       ", \"fixed_version\": \"0\"") "," ENTRY("CVE-4", "trixie",
							       "open",
							       "") "," ENTRY("CVE-5",
									     "bookworm",
									     "open",
									     ", \"urgency\": \"unimportant\"") "}, \"nobody-has-it\": {" ENTRY("CVE-6",
																	       "bookworm",
																	       "open",
																	       "") "},\n \"bash\": {}, "
																		   "\"bash\": {" ENTRY(
																			   "CVE-7",
																			   "bookworm",
																			   "open",
																			   ", \"urgency\": \"not yet assigned\"") "}}",
	       "CVE-1 high glibc 2.36-9 2.36-9+deb12u4\n"
	       "CVE-7 unknown bash 5.2.15-2 \n"
	       "CVE-5 negligible glibc 2.36-9 \n");
	bu_packages_fini(&packages);
}
END_TEST

#define OSV(id, ecosystem, name, events, rest)                                         \
	"{\"id\": \"" id                                                               \
	"\", \"affected\": [{\"package\": {\"ecosystem\": \"" ecosystem                \
	"\", \"name\": \"" name "\"}, \"ranges\": [{\"type\": \"ECOSYSTEM\", "         \
	"\"events\": [" events "]}]}]" rest "}"
#define FIXED(version) ", \"fixed_version\": \"" version "\""
#define FROM "{\"introduced\": \"0\"}"

START_TEST(osv_is_by_ranges)
{
	begin(BU_PACKAGES_DEB, "debian", "12");
	/* One after the other; a number as a member; what is of others. */
	expect(OSV("DSA-1", "Debian:12", "glibc",
		   FROM ", {\"fixed\": \"2.36-9+deb12u1\"}",
		   ", \"odd\": 1, \"severity\": [{\"type\": \"CVSS_V3\", \"score\": "
		   "\"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H\"}]") "\n" OSV("DSA-2",
										  "Debian:11",
										  "glibc",
										  FROM,
										  "")
		       OSV("DSA-3", "Debian:12", "glibc",
			   FROM ", {\"fixed\": \"2.36-8\"}",
			   "") OSV("DSA-4", "Debian:12", "glibc",
				   FROM
				   ", {\"fixed\": \"2.30-1\"}, {\"introduced\": \"2.35-1\"}, "
				   "{\"last_affected\": \"2.36-9\"}",
				   ", \"database_specific\": {\"severity\": \"Moderate\"}")
			       OSV("DSA-5", "Debian:12", "glibc",
				   FROM ", {\"last_affected\": \"2.36-8\"}", "")
				       OSV("DSA-6", "Debian:12", "bash", FROM,
					   ", \"withdrawn\": \"2024-01-01T00:00:00Z\"")
					       OSV("DSA-7", "Debian:12", "bash",
						   "{\"introduced\": \"5.3-1\"}", "")
						       OSV("RLSA-1", "Rocky Linux:9",
							   "bash", FROM, ""),
	       "DSA-1 critical glibc 2.36-9 2.36-9+deb12u1\n"
	       "DSA-4 medium glibc 2.36-9 \n");
	bu_packages_fini(&packages);
	begin(BU_PACKAGES_RPM, "rocky", "9.4");
	expect("[" OSV("RLSA-1", "Rocky Linux:9", "openssl-libs", FROM ", {\"fixed\": \"1:3.0.7-25.el9\"}", ", \"database_specific\": {\"severity\": \"Important\"}") ",\n" OSV(
		       "RLSA-2", "Rocky Linux:8", "bash", FROM,
		       "") "," OSV("RLSA-3", "Rocky Linux:9", "openssl-libs",
				   FROM ", {\"fixed\": \"3.0.8-1.el9\"}", "") "]",
	       "RLSA-1 high openssl-libs 1:3.0.7-24.el9 1:3.0.7-25.el9\n");
	bu_packages_fini(&packages);
}
END_TEST

/* The kernel's advisories are of linux, whatever source its signature made of it. */
START_TEST(a_signed_kernel_has_the_advisories_of_linux)
{
	begin_signed();
	expect("{\"linux\": {" ENTRY("CVE-1", "bookworm", "resolved",
				     FIXED("6.1.193-1")) "," ENTRY("CVE-2",
								   "bookworm", "resolved", FIXED("6.1.192-2")) "," ENTRY("CVE-3",
															 "bookworm", "open", "") "}, \"linux-6.12\": {" ENTRY("CVE-4", "bookworm", "resolved", FIXED("6.12.10-1")) "}, \"grub2\": {" ENTRY("CVE-5", "bookworm", "resolved", FIXED("2.06-13+deb12u2")) "," ENTRY("CVE-6", "bookworm", "resolved", FIXED("2.06-13+deb12u1")) "," ENTRY("CVE-7",
																																																     "bookworm",
																																																     "resolved",
																																																     FIXED("2.06-3")) "}, \"shim\": {" ENTRY("CVE-8",
																																																					     "bookworm",
																																																					     "open",
																																																					     "") "}, \"shim-signed\": {" ENTRY("CVE-9",
																																																									       "bookworm", "open", "") "}}",
	       "CVE-1 unknown linux 6.1.192-2 6.1.193-1\n"
	       "CVE-3 unknown linux 6.1.192-2 \n"
	       "CVE-4 unknown linux-6.12 6.12.9-1~bpo12+1 6.12.10-1\n"
	       "CVE-5 unknown grub2 2.06-13+deb12u1 2.06-13+deb12u2\n"
	       "CVE-9 unknown shim-signed 1.44 \n");
	expect(OSV("DSA-1", "Debian:12", "linux", FROM ", {\"fixed\": \"6.1.200-1\"}",
		   "") OSV("DSA-2", "Debian:12", "linux",
			   FROM ", {\"fixed\": \"6.1.192-1\"}", ""),
	       "DSA-1 unknown linux 6.1.192-2 6.1.200-1\n");
	bu_packages_fini(&packages);
	/* Ubuntu's: one kernel of that kind, and a loader that counts by itself. */
	begin(BU_PACKAGES_DEB, "ubuntu", "22.04");
	add("linux-image-5.15.0-100-generic", "5.15.0-100.110", "linux-signed",
	    "5.15.0-100.110");
	add("grub-efi-amd64-signed", "1.187.6+2.06-2ubuntu14.4", "grub2-signed",
	    "1.187.6");
	expect(OSV("USN-1", "Ubuntu:22.04:LTS", "linux",
		   FROM ", {\"fixed\": \"5.15.0-101.111\"}", "")
		       OSV("USN-2", "Ubuntu:22.04:LTS", "grub2",
			   FROM ", {\"fixed\": \"2.06-2ubuntu14\"}", "")
			       OSV("USN-3", "Ubuntu:22.04:LTS", "grub2-signed",
				   FROM ", {\"fixed\": \"1.187.7\"}", ""),
	       "USN-1 unknown linux 5.15.0-100.110 5.15.0-101.111\n"
	       "USN-3 unknown grub2-signed 1.187.6 1.187.7\n");
	bu_packages_fini(&packages);
}
END_TEST

/* None of these may be taken for "nothing found". */
START_TEST(files_that_say_nothing_are_refused)
{
	static const struct {
		const char *text, *why;
	} rows[] = {
		{"", "empty"},
		{"[]", "no advisory for debian 12"},
		{"{}", "no id"},
		{"{\"id\": \"X\"}", "no advisory for debian 12"},
		{"{\"bash\": {" ENTRY("CVE-1", "trixie", "open", "") "}}",
		 "no advisory for debian 12"},
		{"{\"bash\": {" ENTRY("CVE-1", "bookworm", "open", "") "}", "','"},
		{"[" OSV("D", "Debian:12", "x", FROM, ""), "ends in the middle"},
		{OSV("D", "Debian:12", "x", FROM, "") "x", "no JSON object"},
		{"{\"id\": ", "ends in the middle"},
		{"<html>", "no JSON object"},
	};

	begin(BU_PACKAGES_DEB, "debian", "12");
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_scan found;
		struct bu_err err;

		ck_assert_msg(scan(rows[i].text, &found, &err) == -1, "row %zu", i);
		ck_assert_int_eq(err.kind, BU_ERR_INVAL);
		ck_assert_msg(strstr(err.text, rows[i].why) != NULL, "row %zu: %s", i,
			      err.text);
	}
	bu_packages_fini(&packages);
}
END_TEST

START_TEST(no_packages_are_not_clean_ones)
{
	struct bu_scan found;
	struct bu_err err;

	begin(BU_PACKAGES_DEB, "debian", "12");
	bu_packages_fini(&packages);
	packages.kind = BU_PACKAGES_DEB;
	strcpy(packages.os, "debian");
	strcpy(packages.codename, "bookworm");
	ck_assert_int_eq(
		scan("{\"bash\": {" ENTRY("CVE-1", "bookworm", "open", "") "}}", &found,
		     &err),
		-1);
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	ck_assert_msg(strstr(err.text, "empty") != NULL, "%s", err.text);
}
END_TEST

/* Scores that FIRST published for these vectors: 9.8, 7.8, 6.1, 3.1, 10.0, 0. */
START_TEST(vectors_have_their_severity)
{
	static const struct {
		const char *vector;
		enum bu_severity want;
	} rows[] = {
		{"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H", BU_SEVERITY_CRITICAL},
		{"CVSS:3.1/AV:L/AC:L/PR:L/UI:N/S:U/C:H/I:H/A:H", BU_SEVERITY_HIGH},
		{"CVSS:3.1/AV:N/AC:L/PR:N/UI:R/S:C/C:L/I:L/A:N", BU_SEVERITY_MEDIUM},
		{"CVSS:3.0/AV:N/AC:H/PR:L/UI:N/S:U/C:L/I:N/A:N", BU_SEVERITY_LOW},
		{"CVSS:3.0/AV:N/AC:L/PR:N/UI:N/S:C/C:H/I:H/A:H", BU_SEVERITY_CRITICAL},
		{"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:N",
		 BU_SEVERITY_NEGLIGIBLE},
		{"CVSS:3.1/AV:X/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:N", BU_SEVERITY_UNKNOWN},
		{"AV:N/AC:L/Au:N/C:P/I:P/A:P", BU_SEVERITY_UNKNOWN},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++)
		ck_assert_msg(bu_severity_of_cvss(rows[i].vector) == rows[i].want, "%s",
			      rows[i].vector);
}
END_TEST

BU_UNIT("scan", debians_tracker_is_by_source_and_release, osv_is_by_ranges,
	a_signed_kernel_has_the_advisories_of_linux, files_that_say_nothing_are_refused,
	no_packages_are_not_clean_ones, vectors_have_their_severity)
