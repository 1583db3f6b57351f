/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a path from outside may be used. All of them only look at the
 * text: links on the way are checked by the code that opens the path. None lets a
 * control character or a part "." or ".." through, or an empty one as in "//".
 */
#ifndef BU_BASE_PATH_H
#define BU_BASE_PATH_H

/* A file name alone: letters, digits and "._+-", not '.' or '-' at its start. */
int bu_path_is_name(const char *text);
/* "pools/train.ini": stays below the folder that it is taken from; may end with '/'. */
int bu_path_is_relative(const char *text);
/* "/srv/images"; may end with '/', and is more than that. */
int bu_path_is_absolute(const char *text);
/* "/etc/hosts": absolute, and does not end with '/'. */
int bu_path_is_file(const char *text);
/* A file below the folder, which does not end with '/'. */
int bu_path_is_below(const char *text, const char *folder);
/* Begins with '/' and has only letters, digits and ._+-/: it needs no quotes in a
 * shell, a configuration file or a URL. For paths of the operator's own: ".." may be in
 * it. */
int bu_path_is_plain(const char *text);

/* What is behind its last '/'. */
const char *bu_path_name(const char *path);
/* The part before it: "/run/bringup" of "/run/bringup/sock", "/" of "/sock", "." of
 * "sock". Owned. */
char *bu_path_folder(const char *path);

#endif
