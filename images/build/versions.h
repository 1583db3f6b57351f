/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which version of a package is newer, as dpkg and as rpm say it (deb-version(7),
 * rpm-version(7)); as strcmp(). Our own, because a scan compares thousands of pairs,
 * and an appliance of one family has the program of the other not; the test lets both
 * programs judge.
 */
#ifndef BU_IMAGES_BUILD_VERSIONS_H
#define BU_IMAGES_BUILD_VERSIONS_H

int bu_deb_compare(const char *a, const char *b);
int bu_rpm_compare(const char *a, const char *b);

#endif
