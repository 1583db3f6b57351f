/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A struct and its JSON object, described once: a table of fields drives both ways. For
 * messages between processes, files and what the log holds.
 *
 *	static const struct bu_field disk_fields[] = {
 *		BU_FIELD(TEXT, struct disk, name, .form = &name_form),
 *		BU_FIELD(INT, struct disk, size_bytes),
 *		BU_FIELD(WORD, struct disk, kind, .words = kinds, .need = BU_SPARSE),
 *		BU_FIELD_END,
 *	};
 *
 * What comes in fits its member and is what its row allows, or the whole is refused
 * with the path of the field: "disks[3].size_bytes: expected a whole number". Fields
 * that no row names are passed over.
 */
#ifndef BU_BASE_RECORD_H
#define BU_BASE_RECORD_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum bu_field_kind {
	BU_FIELD_TEXT,    /* char[]: made plain (base/plain.h); or as its form says */
	BU_FIELD_STRING,  /* const char *: borrowed from the value; any text */
	BU_FIELD_INT,     /* an integer type: from min to max */
	BU_FIELD_REAL,    /* float or double: finite, from min to max */
	BU_FIELD_FLAG,    /* int: true or false */
	BU_FIELD_WORD,    /* int or enum: the place in words; from min on */
	BU_FIELD_RECORD,  /* a struct of `fields` */
	BU_FIELD_LIST,    /* an array of them, or a pointer to one on the heap */
	BU_FIELD_ARRAY,   /* the same of plain values: each as fields[0] says */
	BU_FIELD_JSON,    /* const json_t *: borrowed from the value, not looked into */
	BU_FIELD_VERSION, /* no member: max is written, min to max are read */
	BU_FIELD_IS,      /* no member: always words[0] */
	BU_FIELD_PARTS,   /* several fields of the object, as `parts` has them; the
			     key names the first of them */
};

/* What a missing field means. The default of a TEXT is "", of a STRING `unsaid`, of a
 * JSON NULL, of a list no members, of a record the default of each of its fields, of a
 * number, flag or word `otherwise`, of parts all zero. */
enum bu_need {
	BU_REQUIRED, /* an error */
	BU_OPTIONAL, /* the default; written whatever it is */
	BU_SPARSE,   /* the default; and the default is not written */
	BU_NULL,     /* the default; and the default is written as null, and so read */
};

/* The form of a text; what: "a MAC address in lower case". */
struct bu_form {
	int (*holds)(const char *text);
	const char *what;
};

/* A member that stands in several fields of the object. */
struct bu_parts {
	void (*write)(const void *member, json_t *object);
	/* The error names the field: "args.tries: expected a whole number". */
	int (*read)(const json_t *object, void *ret_member, struct bu_err *err);
};

struct bu_field {
	const char *key; /* NULL ends a table */
	enum bu_field_kind kind;
	enum bu_need need;
	size_t offset;
	size_t size;        /* of the member; of one member of a list */
	int64_t min, max;   /* of a number; both 0: from 0 to what the type holds; of a
			       list: how many. max of a STRING: bytes, 0 = any */
	int64_t otherwise;  /* the default of a number, flag or word */
	const char *unsaid; /* the default of a STRING */
	const struct bu_form *form;
	const char *const *words; /* ends with NULL */
	int others;               /* a word that is none of them reads as the default */
	const struct bu_field *fields;
	const struct bu_parts *parts;
	int heap;            /* the list is a pointer */
	size_t count_offset; /* of a list's count; count_size 0: always max members */
	size_t count_size;
};

/* clang-format off */
/* Any number. */
#define BU_ANY .min = INT64_MIN, .max = INT64_MAX
#define BU_FIELD_AS(its_key, its_kind, type, member, ...)                              \
	{.key = its_key, .kind = BU_FIELD_##its_kind, .offset = offsetof(type, member), \
	 .size = sizeof(((type *)0)->member), ##__VA_ARGS__}
#define BU_FIELD(its_kind, type, member, ...)                                          \
	BU_FIELD_AS(#member, its_kind, type, member, ##__VA_ARGS__)
/* LIST or ARRAY; the count is beside it: disks and disks_count. */
#define BU_FIELD_MANY_AS(its_key, its_kind, type, member, count, its_max, its_fields, ...) \
	{.key = its_key, .kind = BU_FIELD_##its_kind, .offset = offsetof(type, member), \
	 .size = sizeof(*((type *)0)->member), .max = its_max, .fields = its_fields,   \
	 .heap = __builtin_types_compatible_p(__typeof__(((type *)0)->member),         \
					      __typeof__(&*((type *)0)->member)),      \
	 .count_offset = offsetof(type, count),                                        \
	 .count_size = sizeof(((type *)0)->count), ##__VA_ARGS__}
#define BU_FIELD_MANY(its_kind, type, member, its_max, its_fields, ...)                \
	BU_FIELD_MANY_AS(#member, its_kind, type, member, member##_count, its_max,     \
			 its_fields, ##__VA_ARGS__)
/* LIST or ARRAY of an array in place, all its members. */
#define BU_FIELD_ALL(its_kind, type, member, its_fields, ...)                          \
	{.key = #member, .kind = BU_FIELD_##its_kind, .offset = offsetof(type, member), \
	 .size = sizeof(*((type *)0)->member), .max = BU_LEN(((type *)0)->member),     \
	 .fields = its_fields, ##__VA_ARGS__}
/* One plain value of an ARRAY. */
#define BU_FIELD_ONE(its_kind, its_size, ...)                                          \
	{.key = "", .kind = BU_FIELD_##its_kind, .size = its_size, ##__VA_ARGS__}
/* "v": written is the newest, read from the oldest on. */
#define BU_FIELD_V(oldest, newest)                                                     \
	{.key = "v", .kind = BU_FIELD_VERSION, .min = oldest, .max = newest}
#define BU_FIELD_END {.key = NULL}
/*
 * A struct of plain members and its table from one list:
 *
 *	#define END_ROWS(X, T) X(T, STRING, node) X(T, INT, port, .need = BU_NULL)
 *	struct end BU_ROW_STRUCT(END_ROWS);
 *	static const struct bu_field end_fields[] = BU_ROW_TABLE(END_ROWS, struct end);
 */
#define BU_ROW_STRUCT(rows) {rows(BU_ROW_MEMBER, )}
#define BU_ROW_TABLE(rows, type) {rows(BU_ROW, type) BU_FIELD_END}
#define BU_ROW_MEMBER(type, kind, name, ...) BU_PLAIN_##kind name;
#define BU_ROW(type, kind, name, ...) BU_FIELD(kind, type, name, ##__VA_ARGS__),
#define BU_PLAIN_STRING const char *
#define BU_PLAIN_INT int64_t
#define BU_PLAIN_WORD int
#define BU_PLAIN_REAL double
#define BU_PLAIN_FLAG int
#define BU_PLAIN_JSON const json_t *
/* clang-format on */

/* New reference. Texts are made printable. */
json_t *bu_record_to_json(const struct bu_field *fields, const void *record);
/* Fills the members that the table names; BU_ERR_INVAL with the path. After a failure
 * the record owns nothing and holds nothing of use. */
bu_must int bu_record_from_json(const struct bu_field *fields, const json_t *value,
				void *ret, struct bu_err *err);
/* The default of each field. */
void bu_record_init(const struct bu_field *fields, void *record);
/* The place of a word; -1: there is no such word. */
int bu_word_find(const char *const *words, const char *word);
/* The place of the word that a member is; otherwise: it is missing or none of them. */
int bu_json_word(const json_t *object, const char *key, const char *const *words,
		 int otherwise);
/* Releases the lists on the heap; the members are as after bu_record_init(). */
void bu_record_fini(const struct bu_field *fields, void *record);

#endif
