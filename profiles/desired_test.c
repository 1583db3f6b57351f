#include "tests/support/unit.h"
START_TEST(x)
{
	ck_assert_int_eq(1, 1);
}
END_TEST
BU_UNIT("x", x)
