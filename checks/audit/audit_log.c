/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of the audit about the kernel's words on GPUs and NICs. Called by
 * audit.c. Invariant: what a line means is data (expect.events, model/kernel_event.h)
 * or the severity that it tells itself; words that nobody knows condemn nobody.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/sysroot.h"
#include "base/text.h"
#include "checks/audit/audit_impl.h"
#include "model/kernel_event.h"

enum { LOG_MAX = 16 * 1024 * 1024 };

int
bu_audit_each_line(struct bu_audit *a, bu_audit_line_fn fn, void *arg)
{
	bu_autofree char *log =
		bu_sysroot_read(a->root, LOG_MAX, NULL, "%s", "dev/kmsg");
	char *save, *line;

	if (!log) {
		bu_audit_unknown(a, "", "the kernel's log cannot be read");
		return 0;
	}
	for (line = strtok_r(log, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save))
		fn(a, line, arg);
	return 1;
}

/* What was found at one place, once however often it was said. */
struct found {
	json_t *seen; /* keys */
};

static int
is_new(struct found *found, const char *where, const char *what)
{
	bu_autofree char *key = bu_xasprintf("%s %s", where, what);

	if (json_object_get(found->seen, key))
		return 0;
	json_object_set_new(found->seen, key, json_true());
	return 1;
}

/* A row that has found nothing says so. */
static void
read_events(struct bu_audit *a, bu_audit_line_fn fn)
{
	struct found found = {json_object()};

	if (bu_audit_each_line(a, fn, &found) && json_object_size(found.seen) == 0)
		bu_audit_good(a, "", "none");
	json_decref(found.seen);
}

static const json_t *
events(const struct bu_audit *a)
{
	return json_object_get(a->ctx->expect, "events");
}

/* --- NVIDIA's numbers --- */

/* "NVRM: Xid (PCI:0000:1b:00): 79, pid=..."; what follows the number. */
static const char *
read_xid(const char *line, const char *mark, char *where, size_t size, int *ret_number)
{
	const char *at = strstr(line, mark);
	const char *end;
	char *rest;

	if (!at)
		return NULL;
	at += strlen(mark);
	end = strstr(at, "): ");
	if (!end || (size_t)(end - at) >= size || !isdigit((unsigned char)end[3]))
		return NULL;
	memcpy(where, at, (size_t)(end - at));
	where[end - at] = '\0';
	*ret_number = (int)strtol(end + 3, &rest, 10);
	return rest + (*rest == ',');
}

static void
judge_xid(struct bu_audit *a, const char *part, const char *where, const char *what,
	  const struct bu_kernel_event *event)
{
	if (event->class == BU_KERNEL_UNKNOWN)
		bu_audit_note(a, where, what, "a number that is known",
			      "see the maker's catalogue; a row in events.json says "
			      "what it means",
			      "%s %s: the kernel's log has %s, which no row of "
			      "events.json is about",
			      part, where, what);
	else if (event->class == BU_KERNEL_NOTE)
		bu_audit_note(a, where, what, "none",
			      "nothing at once; many of them an hour tell of a bad "
			      "link: soak",
			      "%s %s: the kernel's log has %s, not fatal", part, where,
			      what);
	else
		bu_audit_bad_hint(a, where, what, "none", event->action,
				  "%s %s: the kernel's log has %s; %s", part, where,
				  what, event->action);
}

static void
judge_xid_line(struct bu_audit *a, char *line, void *arg)
{
	static const struct {
		const char *mark, *of, *name, *part;
	} kinds[] = {
		{"SXid (PCI:", "sxid", "SXid", "NVSwitch"},
		{"Xid (PCI:", "xid", "Xid", "GPU"},
	};

	for (size_t i = 0; i < BU_LEN(kinds); i++) {
		char where[32], what[80];
		int number;
		const char *rest =
			read_xid(line, kinds[i].mark, where, sizeof(where), &number);
		struct bu_kernel_event event;

		if (!rest)
			continue;
		event = bu_kernel_events_find(events(a), kinds[i].of, number, rest);
		snprintf(what, sizeof(what), "%s %d", kinds[i].name, number);
		if (event.class != BU_KERNEL_JOB && event.class != BU_KERNEL_IGNORE) {
			bu_autofree char *key =
				bu_xasprintf("%s %d", what, event.class);

			if (is_new(arg, where, key))
				judge_xid(a, kinds[i].part, where, what, &event);
		}
		return;
	}
}

void
bu_audit_gpu_xid(struct bu_audit *a)
{
	if (bu_audit_gpus(a) > 0)
		read_events(a, judge_xid_line);
}

/* --- words of drivers --- */

/* "0000:14:00.0" in a line. */
static int
find_address(const char *line, char ret[16])
{
	for (; (line = strchr(line, ':')); line++) {
		unsigned int domain, bus, device, function;
		const char *from = line;

		while (line - from < 8 && isxdigit((unsigned char)from[-1]))
			from--;
		if (line - from >= 4 && sscanf(from, "%x:%2x:%2x.%1x", &domain, &bus,
					       &device, &function) == 4) {
			snprintf(ret, 16, "%04x:%02x:%02x.%x", domain, bus, device,
				 function);
			return 1;
		}
	}
	return 0;
}

/* A whole word of the line. */
static int
has_word(const char *line, const char *word)
{
	size_t size = strlen(word);

	for (const char *at = line; (at = strstr(at, word)); at += size)
		if ((at == line || !isalnum((unsigned char)at[-1])) &&
		    !isalnum((unsigned char)at[size]))
			return 1;
	return 0;
}

/* The interface or port that a line is about, by its PCI address or its name; its
 * label, and whether the profile has a network for it. */
static int
find_nic(const struct bu_audit *a, const char *line, char ret_where[16],
	 const char **ret_label)
{
	int has_address = find_address(line, ret_where), used = 0;

	*ret_label = NULL;
	for (size_t i = 0; i < a->nic_count; i++) {
		const struct bu_audit_nic *nic = &a->nics[i];

		if (has_address ? strcmp(nic->pci, ret_where) != 0
				: !has_word(line, nic->name))
			continue;
		if (!has_address)
			bu_text_copy(ret_where, 16, nic->name);
		used |= nic->network || nic->cable;
		*ret_label = nic->label;
	}
	for (size_t i = 0; has_address && i < a->port_count; i++) {
		const struct bu_audit_port *port = &a->ports[i];

		if (strcmp(port->pci, ret_where) == 0 && port->network) {
			used = 1;
			*ret_label = port->label;
		}
	}
	return used;
}

/* Behind the stamp of the log's record. */
static const char *
words_of(const char *line)
{
	const char *at = strchr(line, ';');

	return at ? at + 1 : line;
}

static void
judge_nic_line(struct bu_audit *a, char *line, void *arg)
{
	const char *label, *words = words_of(line);
	struct bu_kernel_event event =
		bu_kernel_events_find(events(a), "nic", -1, words);
	char where[16] = "";
	int used;

	if (event.class > BU_KERNEL_RESET)
		return;
	used = find_nic(a, words, where, &label);
	if (!is_new(arg, where, event.action))
		return;
	if (used)
		bu_audit_bad_hint(a, where, words, "none", event.action,
				  "%s: the kernel's log has: %.120s", label, words);
	else
		bu_audit_note(a, where, words, "none", event.action,
			      "%s, in no network of the profile: the kernel's log has: "
			      "%.120s",
			      label    ? label
			      : *where ? where
				       : "a NIC",
			      words);
}

void
bu_audit_nic_error(struct bu_audit *a)
{
	if (a->nic_count > 0 || a->port_count > 0)
		read_events(a, judge_nic_line);
}

static void
judge_amd_line(struct bu_audit *a, char *line, void *arg)
{
	const char *words = words_of(line);
	struct bu_kernel_event event =
		bu_kernel_events_find(events(a), "amd", -1, words);
	char where[16] = "";

	if (event.class > BU_KERNEL_RESET)
		return;
	find_address(words, where);
	if (is_new(arg, where, event.action))
		bu_audit_bad_hint(a, where, words, "none", event.action,
				  "GPU%s%s: the kernel's log has: %.120s",
				  *where ? " " : "", where, words);
}

void
bu_audit_gpu_error(struct bu_audit *a)
{
	if (bu_audit_gpus(a) > 0)
		read_events(a, judge_amd_line);
}
