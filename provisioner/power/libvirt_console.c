/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a libvirt domain writes to its serial port, on standard output: a process of its
 * own, which console.c starts, for the library blocks. It outlives the domain's power
 * cycles: a domain that is off is waited for, so that its first words are there. Nobody
 * is thrown off a console that is taken.
 */
#include <fcntl.h>
#include <libvirt/libvirt.h>
#include <libvirt/virterror.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/domain_xml.h"
#include "base/file.h"
#include "base/url.h"
#include "provisioner/power/driver.h"

enum { LOOK_MS = 200, PART = 16384, FAILS_MAX = 20 };

static int
fail(const char *doing)
{
	fprintf(stderr, "%s: %s\n", doing, virGetLastErrorMessage());
	return -1;
}

static int
open_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
	struct stat st;

	if (fd < 0) {
		fprintf(stderr, "%s: %m\n", path);
		return -1;
	}
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		return fd;
	fprintf(stderr, "%s is not a regular file\n", path);
	close(fd);
	return -1;
}

/* virtlogd renames a file that is full, and begins another. */
static int
is_renamed(int fd, const char *path)
{
	struct stat ours, there;

	return fstat(fd, &ours) == 0 && stat(path, &there) == 0 &&
	       (ours.st_ino != there.st_ino || ours.st_dev != there.st_dev);
}

static int
say_rest(int fd)
{
	char bytes[PART];
	struct stat st;
	ssize_t got;

	while ((got = read(fd, bytes, sizeof(bytes))) > 0)
		if (bu_write_all(1, bytes, (size_t)got, NULL) != 0)
			return -1;
	/* It was emptied. */
	if (fstat(fd, &st) == 0 && st.st_size < lseek(fd, 0, SEEK_CUR))
		lseek(fd, 0, SEEK_SET);
	return got < 0 ? -1 : 0;
}

/* A file that grows; what is in it already was said before. */
static int
follow_file(const char *path)
{
	int fd = open_file(path);

	if (fd >= 0)
		lseek(fd, 0, SEEK_END);
	while (fd >= 0) {
		/* Asked first: nothing is added to one that was renamed. */
		int renamed = is_renamed(fd, path);

		if (say_rest(fd) != 0)
			return -1;
		if (renamed) {
			close(fd);
			fd = open_file(path);
			continue;
		}
		usleep(LOOK_MS * 1000);
	}
	return -1;
}

int
bu_libvirt_is_remote(const char *uri)
{
	struct bu_url url;

	return bu_url_parse(uri, &url) < 0 || (url.scheme[0] && url.host[0]);
}

/* Until the domain is off. */
static int
follow_stream(virConnectPtr conn, virDomainPtr domain)
{
	virStreamPtr stream = virStreamNew(conn, 0);
	char bytes[PART];
	int got = 0;

	if (!stream || virDomainOpenConsole(domain, NULL, stream, 0) != 0) {
		if (stream)
			virStreamFree(stream);
		return -1;
	}
	while ((got = virStreamRecv(stream, bytes, sizeof(bytes))) > 0)
		if (bu_write_all(1, bytes, (size_t)got, NULL) != 0)
			exit(0);
	if (got == 0)
		virStreamFinish(stream);
	else
		virStreamAbort(stream);
	virStreamFree(stream);
	return 0;
}

static int
follow_domain(virConnectPtr conn, virDomainPtr domain)
{
	int fails = 0;

	for (;;) {
		int active = virDomainIsActive(domain);

		if (active < 0)
			return fail("state of the domain");
		if (active && follow_stream(conn, domain) == 0)
			fails = 0;
		else if (active && ++fails == FAILS_MAX)
			return fail("open its console");
		usleep(LOOK_MS * 1000);
	}
}

static void
quiet(void *data, virErrorPtr error)
{
	(void)data;
	(void)error;
}

int
bu_libvirt_console(const char *bmc)
{
	const char *hash = strrchr(bmc, '#');
	bu_autofree char *uri = bu_xstrndup(bmc, hash ? (size_t)(hash - bmc) : 0);
	virConnectPtr conn;
	virDomainPtr domain;
	char path[256];
	char *xml;

	virSetErrorFunc(NULL, quiet);
	conn = virConnectOpen(uri);
	if (!conn)
		return fail(uri);
	domain = virDomainLookupByName(conn, hash ? hash + 1 : "");
	xml = domain ? virDomainGetXMLDesc(domain, 0) : NULL;
	if (!xml)
		return fail(bmc);
	bu_domain_xml_console(xml, path, sizeof(path));
	free(xml);
	if (*path != '/')
		return follow_domain(conn, domain);
	if (!bu_libvirt_is_remote(uri))
		return follow_file(path);
	fprintf(stderr,
		"its console is a file of another machine, %s; one of type pty can be "
		"read from here\n",
		path);
	return -1;
}
