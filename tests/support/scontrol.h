/* SPDX-License-Identifier: Apache-2.0 */
/* A fake scontrol, a shell script; its files are told in rig.h, for rig.c. */
#ifndef BU_TESTS_SUPPORT_SCONTROL_H
#define BU_TESTS_SUPPORT_SCONTROL_H

static const char *const slurm_names[] = {"bin/scontrol", "bin/squeue", "bin/sbatch",
					  "bin/scancel"};

/* A fake Slurm: its one table of nodes is `sinfo`, or slurm.NODE for one of them. */
static const char scontrol_script[] =
	"case ${0##*/} in\n"
	"squeue) exec cat squeue ;;\n"
	"sbatch|scancel) echo \"${0##*/} $*\" >>scontrol.log; exit ;;\n"
	"esac\n"
	"line() {\n"
	"	cpu=0 reason= features='AvailableFeatures=(null)'\n"
	"	case $2 in\n"
	"	'') return ;;\n"
	"	idle) state=IDLE+DYNAMIC_NORM ;;\n"
	"	mixed) state=MIXED+DYNAMIC_NORM cpu=1 ;;\n"
	"	draining) state=MIXED+DRAIN cpu=1 reason='bringup: leaves' ;;\n"
	"	drained) state=IDLE+DRAIN reason='bringup: leaves' ;;\n"
	"	'down*') state=DOWN+NOT_RESPONDING reason='Not responding' ;;\n"
	"	inval) state=IDLE+DRAIN+INVALID_REG reason='gres/gpu count' ;;\n"
	"	*' '*) state=${2%% *} reason=${2#* } ;;\n"
	"	*) state=$2 ;;\n"
	"	esac\n"
	"	case $state in MIXED*|ALLOC*) cpu=1 ;; esac\n"
	"	test ! -e features.$1 || read -r features <features.$1\n"
	"	test -z \"$reason\" ||\n"
	"		reason=\" Reason=$reason [root@2026-11-22T09:25:18]\"\n"
	"	echo \"NodeName=$1 CPUAlloc=$cpu $features OS=Linux State=$state\" \\\n"
	"		\"ThreadsPerCore=1$reason\"\n"
	"	count=1\n"
	"}\n"
	"if test \"$2\" = show; then\n"
	"	test ! -e slurm.fail || { cat slurm.fail >&2; exit 1; }\n"
	"	test \"$3\" != reservation || { cat reservations; exit; }\n"
	"	count=\n"
	"	for n in 1 2 3 4 5 6 7 8; do\n"
	"		file=sinfo word=\n"
	"		test ! -e slurm.node00$n || file=slurm.node00$n\n"
	"		read -r word <$file\n"
	"		line node00$n \"$word\"\n"
	"	done\n"
	"	test -n \"$count\" || echo No nodes in the system; exit 0\n"
	"fi\n"
	"echo \"$*\" >>scontrol.log\n"
	"test ! -e slurm.refuse || { cat slurm.refuse >&2; exit 1; }\n"
	"case $3 in availablefeatures=*)\n"
	"	IFS=,\n"
	"	for n in ${2#*=}; do\n"
	"		echo \"AvailableFeatures=${3#*=} X=1\" >features.\"$n\"\n"
	"	done\n"
	"	exit ;;\n"
	"esac\n"
	"n=${2#*=}\n"
	"test ! -e slurm.$n.next || mv slurm.$n.next slurm.$n\n"
	"test ! -e sinfo.next || mv sinfo.next sinfo\n";

#endif
