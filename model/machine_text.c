/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Serial numbers and UUIDs as texts: which say something, and which are the same.
 * Called by all code that compares machines or disks, and by the checks of profiles.
 * Invariant: the list of what vendors leave in the firmware stands here alone.
 */
#include "model/machine.h"

#include <ctype.h>
#include <string.h>

#include "base/text.h"

/* Machines share these. Letters and digits alone, in lower case; runs of one character
 * and of rising digits are rules below. */
static const char *const placeholders[] = {
	/* people and spreadsheets */
	"none",
	"null",
	"nil",
	"na",
	"tbd",
	"empty",
	"blank",
	"unknown",
	"undefined",
	"invalid",
	"default",
	"serial",
	"serialno",
	"serialnumber",
	"servicetag",
	"noserial",
	"noserialnumber",
	/* dmidecode, and BMCs that show SMBIOS as dmidecode does */
	"notspecified",
	"unspecified",
	"notavailable",
	"notapplicable",
	"notpresent",
	"notprovided",
	"notset",
	/* AMI Aptio */
	"defaultstring",
	"oem",
	"filledbyoem",
	"tobefilled",
	"tobefilledbyoem",
	"tobesetbyoem",
	"oemserialnumber",
	"assettag",
	"noassettag",
	"ssn12345678901234567",
	"msn12345678901234567",
	"bsn12345678901234567",
	"csn12345678901234567",
	/* boards that name the field */
	"systemserialnumber",
	"chassisserialnumber",
	"productserialnumber",
	"boardserialnumber",
	"baseboardserialnumber",
	"mbserialnumber",
	/* UUIDs, in any order of their bytes; the last is Dell's, of no service tag */
	"03000200040005000006000700080009",
	"123456781234567890abcddeefaabbcc",
	"123456781234123412341234567890ab",
	"00112233445566778899aabbccddeeff",
	"4c4c454400002010802080c04f202020",
};

/* Two ways to turn a UUID, by the hex digits of the text: firmware and BMC disagree
 * about its first three fields, and IPMI sends it back to front. One after the other
 * they lead through all orders, and after eight steps to the first. */
static const char *const uuid_turns[] = {
	"67452301-ab89-efcd-ghij-klmnopqrstuv",
	"uvstqrop-mnkl-ijgh-efcd-ab8967452301",
};

enum { UUID_ORDERS = 8, UUID_SIZE = 37 };

/* Turns the text, too, which has dashes then; 0 when it is no UUID. */
static int
turn_uuid(char text[BU_MACHINE_TEXT_SIZE], const char *turn)
{
	static const char places[] = "0123456789abcdefghijklmnopqrstuv";
	char digits[33];
	size_t count = 0;

	for (const char *p = text; *p; p++)
		if (*p != '-' && (!isxdigit((unsigned char)*p) || count >= 32))
			return 0;
		else if (*p != '-')
			digits[count++] = *p;
	if (count != 32)
		return 0;
	for (size_t i = 0; i < UUID_SIZE - 1; i++)
		text[i] =
			turn[i] == '-' ? '-' : digits[strchr(places, turn[i]) - places];
	text[UUID_SIZE - 1] = '\0';
	return 1;
}

/* Letters and digits alone, in lower case. */
static void
plain_of(const char *text, char ret[BU_MACHINE_TEXT_SIZE])
{
	size_t size = 0;

	for (; *text && size < BU_MACHINE_TEXT_SIZE - 1; text++)
		if (isalnum((unsigned char)*text))
			ret[size++] = (char)tolower((unsigned char)*text);
	ret[size] = '\0';
}

enum { SAME_MIN = 4, RISING_MIN = 6 };

/* "0000000000", "XXXX-XXXX", a UUID of nothing but f or of one byte. */
static int
is_one_character(const char *plain)
{
	size_t size = strlen(plain);
	size_t same = strspn(plain, (const char[]){plain[0], '\0'});
	size_t pairs = 2;

	while (size == 32 && pairs < size && strncmp(plain, plain + pairs, 2) == 0)
		pairs += 2;
	return (size == 32 && pairs == size) ||
	       (same == size &&
		(size >= SAME_MIN || *plain == '0' || (*plain == 'x' && size > 1)));
}

/* "0123456789", "123456", "01234567-89ab-cdef-...". */
static int
is_rising(const char *plain)
{
	static const char digits[] = "01234567890", hex[] = "0123456789abcdef0";
	size_t size = 1;

	if (*plain != '0' && *plain != '1')
		return 0;
	while (plain[size]) {
		const char *decimal = strchr(digits, plain[size - 1]);
		const char *any = strchr(hex, plain[size - 1]);

		if (!(decimal && decimal[1] == plain[size]) &&
		    !(any && any[1] == plain[size]))
			return 0;
		size++;
	}
	return size >= RISING_MIN;
}

static int
is_listed(const char *plain)
{
	for (size_t i = 0; i < BU_LEN(placeholders); i++)
		if (strcmp(plain, placeholders[i]) == 0)
			return 1;
	return 0;
}

static int
is_placeholder(const char *text)
{
	char plain[BU_MACHINE_TEXT_SIZE], turned[BU_MACHINE_TEXT_SIZE];

	plain_of(text, plain);
	if (!*plain || is_one_character(plain) || is_rising(plain) || is_listed(plain))
		return 1;
	memcpy(turned, plain, sizeof(turned));
	for (size_t i = 0; i < UUID_ORDERS && turn_uuid(turned, uuid_turns[i % 2]);
	     i++) {
		plain_of(turned, plain);
		if (is_listed(plain))
			return 1;
	}
	return 0;
}

void
bu_machine_text(const char *text, char ret[BU_MACHINE_TEXT_SIZE])
{
	size_t size;

	text += strspn(text, " \t");
	size = strlen(text);
	if (size >= BU_MACHINE_TEXT_SIZE)
		size = BU_MACHINE_TEXT_SIZE - 1;
	while (size > 0 && (text[size - 1] == ' ' || text[size - 1] == '\t'))
		size--;
	for (size_t i = 0; i < size; i++)
		ret[i] = (char)tolower((unsigned char)text[i]);
	ret[size] = '\0';
	if (is_placeholder(ret))
		ret[0] = '\0';
}

int
bu_machine_says(const char *text)
{
	char plain[BU_MACHINE_TEXT_SIZE];

	bu_machine_text(text, plain);
	return plain[0] != '\0';
}

static const char *
skip_blanks(const char *text)
{
	return text + strspn(text, " \t");
}

int
bu_machine_same(const char *a, const char *b)
{
	if (!bu_machine_says(a) || !bu_machine_says(b))
		return 0;
	for (;;) {
		a = skip_blanks(a);
		b = skip_blanks(b);
		if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
			return 0;
		if (!*a)
			return 1;
		a++;
		b++;
	}
}

void
bu_machine_key(const char *text, char ret[BU_MACHINE_TEXT_SIZE])
{
	size_t size = 0;

	bu_machine_text(text ? text : "", ret);
	for (const char *at = ret; *at; at++)
		if (*at != ' ' && *at != '\t')
			ret[size++] = *at;
	ret[size] = '\0';
}

/* The least of its orders. */
void
bu_machine_uuid_key(const char *text, char ret[BU_MACHINE_TEXT_SIZE])
{
	char turned[BU_MACHINE_TEXT_SIZE];
	size_t i = 0;

	bu_machine_key(text, ret);
	memcpy(turned, ret, sizeof(turned));
	while (i < UUID_ORDERS && turn_uuid(turned, uuid_turns[i % 2]))
		if (i++ == 0 || strcmp(turned, ret) < 0)
			memcpy(ret, turned, sizeof(turned));
}

int
bu_machine_same_uuid(const char *a, const char *b)
{
	char key_a[BU_MACHINE_TEXT_SIZE], key_b[BU_MACHINE_TEXT_SIZE];

	bu_machine_uuid_key(a, key_a);
	bu_machine_uuid_key(b, key_b);
	return key_a[0] && strcmp(key_a, key_b) == 0;
}
