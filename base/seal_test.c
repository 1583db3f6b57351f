/* SPDX-License-Identifier: Apache-2.0 */
/* Sealed streams: opened whole, refused when anything of them is not as it was. */
#include "base/seal.h"

#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/worker.h"
#include "tests/support/unit.h"

struct bytes {
	unsigned char *at;
	size_t size, cap;
};

static char identity[BU_SEAL_TEXT_SIZE], recipient[BU_SEAL_TEXT_SIZE];

static int
keep(const void *data, size_t size, void *arg, struct bu_err *err)
{
	struct bytes *to = arg;

	to->at = bu_xgrow(to->at, &to->cap, to->size + size + 1, 1);
	memcpy(to->at + to->size, data, size);
	to->size += size;
	return 0;
}

static struct bytes
text_of(size_t size)
{
	struct bytes text = {bu_xmalloc(size + 1), size, size + 1};

	for (size_t i = 0; i < size; i++)
		text.at[i] = (unsigned char)(i * 7 + i / 251);
	return text;
}

/* In pieces of this many bytes. */
static int
feed(struct bu_seal *seal, const struct bytes *from, size_t piece, struct bu_err *err)
{
	int rc = 0;

	for (size_t at = 0; rc == 0 && at < from->size; at += piece)
		rc = bu_seal_add(seal, from->at + at,
				 from->size - at < piece ? from->size - at : piece,
				 err);
	return rc == 0 ? bu_seal_end(seal, err) : -1;
}

static struct bytes
sealed_of(const struct bytes *text, size_t piece)
{
	struct bytes sealed = {0};
	struct bu_seal *seal = bu_seal_create(recipient, keep, &sealed, NULL);

	ck_assert_ptr_nonnull(seal);
	ck_assert_int_eq(feed(seal, text, piece, NULL), 0);
	bu_seal_destroy(seal);
	return sealed;
}

/* The kind of the error; NONE = it opens. */
static enum bu_err_kind
open_kind(const struct bytes *sealed, struct bytes *ret)
{
	struct bu_err err = {0};
	struct bu_seal *seal = bu_unseal_create(identity, keep, ret, NULL);

	ret->size = 0;
	if (feed(seal, sealed, 70001, &err) == 0)
		err.kind = BU_ERR_NONE;
	bu_seal_destroy(seal);
	return err.kind;
}

static void
opens_as(const struct bytes *sealed, const struct bytes *text)
{
	struct bytes got = {0};

	ck_assert_int_eq(open_kind(sealed, &got), BU_ERR_NONE);
	ck_assert_uint_eq(got.size, text->size);
	ck_assert(got.size == 0 || memcmp(got.at, text->at, got.size) == 0);
	free(got.at);
}

START_TEST(opens_what_it_sealed)
{
	static const size_t sizes[] = {0,
				       1,
				       BU_SEAL_CHUNK - 1,
				       BU_SEAL_CHUNK,
				       BU_SEAL_CHUNK + 1,
				       2 * BU_SEAL_CHUNK,
				       3 * BU_SEAL_CHUNK + 5};
	static const size_t pieces[] = {997, BU_SEAL_CHUNK, 5 * BU_SEAL_CHUNK};

	for (size_t i = 0; i < BU_LEN(sizes); i++) {
		struct bytes text = text_of(sizes[i]);
		size_t chunks = (sizes[i] + BU_SEAL_CHUNK - 1) / BU_SEAL_CHUNK;

		for (size_t k = 0; k < BU_LEN(pieces); k++) {
			struct bytes sealed = sealed_of(&text, pieces[k]);

			ck_assert_uint_eq(sealed.size,
					  BU_SEAL_HEADER + sizes[i] +
						  BU_SEAL_TAG * (chunks ? chunks : 1));
			opens_as(&sealed, &text);
			free(sealed.at);
		}
		free(text.at);
	}
}
END_TEST

/* The same text is another stream each time, and nothing of it shows. */
START_TEST(shows_nothing)
{
	struct bytes text = text_of(400);
	struct bytes one = sealed_of(&text, 400), two = sealed_of(&text, 400);

	ck_assert_int_ne(memcmp(one.at + BU_SEAL_HEADER, two.at + BU_SEAL_HEADER, 100),
			 0);
	ck_assert_ptr_null(memmem(one.at, one.size, text.at, 8));
	free(one.at);
	free(two.at);
	free(text.at);
}
END_TEST

static void
refuses_each_byte(const struct bytes *sealed, size_t from, size_t to)
{
	struct bytes got = {0};

	for (size_t i = from; i < to; i++) {
		sealed->at[i] ^= (unsigned char)(1 << i % 8);
		ck_assert_msg(open_kind(sealed, &got) != BU_ERR_NONE,
			      "byte %zu was changed, and it opens", i);
		sealed->at[i] ^= (unsigned char)(1 << i % 8);
	}
	ck_assert_int_eq(open_kind(sealed, &got), BU_ERR_NONE);
	free(got.at);
}

START_TEST(a_changed_byte_is_found)
{
	struct bytes little = text_of(200), much = text_of(BU_SEAL_CHUNK + 50);
	struct bytes small = sealed_of(&little, 200), large = sealed_of(&much, 4096);

	refuses_each_byte(&small, 0, small.size);
	refuses_each_byte(&large, 0, BU_SEAL_HEADER + 16);
	refuses_each_byte(&large, BU_SEAL_HEADER + BU_SEAL_CHUNK - 16, large.size);
	free(little.at);
	free(much.at);
	free(small.at);
	free(large.at);
}
END_TEST

START_TEST(a_cut_or_longer_stream_is_found)
{
	struct bytes text = text_of(3 * BU_SEAL_CHUNK), got = {0};
	struct bytes sealed = sealed_of(&text, 4096), part;

	for (size_t chunk = 0; chunk <= 3; chunk++)
		for (int off = -1; off <= 1; off++) {
			part = sealed;
			part.size = BU_SEAL_HEADER +
				    chunk * (BU_SEAL_CHUNK + BU_SEAL_TAG) + (size_t)off;
			if (part.size != sealed.size && part.size < sealed.size)
				ck_assert_int_ne(open_kind(&part, &got), BU_ERR_NONE);
		}
	for (part = sealed, part.size = 0; part.size < BU_SEAL_HEADER; part.size++)
		ck_assert_int_eq(open_kind(&part, &got), BU_ERR_INVAL);
	keep("", 1, &sealed, NULL);
	ck_assert_int_eq(open_kind(&sealed, &got), BU_ERR_VERIFY);
	free(got.at);
	free(text.at);
	free(sealed.at);
}
END_TEST

/* Chunks of one stream, all whole, in another order, twice or left out. */
START_TEST(another_order_is_found)
{
	static const int orders[][4] = {{1, 0, 2, -1}, {0, 2, -1}, {0, 0, 1, 2},
					{0, 1, 1, 2},  {2, -1},    {0, 1, 2, 2}};
	struct bytes text = text_of(3 * BU_SEAL_CHUNK), got = {0};
	struct bytes sealed = sealed_of(&text, 4096);
	size_t unit = BU_SEAL_CHUNK + BU_SEAL_TAG;

	for (size_t i = 0; i < BU_LEN(orders); i++) {
		struct bytes mixed = {0};

		keep(sealed.at, BU_SEAL_HEADER, &mixed, NULL);
		for (int k = 0; k < 4 && orders[i][k] >= 0; k++)
			keep(sealed.at + BU_SEAL_HEADER + (size_t)orders[i][k] * unit,
			     unit, &mixed, NULL);
		ck_assert_int_eq(open_kind(&mixed, &got), BU_ERR_VERIFY);
		free(mixed.at);
	}
	free(got.at);
	free(text.at);
	free(sealed.at);
}
END_TEST

START_TEST(another_identity_opens_nothing)
{
	char other[BU_SEAL_TEXT_SIZE], others[BU_SEAL_TEXT_SIZE];
	struct bytes text = text_of(10), sealed = sealed_of(&text, 10), got = {0};
	struct bu_err err = {0};
	struct bu_seal *seal;

	bu_seal_pair(other, others);
	seal = bu_unseal_create(other, keep, &got, NULL);
	ck_assert_int_eq(feed(seal, &sealed, 64, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_DENIED);
	ck_assert_ptr_nonnull(strstr(err.text, recipient));
	ck_assert_uint_eq(got.size, 0);
	bu_seal_destroy(seal);
	free(text.at);
	free(sealed.at);
}
END_TEST

START_TEST(a_typing_error_is_found)
{
	struct bytes none = {0};
	struct bu_err err = {0};

	ck_assert_int_eq(bu_seal_recipient_ok(recipient), 1);
	ck_assert_int_eq(bu_seal_recipient_ok(identity), 0);
	for (size_t i = 0; recipient[i]; i++) {
		char typed[BU_SEAL_TEXT_SIZE];

		strcpy(typed, recipient);
		typed[i] = typed[i] == 'a' ? 'b' : 'a';
		ck_assert_int_eq(bu_seal_recipient_ok(typed), 0);
		ck_assert_ptr_null(bu_seal_create(typed, keep, &none, &err));
		ck_assert_int_eq(err.kind, BU_ERR_INVAL);
		typed[i] = '\0';
		ck_assert_int_eq(bu_seal_recipient_ok(typed), 0);
	}
	ck_assert_ptr_null(bu_unseal_create(recipient, keep, &none, &err));
	ck_assert_uint_eq(none.size, 0);
}
END_TEST

/* The secret that is kept opens this stream, and no other one to the same recipient. */
START_TEST(the_maker_opens_it_again)
{
	struct bytes text = text_of(BU_SEAL_CHUNK + 9), sealed = {0}, got = {0};
	struct bu_seal *seal = bu_seal_create(recipient, keep, &sealed, NULL), *again;
	struct bytes other = sealed_of(&text, 4096);
	struct bu_err err = {0};

	ck_assert_int_eq(feed(seal, &text, 4096, NULL), 0);
	again = bu_unseal_again(seal, keep, &got);
	ck_assert_int_eq(feed(again, &sealed, 4096, NULL), 0);
	ck_assert_uint_eq(got.size, text.size);
	bu_seal_destroy(again);
	again = bu_unseal_again(seal, keep, &got);
	ck_assert_int_eq(feed(again, &other, 4096, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	bu_seal_destroy(again);
	bu_seal_destroy(seal);
	free(text.at);
	free(sealed.at);
	free(got.at);
	free(other.at);
}
END_TEST

/* Another program, written from seal.h alone: seal|open KEY IN OUT. */
static const char other_program[] =
	"import sys, os\n"
	"try:\n"
	"    from cryptography.hazmat.primitives.asymmetric import x25519\n"
	"    from cryptography.hazmat.primitives.ciphers.aead import AESGCM\n"
	"    from cryptography.hazmat.primitives.kdf.hkdf import HKDF\n"
	"    from cryptography.hazmat.primitives import hashes, serialization as s\n"
	"except ImportError:\n"
	"    sys.exit(77)\n"
	"raw = dict(encoding=s.Encoding.Raw, format=s.PublicFormat.Raw)\n"
	"key = bytes.fromhex(sys.argv[2].rsplit('-', 1)[1][:64])\n"
	"data = open(sys.argv[3], 'rb').read()\n"
	"def cipher(mine, theirs, head):\n"
	"    shared = mine.exchange(x25519.X25519PublicKey.from_public_bytes(theirs))\n"
	"    return AESGCM(HKDF(hashes.SHA256(), 32, head[16:80], head).derive(shared))\n"
	"def nonce(i, last):\n"
	"    return bytes(3) + i.to_bytes(8, 'big') + bytes([last])\n"
	"def parts(data, unit):\n"
	"    cut = [data[i:i + unit] for i in range(0, len(data), unit)] or [b'']\n"
	"    return [(p, nonce(i, i == len(cut) - 1)) for i, p in enumerate(cut)]\n"
	"if sys.argv[1] == 'seal':\n"
	"    mine = x25519.X25519PrivateKey.generate()\n"
	"    head = b'bringup-seal' + bytes([0, 0, 0, 1])\n"
	"    head += mine.public_key().public_bytes(**raw) + key\n"
	"    c = cipher(mine, key, head)\n"
	"    out = head + b''.join(c.encrypt(n, p, None) for p, n in parts(data, 65536))\n"
	"else:\n"
	"    head, mine = data[:80], x25519.X25519PrivateKey.from_private_bytes(key)\n"
	"    c = cipher(mine, head[16:48], head)\n"
	"    out = b''.join(c.decrypt(n, p, None) for p, n in parts(data[80:], 65552))\n"
	"open(sys.argv[4], 'wb').write(out)\n";

/* 0, or 77 where it has no library. */
static int
ask_other(const char *dir, const char *verb, const char *key, const struct bytes *in,
	  struct bytes *ret)
{
	bu_autofree char *from = bu_xasprintf("%s/in", dir);
	bu_autofree char *to = bu_xasprintf("%s/out", dir);
	const char *const argv[] = {"python3", "-c", other_program, verb, key,
				    from,      to,   NULL};
	struct bu_job_end end = {0};
	int code;

	ck_assert_int_eq(bu_file_write(from, in->at, in->size, 0600, NULL), 0);
	ck_assert_int_eq(bu_job_wait(&(struct bu_job_opts){.argv = argv}, &end, NULL),
			 0);
	code = end.exit_code;
	ck_assert_msg(code == 0 || code == 77, "%s", end.errs);
	bu_job_end_fini(&end);
	if (code == 0)
		ret->at = (unsigned char *)bu_file_read(to, 0, &ret->size, NULL);
	return code;
}

START_TEST(another_program_agrees)
{
	static const size_t sizes[] = {0, 77, BU_SEAL_CHUNK, 2 * BU_SEAL_CHUNK + 3};
	char dir[] = "/tmp/bringup-seal-XXXXXX";

	BU_NEEDS("python3");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	for (size_t i = 0; i < BU_LEN(sizes); i++) {
		struct bytes text = text_of(sizes[i]), sealed = sealed_of(&text, 4096);
		struct bytes opened = {0}, theirs = {0};

		if (ask_other(dir, "open", identity, &sealed, &opened) == 77) {
			puts("skipped: another_program_agrees needs "
			     "python3-cryptography");
			break;
		}
		ck_assert_uint_eq(opened.size, text.size);
		ck_assert_int_eq(memcmp(opened.at, text.at, text.size), 0);
		ck_assert_int_eq(ask_other(dir, "seal", recipient, &text, &theirs), 0);
		opens_as(&theirs, &text);
		free(text.at);
		free(sealed.at);
		free(opened.at);
		free(theirs.at);
	}
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}
END_TEST

int
main(int argc, char **argv)
{
	const TTest *const tests[] = {
		opens_what_it_sealed,    shows_nothing,
		a_changed_byte_is_found, a_cut_or_longer_stream_is_found,
		another_order_is_found,  another_identity_opens_nothing,
		a_typing_error_is_found, the_maker_opens_it_again,
		another_program_agrees};

	if (argc > 1)
		return 2;
	bu_seal_pair(identity, recipient);
	return bu_unit_run("seal", tests, BU_LEN(tests));
}
