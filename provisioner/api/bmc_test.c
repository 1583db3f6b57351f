/* SPDX-License-Identifier: Apache-2.0 */
/* What a BMC says is waited for, at the first question as at a later one. */
#include <string.h>

#include "tests/support/site.h"
#include "tests/support/unit.h"

START_TEST(no_answer_comes_before_the_bmcs)
{
	struct site site;
	struct talk talk;

	site_begin(&site, 1);
	for (int i = 0; i < 2; i++) {
		site_ask(&talk, site.local, "GET", "/v1/nodes/node001/bmc/sensors", "");
		site_until_ended(&site, &talk);
		ck_assert_msg(talk.status == 200 &&
				      strstr(talk.body, "\"node\":\"node001\""),
			      "%d: %s", i, talk.text);
		talk_end(&talk);
	}
	site_end(&site);
}
END_TEST

RIG_UNIT("bmc", no_answer_comes_before_the_bmcs)
