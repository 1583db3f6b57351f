/* SPDX-License-Identifier: Apache-2.0 */
/* `bringup fabric certificate`: what was proven, with whom, by which figures, and
 * whether those give the verdict when they are judged again. Pure; the signed text
 * itself comes with -o json. */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "cli/render/output.h"
#include "cli/render/render.h"
#include "fabric/judge/fabcert.h"

static void line(FILE *out, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void
line(FILE *out, const char *name, const char *fmt, ...)
{
	bu_autofree char *text = NULL, *clean = NULL;
	va_list args;

	va_start(args, fmt);
	text = bu_xvasprintf(fmt, args);
	va_end(args);
	clean = bu_out_clean(text, 0);
	fprintf(out, "  %-10s %s\n", name, clean);
}

static void
direction(const json_t *result, const char *from, const char *to, const char *key,
	  FILE *out)
{
	const json_t *dir = json_object_get(result, key);
	bu_autofree char *name = NULL;

	if (!json_is_object(dir))
		return;
	name = bu_xasprintf("%s -> %s",
			    bu_json_str(json_object_get(result, from), "node", "?"),
			    bu_json_str(json_object_get(result, to), "node", "?"));
	line(out, "measured",
	     "%s: median %.4f Gbit/s of %zu runs, latency %.0f us (p99 %.0f)", name,
	     bu_json_real(dir, "bw_median_gbps", 0),
	     json_array_size(json_object_get(dir, "bw_gbps")),
	     bu_json_real(dir, "lat_median_us", 0), bu_json_real(dir, "lat_p99_us", 0));
}

static void
expected(const json_t *expect, FILE *out)
{
	double percent = bu_json_real(expect, "percent", 0);
	double link_gbps = bu_json_real(expect, "link_gbps", 0);

	line(out, "expected", "at least %.4f Gbit/s (%.0f %% of a link of %.4g Gbit/s)",
	     link_gbps * percent / 100, percent, link_gbps);
}

static void
together(const json_t *sum, FILE *out)
{
	if (sum)
		line(out, "sum",
		     "sends %.4f, receives %.4f Gbit/s, of its rails' rates in one "
		     "probe, at least %.4f",
		     bu_json_real(sum, "sends_gbps", 0),
		     bu_json_real(sum, "receives_gbps", 0),
		     bu_json_real(sum, "least_gbps", 0));
}

/* rail: one of the certificate's, or itself where it is of a time without rails. */
static void
show_rail(const json_t *cert, const json_t *rail, FILE *out)
{
	const char *name = bu_json_str(rail, "rail", "");
	json_t *result;
	size_t i;

	if (*name)
		line(out, "rail", "%s, %s", name, bu_json_str(rail, "verdict", "?"));
	json_array_foreach (json_object_get(cert, "results"), i, result) {
		if (strcmp(bu_json_str(result, "rail", ""), name) != 0)
			continue;
		direction(result, "a", "b", "a_to_b", out);
		direction(result, "b", "a", "b_to_a", out);
	}
	expected(json_object_get(rail, "expect"), out);
}

/* By this program, not by who signed it. */
static void
judge_again(const json_t *cert, FILE *out)
{
	struct bu_err err = {0};

	if (bu_fabcert_replay(cert, &err) == 0)
		line(out, "replayed", "its schedule and its figures give this verdict");
	else
		line(out, "replayed", "they do not: %s", err.text);
}

void
bu_render_certificate(const struct bu_shown_certificate *certificate, FILE *out)
{
	bu_autojson json_t *sealed = bu_json_parse(
		certificate->text, strlen(certificate->text), "certificate", NULL);
	const json_t *cert = json_object_get(sealed, "cert");
	const json_t *rails = json_object_get(cert, "rails");
	json_t *rail;
	size_t i;

	fprintf(out, "%s certificate of %s\n", certificate->kind,
		bu_json_str(cert, "node", "?"));
	line(out, "machine", "%s", bu_json_str(cert, "machine", "?"));
	line(out, "boot", "%s", bu_json_str(cert, "boot_id", "?"));
	line(out, "issued", "%s, epoch %lld", bu_json_str(cert, "issued", "?"),
	     (long long)bu_json_int(cert, "epoch", 0));
	json_array_foreach (rails, i, rail)
		show_rail(cert, rail, out);
	if (!rails)
		show_rail(cert, cert, out);
	together(json_object_get(cert, "together"), out);
	line(out, "verdict", "%s", bu_json_str(cert, "verdict", "?"));
	judge_again(cert, out);
	line(out, "signature", "%.16s...", bu_json_str(sealed, "sig", "?"));
}
