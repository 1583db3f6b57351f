/* SPDX-License-Identifier: Apache-2.0 */
/* Debian's ipmi_sim as a BMC whose machine is on, with what a test adds to its two
 * files. */
#ifndef BU_TESTS_SUPPORT_IPMI_SIM_H
#define BU_TESTS_SUPPORT_IPMI_SIM_H

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/worker.h"
#include "tests/support/port.h"
#include "tests/support/unit.h"

struct bu_ipmi_sim {
	char dir[64], bmc[40], reference[80];
	pid_t pid;
};

static inline void
bu_ipmi_sim_put(const struct bu_ipmi_sim *sim, const char *name, const char *text,
		mode_t mode)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", sim->dir, name);

	ck_assert_int_eq(bu_file_write(path, text, strlen(text), mode, NULL), 0);
	ck_assert_int_eq(chmod(path, mode), 0);
}

static inline void
bu_ipmi_sim_secret(const struct bu_ipmi_sim *sim, const char *secret)
{
	bu_ipmi_sim_put(sim, "secret", secret, 0600);
}

static inline void
bu_ipmi_sim_write(struct bu_ipmi_sim *sim, const char *lan, const char *emu)
{
	int port = free_port_of(SOCK_DGRAM);
	bu_autofree char *first = bu_xasprintf(
		"name \"bmc\"\nset_working_mc 0x20\nstartlan 1\naddr 127.0.0.1 %d\n"
		"priv_limit admin\nguid 0102030405060708090a0b0c0d0e0f10\nendlan\n"
		"chassis_control \"%s/chassis\"\n%s"
		"user 2 true \"admin\" \"secret\" admin 10 none md2 md5 straight\n",
		port, sim->dir, lan);
	bu_autofree char *second = bu_xasprintf(
		"mc_setbmc 0x20\nmc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 "
		"0xf02 persist_sdr\nsel_enable 0x20 1000 0x0a\n%smc_enable 0x20\n",
		emu);

	snprintf(sim->bmc, sizeof(sim->bmc), "127.0.0.1:%d", port);
	bu_ipmi_sim_put(sim, "lan.conf", first, 0600);
	bu_ipmi_sim_put(sim, "emu", second, 0600);
	/* "ADDRESS get power boot ..." */
	bu_ipmi_sim_put(sim, "chassis",
			"#!/bin/sh\nfor word; do test $word = power && echo power:1\n"
			"test $word = boot && echo boot:default; done; exit 0\n",
			0700);
}

static inline void
bu_ipmi_sim_start(struct bu_ipmi_sim *sim, const char *lan, const char *emu)
{
	bu_autofree char *lan_path = NULL, *emu_path = NULL, *state = NULL, *log = NULL;
	struct bu_err err;

	strcpy(sim->dir, "/tmp/bringup-ipmi-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(sim->dir));
	lan_path = bu_xasprintf("%s/lan.conf", sim->dir);
	emu_path = bu_xasprintf("%s/emu", sim->dir);
	state = bu_xasprintf("%s/state", sim->dir);
	log = bu_xasprintf("%s/sim.log", sim->dir);
	snprintf(sim->reference, sizeof(sim->reference), "file:%s/secret", sim->dir);
	bu_ipmi_sim_write(sim, lan, emu);
	bu_ipmi_sim_secret(sim, "admin:secret\n");
	ck_assert_int_eq(mkdir(state, 0700), 0);
	sim->pid = bu_daemon_spawn(
		&(struct bu_daemon_opts){
			.argv = (const char *const[]){"ipmi_sim", "-c", lan_path, "-f",
						      emu_path, "-s", state, "-n",
						      NULL},
			.log_path = log},
		&err);
	ck_assert_msg(sim->pid > 0, "%s", err.text);
}

static inline void
bu_ipmi_sim_stop(struct bu_ipmi_sim *sim)
{
	bu_daemon_end(sim->pid, 1000);
	sim->pid = 0;
}

static inline void
bu_ipmi_sim_end(struct bu_ipmi_sim *sim)
{
	bu_ipmi_sim_stop(sim);
	ck_assert_int_eq(bu_remove_tree(sim->dir, NULL), 0);
}

#endif
