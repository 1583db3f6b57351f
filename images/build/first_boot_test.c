/* SPDX-License-Identifier: Apache-2.0 */
/* What cloud-init runs on a disk that bringup did not build: the agent lies where it is
 * started from, and the node's identity is on its file system alone. */
#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/file.h"
#include "tests/support/unit.h"

static char dir[40];

/* With the test's folder as the present one; what the shell ends with. */
static int
sh(const char *commands)
{
	bu_autofree char *text = bu_xasprintf("cd %s && { %s; }", dir, commands);

	return system(text);
}

static void
works(const char *commands)
{
	ck_assert_msg(sh(commands) == 0, "%s", commands);
}

/* which URL AGENT_URL DIGEST: what lies beside the program. serve: what is answered
 * there, another such file among it. */
static const char says_which[] =
	"which() { printf '{\"url\":\"%s\",\"agent_url\":\"%s\",\"agent_digest\":\"%s\"}' "
	"\"$@\"; }\n"
	"serve() { printf '#cloud-config\\n{\"write_files\":[{\"path\":\"/etc/other\","
	"\"content\":\"eA==\"},{\"path\":\"/usr/lib/bringup/first-boot.json\","
	"\"content\":\"%s\"}]}\\n' \"$(which \"$@\" | base64 -w 0)\" >user-data; }\n";

/* A bundle of three files, and an identity. */
static void
begin(void)
{
	strcpy(dir, "/tmp/bringup-first-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	works("mkdir bundle seed root && cd bundle && echo script >a && echo library "
	      ">b && : >list && for i in a:agent:493 b:lib/libc.so.6:420; do f=${i%%:*} "
	      "m=${i##*:} p=${i#*:} p=${p%:*} h=$(sha256sum <$f | cut -c 1-64); cp $f "
	      "$h; echo "
	      "\"{\\\"path\\\":\\\"$p\\\",\\\"mode\\\":$m,\\\"sha256\\\":\\\"$h\\\"},\" "
	      ">>list; done && { echo '{\"files\":['; cat list | tr -d '\\n' | sed "
	      "'s/,$//'; echo ]}; } >bundle.json && cd ../seed && for f in key.pem "
	      "cert.pem ca.pem agent.json stamp.json stamp.sig; do echo secret of $f "
	      ">$f; done; echo {} >meta-data; cd .. && "
	      "mkdir -p root/usr/lib/bringup");
	{
		bu_autofree char *path = bu_xasprintf("%s/which", dir);

		ck_assert_int_eq(bu_file_write_text(path, 0644, NULL, "%s", says_which),
				 0);
	}
}

static int
run(const char *before)
{
	bu_autofree char *line = bu_xasprintf(
		". ./which; digest=$(sha256sum <bundle/bundle.json | cut -c 1-64); %s; "
		"serve x file://$PWD/bundle $digest; which file://$PWD/user-data "
		"file:///none old >root/usr/lib/bringup/first-boot.json; "
		"BRINGUP_ROOT=$PWD/root BRINGUP_CIDATA=$PWD/seed python3 " BU_SRCDIR
		"/images/build/recipes/first-boot 2>says",
		before);

	return sh(line);
}

static void
end(void)
{
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}

START_TEST(the_agent_lies_where_it_is_started_from)
{
	BU_NEEDS("python3");
	begin();
	ck_assert_int_eq(run(":"), 0);
	works("cd root/usr/lib/bringup && test \"$(cat agent)\" = script && "
	      "test \"$(cat current/lib/libc.so.6)\" = library && "
	      "test \"$(readlink current)\" = slots/$(sha256sum "
	      "<../../../../bundle/bundle.json | cut -c 1-16) && "
	      "test \"$(readlink conf)\" = current/ibv && "
	      "cmp current/bundle.json ../../../../bundle/bundle.json && "
	      "test $(stat -c %a agent current/agent current/lib/libc.so.6 | tr -d "
	      "'\\n') = 755755644");
	works("cd root/var/lib/bringup && test $(stat -c %a .) = 700 && "
	      "test $(cat * | grep -c 'secret of') = 6 && "
	      "test \"$(cat key.pem)\" = 'secret of key.pem' && "
	      "test $(stat -c %a * | sort -u) = 600");
	works("test \"$(ls seed)\" = meta-data");
	end();
}
END_TEST

/* The list or a file that is another one: nothing is in the place that is started, and
 * the identity stays for the next try. */
START_TEST(what_was_not_meant_is_not_started)
{
	static const char *const wrongs[] = {
		"echo ' ' >>bundle/bundle.json",
		"digest=${digest%?}x",
		"for f in bundle/????????????????????*; do echo more >>$f; done",
		"sed -i 's,lib/libc,../../../../libc,' bundle/bundle.json; "
		"digest=$(sha256sum <bundle/bundle.json | cut -c 1-64)",
		"sed -i 's,\"lib/libc,\"/tmp/libc,' bundle/bundle.json; "
		"digest=$(sha256sum <bundle/bundle.json | cut -c 1-64)",
	};

	BU_NEEDS("python3");
	for (size_t i = 0; i < BU_LEN(wrongs); i++) {
		begin();
		ck_assert_int_ne(run(wrongs[i]), 0);
		works("! test -e root/usr/lib/bringup/current && "
		      "! test -e root/usr/lib/bringup/agent");
		works("grep -q '^bringup: ' says || { cat says; exit 1; }");
		works("test $(ls seed | wc -l) = 7 && ! test -e root/var/lib/bringup");
		works("! ls -d libc* /tmp/libc* 2>/dev/null | grep .");
		end();
	}
}
END_TEST

/* Started by this, with its own arguments. */
static int
run_by(const char *python)
{
	bu_autofree char *path = bu_xasprintf("%s/by.py", dir);
	bu_autofree char *line = bu_xasprintf(
		". ./which; digest=$(sha256sum <bundle/bundle.json | cut -c 1-64); "
		"serve x file://$PWD/bundle $digest; which file://$PWD/user-data "
		"file:///none old >root/usr/lib/bringup/first-boot.json; "
		"BRINGUP_ROOT=%s/root BRINGUP_CIDATA=%s/seed timeout 60 python3 by.py " BU_SRCDIR
		"/images/build/recipes/first-boot $digest 2>says",
		dir, dir);

	ck_assert_int_eq(bu_file_write_text(path, 0644, NULL, "%s", python), 0);
	return sh(line);
}

/* Cuts the power where the first byte of the seed would go: what no sync has come
 * after, a name in a folder among it, is lost. */
static const char no_power[] =
	"import builtins, os, runpy, sys\n"
	"program, digest = sys.argv[1:]\n"
	"state = os.environ['BRINGUP_ROOT'] + '/var/lib/bringup'\n"
	"seed = os.environ['BRINGUP_CIDATA']\n"
	"safe, replace, sync, opened = set(), os.replace, os.sync, open\n"
	"named = set()\n"
	"def on_replace(old, new):\n"
	"    replace(old, new)\n"
	"    named.add(new)\n"
	"def on_sync():\n"
	"    safe.update(named)\n"
	"def on_open(path, mode='r', *more, **others):\n"
	"    if str(path).startswith(seed) and mode != 'rb':\n"
	"        for name in os.listdir(seed):\n"
	"            if name != 'meta-data' and f'{state}/{name}' not in safe:\n"
	"                sys.exit(f'{name} is lost with the power')\n"
	"    return opened(path, mode, *more, **others)\n"
	"os.replace, os.sync, builtins.open = on_replace, on_sync, on_open\n"
	"runpy.run_path(program, run_name='__main__')\n";

START_TEST(no_cut_of_power_loses_the_identity)
{
	BU_NEEDS("python3");
	begin();
	ck_assert_msg(run_by(no_power) == 0, "see says in %s", dir);
	works("test $(cat root/var/lib/bringup/* | grep -c 'secret of') = 6");
	works("test \"$(ls seed)\" = meta-data");
	end();
}
END_TEST

/* An appliance that goes away in the midst of each first answer. */
static const char cut_server[] =
	"import http.server, json, os, runpy, sys, threading, time\n"
	"program, digest = sys.argv[1:]\n"
	"begun, time.sleep = set(), lambda seconds: None\n"
	"spent = os.path.exists('spent')\n"
	"class Cut(http.server.SimpleHTTPRequestHandler):\n"
	"    def do_GET(self):\n"
	"        if spent and self.path == '/user-data':\n"
	"            return self.send_error(404)\n"
	"        body = open(os.getcwd() + self.path, 'rb').read()\n"
	"        self.send_response(200)\n"
	"        self.send_header('Content-Length', str(len(body)))\n"
	"        self.end_headers()\n"
	"        whole = self.path in begun\n"
	"        begun.add(self.path)\n"
	"        self.wfile.write(body if whole else body[:3])\n"
	"    def log_message(self, *words):\n"
	"        pass\n"
	"server = http.server.HTTPServer(('127.0.0.1', 0), Cut)\n"
	"threading.Thread(target=server.serve_forever, daemon=True).start()\n"
	"url = f'http://127.0.0.1:{server.server_port}'\n"
	"which = {'url': url + '/user-data', 'agent_url': url + '/bundle',\n"
	"         'agent_digest': digest}\n"
	"with open('root/usr/lib/bringup/first-boot.json', 'w') as file:\n"
	"    json.dump(which, file)\n"
	"runpy.run_path(program, run_name='__main__')\n"
	"assert len(begun) == (3 if spent else 1), begun\n";

START_TEST(an_answer_that_breaks_off_is_asked_for_again)
{
	BU_NEEDS("python3");
	for (int spent = 0; spent < 2; spent++) {
		begin();
		if (spent)
			works("touch spent");
		ck_assert_msg(run_by(cut_server) == 0, "see says in %s", dir);
		works("test \"$(cat root/usr/lib/bringup/agent)\" = script");
		end();
	}
}
END_TEST

/* Its unit starts it again: what has moved is not looked for a second time. */
START_TEST(one_that_was_cut_off_goes_on)
{
	BU_NEEDS("python3");
	begin();
	ck_assert_int_ne(run("rm seed/ca.pem"), 0);
	works("test $(ls seed | wc -l) = 6");
	works("echo secret of ca.pem >seed/ca.pem");
	ck_assert_int_eq(run("rm seed/key.pem"), 0);
	works("test $(cat root/var/lib/bringup/* | grep -c 'secret of') = 6");
	ck_assert_int_eq(run(":"), 0);
	works("test $(cat root/var/lib/bringup/* | grep -c 'secret of') = 6");
	works("test \"$(ls seed)\" = meta-data");
	end();
}
END_TEST

BU_UNIT("first_boot", the_agent_lies_where_it_is_started_from,
	what_was_not_meant_is_not_started, no_cut_of_power_loses_the_identity,
	an_answer_that_breaks_off_is_asked_for_again, one_that_was_cut_off_goes_on)
