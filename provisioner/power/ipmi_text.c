/* SPDX-License-Identifier: Apache-2.0 */
/* What ipmitool prints, and what it is told; for ipmi.c. Pure text. */
#include "provisioner/power/ipmi_text.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* IPMI 2.0 has 20, and some BMCs that take them know another password then. */
enum { PASSWORD_MAX = 16, PORT = 623 };

/* ipmitool's own words. */
static const char password_is_set[] = "Set User Password command successful";

/* Behind "NAME   : " at the beginning of a line; "" when there is none. */
void
bu_ipmi_field(const char *text, const char *name, char *ret, size_t size)
{
	const char *at = text;

	ret[0] = '\0';
	while ((at = strstr(at, name))) {
		const char *colon = at + strlen(name);

		colon += strspn(colon, " \t");
		if (*colon == ':') {
			colon += 1 + strspn(colon + 1, " \t");
			bu_text_copy_part(ret, size, colon, strcspn(colon, "\r\n"));
			return;
		}
		at = colon;
	}
}

/* A GUID whose byte order ipmitool does not know comes without dashes. */
void
bu_ipmi_dash(char *uuid, size_t size)
{
	bu_autofree char *plain = bu_xstrdup(uuid);

	if (strlen(plain) == 32)
		snprintf(uuid, size, "%.8s-%.4s-%.4s-%.4s-%.12s", plain, plain + 8,
			 plain + 12, plain + 16, plain + 20);
}

int
bu_ipmi_user_id(const char *text, const char *user)
{
	for (const char *line = text; line; line = strchr(line, '\n')) {
		char name[32];
		int id;

		line += *line == '\n';
		if (sscanf(line, "%d %31s", &id, name) == 2 && strcmp(name, user) == 0)
			return id;
	}
	return -1;
}

int
bu_ipmi_check_password(const char *password, struct bu_err *err)
{
	if (*password && strlen(password) <= PASSWORD_MAX &&
	    bu_text_is_ascii(password) && !strpbrk(password, " \"'\\#"))
		return 0;
	return bu_err_set(err, BU_ERR_INVAL, 0,
			  "a new password has 1 to %d characters, no blanks, quotes, "
			  "backslash or #",
			  PASSWORD_MAX);
}

char *
bu_ipmi_set_password(int id, const char *password)
{
	return bu_xasprintf("user set password %d %s %d\nquit\n", id, password,
			    PASSWORD_MAX);
}

int
bu_ipmi_check_changed(const char *text, const char *bmc, const char *user,
		      struct bu_err *err)
{
	if (strstr(text, password_is_set))
		return 0;
	return bu_err_set(err, BU_ERR_REMOTE, 0,
			  "IPMI of %s: it did not take the new password of account "
			  "'%s'; look at its rules for passwords, and at what this "
			  "account may do",
			  bmc, user);
}

int
bu_ipmi_split(const char *bmc, char ret_host[256], char ret_port[8])
{
	size_t length = strcspn(bmc, ":");
	int64_t port = PORT;

	if (!length || length >= 256 || *bmc == '-' || strpbrk(bmc, "/ \t") ||
	    (bmc[length] && bu_text_int(bmc + length + 1, 1, 65535, &port) != 0))
		return -1;
	bu_text_copy_part(ret_host, 256, bmc, length);
	snprintf(ret_port, 8, "%d", (int)port);
	return 0;
}

/* What ipmitool says when there is no session, and what that means. */
static const struct {
	const char *says;
	enum bu_err_kind kind; /* NONE: the suite is not there */
} refusals[] = {
	{"no matching cipher suite", BU_ERR_NONE},
	{"invalid authentication algorithm", BU_ERR_NONE},
	{"invalid integrity algorithm", BU_ERR_NONE},
	{"invalid confidentiality algorithm", BU_ERR_NONE},
	{"RAKP 2 HMAC is invalid", BU_ERR_DENIED},
	{"unauthorized name", BU_ERR_DENIED},
	{"insufficient resources", BU_ERR_REMOTE},
	{"Unable to establish", BU_ERR_REMOTE},
};

const char *
bu_ipmi_refusal(const char *errs, const char *out, enum bu_err_kind *ret_kind)
{
	for (size_t i = 0; i < BU_LEN(refusals); i++) {
		if (!strstr(errs, refusals[i].says) && !strstr(out, refusals[i].says))
			continue;
		*ret_kind = refusals[i].kind;
		return refusals[i].says;
	}
	return NULL;
}
