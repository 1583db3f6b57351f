#!/usr/bin/env bash
# Renames files and identifiers toward the words of the field, over the whole tree.
#
#	rename.sh TREE        (a clean checkout of the branch that has gate's folders)
#
# Afterwards in TREE: clang-format has run, nothing is committed. Then:
#	make -C build/gcc all units; docs/update; tests/run-units ...; make lint; git commit
set -euo pipefail
cd -- "${1:?the tree}"
[[ -z $(git status --porcelain --untracked-files=no) ]] || { echo "rename.sh: the tree is not clean" >&2; exit 1; }
python3 - <<'PY'
import os, re, subprocess, sys

def git(*a): return subprocess.check_output(('git',) + a, text=True)
tracked = [f for f in git('ls-files').split('\n') if f]

# ---------------------------------------------------------------- files
C = 'provisioner/gate/campaign/'
MOVE = {}
def move(a, b):
    if a in tracked: MOVE[a] = b
    elif b not in tracked: print('rename.sh: not there:', a, file=sys.stderr)
for f in tracked:
    if f.startswith(C + 'across'):
        MOVE[f] = C + 'leaf_campaign' + f[len(C + 'across'):]
move('tests/support/across.h', 'tests/support/leaf_campaign.h')
move(C + 'ways.c', C + 'paths.c')
move(C + 'ways_test.c', C + 'paths_test.c')
move(C + 'met.c', C + 'pair_index.c')
move('provisioner/gate/certify/say.c', 'provisioner/gate/certify/node_reason.c')
for e in ('.c', '.h'):
    move('provisioner/node/twins' + e, 'provisioner/node/identity_index' + e)
    move('model/deed' + e, 'model/power_request' + e)
    move('provisioner/rollout/travel' + e, 'provisioner/rollout/agent_upgrade' + e)
    move('agent/travel' + e, 'agent/agent_upgrade' + e)
    move('agent/aside' + e, 'agent/child_probe' + e)
    move('checks/apart' + e, 'checks/child_check' + e)
    move('agent/load' + e, 'agent/memory_boot' + e)
    move('images/install/parts' + e, 'images/install/part_writer' + e)
move('provisioner/node/anew.c', 'provisioner/node/boot_restart.c')
move('provisioner/rollout/travel_test.c', 'provisioner/rollout/agent_upgrade_test.c')
move('agent/travel_test.c', 'agent/agent_upgrade_test.c')
move('provisioner/api/travel_test.c', 'provisioner/api/agent_upgrade_test.c')
move('agent/aside_test.c', 'agent/child_probe_test.c')
move('checks/apart_test.c', 'checks/child_check_test.c')
move('provisioner/power/load.c', 'provisioner/power/boot_medium.c')
move('provisioner/power/load_test.c', 'provisioner/power/boot_medium_test.c')
move('provisioner/plan/identity.c', 'provisioner/plan/machine_identity.c')
move('provisioner/plan/identity_test.c', 'provisioner/plan/machine_identity_test.c')
move('provisioner/power/redfish/identity.c', 'provisioner/power/redfish/machine.c')
move('provisioner/power/redfish/identity_test.c', 'provisioner/power/redfish/machine_test.c')

# ---------------------------------------------------------------- identifiers
# Everywhere, in code, comments, scripts and pages: whole words.
EVERYWHERE = [
    (r'\bbu_across\b', 'bu_leaf_campaign'), (r'\bbu_across_(?=\w)', 'bu_leaf_campaign_'),
    (r'\bBU_ACROSS_', 'BU_LEAF_CAMPAIGN_'),
    (r'\bbu_ways_find\b', 'bu_paths_find'), (r'\bbu_way\b', 'bu_traced_path'),
    (r'\bbu_gate_met_open\b', 'bu_pair_index_open'), (r'\bbu_gate_met_close\b', 'bu_pair_index_close'),
    (r'\bbu_gate_met\b', 'bu_pair_index_find'), (r'\bbu_gate_pairs_met\b', 'bu_pair_index_pairs'),
    (r'\bbu_gate_say_of_rail\b', 'bu_node_reason_set_of_rail'), (r'\bbu_gate_say_all\b', 'bu_node_reason_set_all'),
    (r'\bbu_gate_say\b', 'bu_node_reason_set'), (r'\bbu_gate_says\b', 'bu_node_reason_make'),
    (r'\bbu_gate_name_rail\b', 'bu_node_reason_name_rail'),
    (r'\blive\.says\b', 'live.reason'), (r'\bsays_rail\b', 'reason_rail'),
    (r'\bbu_twins_(?=\w)', 'bu_identity_index_'),
    (r'\bbu_anew_is\b', 'bu_boot_restart_is'), (r'\bbu_anew\b', 'bu_boot_restart'), (r'\blive\.anew\b', 'live.boot_restart'),
    (r'\bbu_reconcile_may_begin_anew\b', 'bu_reconcile_may_restart_boot'),
    (r'\bbu_reconcile_begins_anew\b', 'bu_reconcile_boot_restarts'),
    (r'\bBU_DEEDS\b', 'BU_POWER_REQUESTS'), (r'\bBU_DEED_', 'BU_POWER_REQUEST_'),
    (r'\bbu_deed_names\b', 'bu_power_request_names'), (r'\bbu_deed\b', 'bu_power_request_op'),
    (r'\bbu_power_deed\b', 'bu_node_power_request'), (r'\bbu_over_deed\b', 'bu_over_power_request'),
    (r'\bbu_power_wish\b', 'bu_power_request_run'), (r'\bbu_wish_(?=runs|restarts|go)', 'bu_power_request_'),
    (r'\bbu_wishes_drop\b', 'bu_power_requests_drop'), (r'\bBU_WISH_', 'BU_POWER_RUN_'),
    (r'\bbu_planned_wish\b', 'bu_planned_request'), (r'\bbu_api_wish\b', 'bu_api_plan_request'),
    (r'\bbu_aside\b', 'bu_child_probe'), (r'\bbu_aside_(?=\w)', 'bu_child_probe_'),
    (r'(?<![a-z0-9])bu_apart_(?=\w)', 'bu_child_check_'), (r'\bBU_APART_', 'BU_CHILD_CHECK_'),
    (r'\bbu_travels\b', 'bu_agent_upgrades'), (r'\bbu_travels_(?=\w)', 'bu_agent_upgrades_'),
    (r'\bbu_travel_(?=\w)', 'bu_agent_upgrade_'), (r'\bBU_TRAVELS_', 'BU_AGENT_UPGRADES_'),
    (r'\bopen_travels\b', 'open_upgrades'), (r'\btravel_work\b', 'upgrade_work'),
]
def under(*heads): return lambda f: any(f.startswith(h) for h in heads)
GATE = under('provisioner/gate/', 'tests/support/', 'tests/sim/gate')
# In files that the first column takes: code and comments.
SCOPED = [
    (GATE, [(r'\bbu_met\b', 'bu_indexed_pair'), (r'\bgate->across_seen\b', 'gate->leaves_seen'), (r'\bgate\.across_seen\b', 'gate.leaves_seen'),
            (r'\bint across_seen;', 'int leaves_seen;'), (r'\bgate->across\b', 'gate->leaf_accused'), (r'\bgate\.across\b', 'gate.leaf_accused'),
            (r'\bjson_t \*across;', 'json_t *leaf_accused;'), (r'\blive(\.|->)across\b', r'live\1leaf_campaign')]),
    (under(C + 'campaign.h'), [(r'\*met;(\s*/\* met\.c)', r'*index;\1')]),
    (under('provisioner/node/'), [(r'\blive\.across\b', 'live.leaf_campaign'), (r'^\t\} across;', '\t} leaf_campaign;'),
            (r'\bstruct bu_reason says;', 'struct bu_reason reason;'), (r'\bstruct bu_boot_restart anew;', 'struct bu_boot_restart boot_restart;')]),
    (under('agent/'), [(r'\bbu_load_item\b', 'bu_memory_boot_item'), (r'\bbu_load_after\b', 'bu_memory_boot_after')]),
    (under('images/install/'), [(r'\bbu_parts_(?=\w)', 'bu_part_writer_')]),
    (under('provisioner/plan/'), [(r'\bbu_identity_(?=kind\b|index\b|find\b)', 'bu_machine_identity_'), (r'\bbu_identity\b', 'bu_machine_identity'),
            (r'\bBU_IDENTITY_', 'BU_MACHINE_IDENTITY_')]),
    (under('tests/support/rows.h'), [(r'->says\b', '->reason')]),
]
# Tests whose paper switches choose paths.
ROUTES = [f for f in tracked if f.endswith('.c') and os.path.isfile(f) and not os.path.islink(f) and '"tests/support/across.h"' in open(f).read()]
# In code alone: not in comments, not in texts.
CODE = [
    (lambda f: re.match(re.escape(C) + r'(across|spines|ways|switches)[a-z_]*\.[ch]$', f) and not f.endswith('/spines_test.c'),
     [(r'(?<!\bt->)(?<!topology\.)(?<!topology->)(?<!ways\.)(?<!ways->)(?<!live\.)(?<!\w)across\b(?! = 1)', 'campaign')]),
    (lambda f: f in ('tests/support/between.h', 'tests/support/counted.h') or (f.startswith('provisioner/gate/') and f.endswith('_test.c')),
     [(r'(?<=\bb->)across\b', 'campaign'), (r'(?<=\bb\.)across\b', 'campaign'), (r'(?<=\bof->)across\b', 'campaign'),
      (r'(?<=\bspines->)across\b', 'campaign'), (r'(?<=\bspines\.)across\b', 'campaign'),
      (r'(?<=[{\t ])\.across = &', '.campaign = &'), (r'(struct bu_leaf_campaign \*?)across\b', r'\1campaign')]),
    (lambda f: f in (C + 'met.c', C + 'answer.c', C + 'campaign.h', C + 'campaign_state.c', C + 'answer_test.c', 'provisioner/gate/task/stragglers_test.c', 'provisioner/gate/certify/explain.c', 'provisioner/gate/certify/verdicts.c'),
     [(r'\bmet_pairs\b', 'index_pairs'), (r'\bmet_count\b', 'index_count'), (r'\blast_met\b', 'last_indexed'),
      (r'\bcampaign(->|\.)met\b', r'campaign\1index'), (r'(?<![.>\w])met\b', 'indexed'), (r'(?<=found->)met\b', 'indexed')]),
    (lambda f: f.startswith(('model/result', 'model/event_body', 'fabric/probe/', 'fabric/judge/fabcert', 'provisioner/node/measurements')) or
               f in ROUTES or f in (C + 'ways.c', C + 'ways_test.c', C + 'spines.c', C + 'spines.h', C + 'spines_test.c', C + 'uplinks_test.c', C + 'prometheus_test.c',
                     C + 'switches_agent_test.c', C + 'across_test.c', C + 'across_look_test.c', 'provisioner/gate/task/probe_start.c',
                     'provisioner/gate/task/result.c', 'tests/support/between.h', 'tests/support/across.h', 'provisioner/gate/task/result_test.c', 'provisioner/gate/task/probe_start_test.c'),
     [(r'\bways\b', 'paths'), (r'\bway\b', 'path'), (r'\bways_(?=\w)', 'paths_'), (r'(?<=\w)_ways\b', '_paths'), (r'\bstruct path\b', 'struct path')]),
    (under('provisioner/node/'), [(r'(?<![\w>.])twins\b', 'twins')]),
    (lambda f: f == 'provisioner/node/anew.c', [(r'(?<![\w>.])anew\b', 'restart')]),
    (lambda f: f in ('provisioner/node/verbs_power.c', 'provisioner/node/reconcile_impl.h', 'provisioner/node/reconcile.c') or f.startswith('provisioner/node/'),
     [(r'\bwishes\b', 'power_requests'), (r'\bwish_of\b', 'run_of'), (r'\bwish\b', 'run')]),
    (under('provisioner/node/', 'tests/support/rows.h', 'provisioner/api/', 'cli/', 'provisioner/work/'),
     [(r'\bdeed\b', 'request'), (r'\bdeed_of\b', 'request_of'), (r'\bappend_deed\b', 'append_request'), (r'\bfill_at_deed\b', 'fill_at_request')]),
    (under('cli/', 'provisioner/api/'), [(r'\bwish\b', 'wanted')]),
    (under('agent/'), [(r'\baside\b', 'child')]),
    (under('provisioner/', 'tests/support/', 'tests/sim/'), [(r'\btravels\b', 'upgrades')]),
]
# Texts: members of JSON, components of log lines, names of suites.
TEXT = [
    (under('model/event.h'), [(r'; ways: of its flows', '; paths: of its flows'), (r'and its way\b', 'and its path')]),
    (under('docs/checks.md'), [(r'\(`ways`\)', '(`paths`)')]),
    (under('tests/system/'), [(r'\.ways\[\]', '.paths[]')]),
    (under('model/', 'fabric/', 'provisioner/', 'tests/', 'agent/'), [(r'"ways"', '"paths"'), (r'\\"ways\\"', r'\\"paths\\"'), (r"'ways'", "'paths'")]),
    (under('agent/travel'), [(r'bu_(info|warn|error|debug)\("travel"', r'bu_\1("agent-upgrade"'), (r'UNIT\("travel"', 'UNIT("agent_upgrade"')]),
    (under('provisioner/rollout/travel', 'provisioner/api/travel'), [(r'bu_(info|warn|error|debug)\("travel"', r'bu_\1("agent-upgrade"'), (r'UNIT\("(api_)?travel"', r'UNIT("\1agent_upgrade"')]),
    (under('agent/aside'), [(r'UNIT\("aside"', 'UNIT("child_probe"')]),
    (under('checks/apart'), [(r'UNIT\("apart"', 'UNIT("child_check"')]),
    (under(C + 'ways'), [(r'UNIT\("ways"', 'UNIT("paths"')]),
    (under(C + 'across'), [(r'UNIT\("across', 'UNIT("leaf_campaign')]),
    (under('provisioner/power/load'), [(r'UNIT\("load"', 'UNIT("boot_medium"')]),
    (under('provisioner/plan/identity'), [(r'UNIT\("identity"', 'UNIT("machine_identity"')]),
    (under('provisioner/power/redfish/identity'), [(r'UNIT\("(redfish_)?identity"', r'UNIT("\1machine"')]),
]
# Phrases of comments that name what has another name now.
PHRASE = [
    (under('provisioner/node/'), [(r'the wish is in the log', 'the request is in the log'), (r'a wish that another', 'a request that another'),
        (r'of the deed; 0', 'of the request; 0'), (r'a deed is found', 'a request is found'), (r'A deed with an unknown', 'A request with an unknown')]),
    (under('model/deed'), [(r'names of deeds and outcomes', 'names of power requests and outcomes')]),
    (under('provisioner/rollout/travel'), [(r'Deeds of bringup to', 'Actions of bringup on')]),
    (under('provisioner/api/api.h'), [(r'Wishes for a plan beside its profile', 'What a plan is made of beside its profile')]),
    (under('provisioner/gate/campaign/'), [(r'Fills campaign->met, met_pairs, last_met', 'Fills campaign->index, index_pairs, last_indexed'),
        (r'previous pair in met; 0', 'previous pair in the index; 0'), (r'its last pair in met; 0', 'its last pair in the index; 0'),
        (r'known spine\. ways:', 'known spine. paths:'), (r'The topology of across,', 'The topology of the campaign,')]),
    (under('provisioner/node/measurements.h', 'model/result.h'), [(r'"ways" of the', '"paths" of the')]),
]
# Base names in comments and pages that name one file alone in the tree.
BASE = {}
for a, b in MOVE.items():
    x, y = os.path.basename(a), os.path.basename(b)
    if x.split('.')[0] not in ('parts', 'load', 'identity', 'load_test', 'identity_test'):
        BASE.setdefault(x, y)
FOLDER = {}
for a, b in MOVE.items():
    x, y = os.path.basename(a), os.path.basename(b)
    if x.split('.')[0] in ('parts', 'load', 'identity'):
        FOLDER.setdefault(os.path.dirname(a) + '/', []).append((x, y))

token = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
def in_code(text, pairs):
    out, at = [], 0
    def sub(s):
        for a, b in pairs: s = re.sub(a, b, s)
        return s
    # a piece at a time, with a look behind of the whole text: join code by marks
    marks = []
    def keep(m): marks.append(m.group(0)); return '\x00%d\x00' % (len(marks) - 1)
    code = sub(token.sub(keep, text))
    return re.sub(r'\x00(\d+)\x00', lambda m: marks[int(m.group(1))], code)

def dont(f):
    return f.endswith(('.png', '.gz', '.ico', '.xz')) or f.startswith('LICENSE') or os.path.islink(f) or not os.path.isfile(f)
full = sorted(MOVE, key=len, reverse=True)
stems = sorted({(a.rsplit('.', 1)[0], MOVE[a].rsplit('.', 1)[0]) for a in MOVE}, key=lambda p: len(p[0]), reverse=True)
def any_of(words): return '(' + '|'.join(re.escape(w) for w in words) + ')'
FULL = re.compile(r'(?<![\w/])' + any_of(full) + r'(?!\w)')
STEM = re.compile(r'(?<![\w/])' + any_of([a for a, b in stems]) + r'(?![\w./-])')
BASES = re.compile(r'(?<![\w/-])' + any_of(sorted(BASE, key=len, reverse=True)) + r'(?!\w)')
for f in tracked:
    if dont(f): continue
    try: text = open(f).read()
    except UnicodeDecodeError: continue
    new = text
    for a, b in EVERYWHERE: new = re.sub(a, b, new)
    for takes, pairs in SCOPED:
        if takes(f):
            for a, b in pairs: new = re.sub(a, b, new, flags=re.M)
    if f.endswith(('.c', '.h')):
        for takes, pairs in CODE:
            if takes(f): new = in_code(new, pairs)
    for takes, pairs in TEXT:
        if takes(f):
            for a, b in pairs: new = re.sub(a, b, new)
    for takes, pairs in PHRASE:
        if takes(f):
            for a, b in pairs: new = re.sub(a, b, new)
    new = FULL.sub(lambda m: MOVE[m.group(1)], new)
    new = STEM.sub(lambda m: dict(stems)[m.group(1)], new)
    if f.endswith('Makefile.inc') or f == 'Makefile.am':
        for a, b in stems:
            new = re.sub(r'(?<![A-Za-z])' + re.escape(a.replace('/', '_')) + r'_(?=SOURCES|LDADD|LDFLAGS|DEPENDENCIES|CFLAGS|CPPFLAGS)', b.replace('/', '_') + '_', new)
    new = BASES.sub(lambda m: BASE[m.group(1)], new)
    for d, pairs in FOLDER.items():
        if f.startswith(d):
            for x, y in pairs: new = re.sub(r'(?<![\w/-])' + re.escape(x) + r'(?!\w)', y, new)
    if f in MOVE and f.endswith('.h'):
        def guard(p):
            if p.startswith('provisioner/'): p = p[len('provisioner/'):]
            return 'BU_' + re.sub(r'[/.-]', '_', p.upper())
        new = re.sub(r'\b' + guard(f) + r'\b', guard(MOVE[f]), new)
        old = re.search(r'#ifndef (BU_\w+_H)\n#define \1', new)
        if old and old.group(1) != guard(MOVE[f]): new = new.replace(old.group(1), guard(MOVE[f]))
    if new != text: open(f, 'w').write(new)
for a, b in MOVE.items(): subprocess.check_call(['git', 'mv', a, b])
PY
clang-format-14 -i $(git ls-files '*.c' '*.h')
