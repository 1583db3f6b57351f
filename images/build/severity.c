/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How grave an advisory is, in the words and by the vectors that its sources have;
 * scan.c calls it. The numbers are those of CVSS v3.1, section 7.
 */
#include <string.h>

#include "base/text.h"
#include "images/build/scan.h"

static const char *const names[] = {
#define X(id, name) name,
	BU_SEVERITIES(X)
#undef X
};

const char *
bu_severity_name(enum bu_severity severity)
{
	return names[severity];
}

int
bu_severity_from_name(const char *name, enum bu_severity *ret, struct bu_err *err)
{
	bu_autofree char *all = NULL;

	for (int i = 0; i < BU_SEVERITY_COUNT; i++) {
		bu_text_add(&all, ", ", "%s", names[i]);
		if (strcmp(names[i], name) == 0) {
			*ret = (enum bu_severity)i;
			return 0;
		}
	}
	return bu_err_set(err, BU_ERR_USAGE, 0, "severity '%.40s': allowed is %s", name,
			  all);
}

/* The letter behind "/KEY:"; 0 = it has none. */
static char
metric(const char *vector, const char *key)
{
	const char *at = strstr(vector, key);

	return at ? at[strlen(key)] : '\0';
}

/* Negative for another letter. */
static double
weigh(char letter, const char *letters, const double *weights)
{
	const char *at = letter ? strchr(letters, letter) : NULL;

	return at ? weights[at - letters] : -1;
}

static double
impact_of(const char *vector, int changed)
{
	static const double weights[] = {0.56, 0.22, 0};
	static const char *const keys[] = {"/C:", "/I:", "/A:"};
	double rest = 1, base, power = 1;

	for (size_t i = 0; i < BU_LEN(keys); i++) {
		double weight = weigh(metric(vector, keys[i]), "HLN", weights);

		if (weight < 0)
			return -1;
		rest *= 1 - weight;
	}
	if (!changed)
		return 6.42 * (1 - rest);
	base = 1 - rest - 0.02;
	for (int i = 0; i < 15; i++)
		power *= base;
	return 7.52 * (1 - rest - 0.029) - 3.25 * power;
}

static double
ease_of(const char *vector, int changed)
{
	static const double plain[] = {0.85, 0.62, 0.27}, wide[] = {0.85, 0.68, 0.5};
	double av = weigh(metric(vector, "/AV:"), "NALP",
			  (const double[]){0.85, 0.62, 0.55, 0.2});
	double ac = weigh(metric(vector, "/AC:"), "LH", (const double[]){0.77, 0.44});
	double pr = weigh(metric(vector, "/PR:"), "NLH", changed ? wide : plain);
	double ui = weigh(metric(vector, "/UI:"), "NR", (const double[]){0.85, 0.62});

	return av < 0 || ac < 0 || pr < 0 || ui < 0 ? -1 : 8.22 * av * ac * pr * ui;
}

enum bu_severity
bu_severity_of_cvss(const char *vector)
{
	int changed = metric(vector, "/S:") == 'C', tenths;
	double impact = impact_of(vector, changed), ease = ease_of(vector, changed);
	double score = changed ? 1.08 * (impact + ease) : impact + ease;

	if (strncmp(vector, "CVSS:3.", 7) != 0 || impact < -0.5 || ease < 0)
		return BU_SEVERITY_UNKNOWN;
	if (impact <= 0)
		return BU_SEVERITY_NEGLIGIBLE;
	/* Up to the next tenth, as the standard has it. */
	tenths = (int)((score > 10 ? 10 : score) * 10 + 0.99999);
	return tenths >= 90   ? BU_SEVERITY_CRITICAL
	       : tenths >= 70 ? BU_SEVERITY_HIGH
	       : tenths >= 40 ? BU_SEVERITY_MEDIUM
			      : BU_SEVERITY_LOW;
}
