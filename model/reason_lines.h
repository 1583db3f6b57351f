/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lines of `bringup node why` and what the gate finds, as rows of model/reason.h.
 * Nothing decides by them.
 */
#ifndef BU_MODEL_REASON_LINES_H
#define BU_MODEL_REASON_LINES_H

#define BU_LINE(X, id, name, text) X(id, name, LINE, 0, 0, "", text)

/* clang-format off */
#define BU_REASON_LINES(X) \
	BU_LINE(X, IS_SO, "is-so", \
		"{node} is {state} ({state:help}) for {#s} s") \
	BU_LINE(X, CAME_BY, "came-by", \
		"reason: {!why}") \
	BU_LINE(X, BUT, "but", \
		"but {name}: {name:words}[: {detail}], for {#s} s; it ends when " \
		"{name:cleared}") \
	BU_LINE(X, LOST_ADVICE, "lost-advice", \
		"if that does not end: bringup node reboot {node}, or bringup node " \
		"replace {node} for another machine") \
	BU_LINE(X, IS_HELD, "is-held", \
		"held by {by}: {!why}; bringup node release {node} ends the hold") \
	BU_LINE(X, ABORT_ADVICE, "abort-advice", \
		"bringup rollout abort {rollout} takes its order back") \
	BU_LINE(X, REPLACE_ADVICE, "replace-advice", \
		"if its machine does not come back: bringup node replace {node}") \
	BU_LINE(X, UNHEARD_ADVICE, "unheard-advice", \
		"if its agent is not heard again: bringup node reboot {node}, or " \
		"bringup node replace {node} for another machine") \
	BU_LINE(X, REFUSED, "refused", \
		"a machine was refused: {!why}[; it ends when {why:ends}][; it is " \
		"looked at again every {#again} s]") \
	BU_LINE(X, WAITS, "waits", \
		"waits: {!why}[; it ends when {why:ends}][; it is looked at again " \
		"every {#again} s]") \
	BU_LINE(X, NOT_MEASURED, "not-measured", \
		"not measured: {!why}[; it ends when {why:ends}][; it is looked at " \
		"again every {#again} s]") \
	BU_LINE(X, CHECK_SAYS, "check-says", \
		"{name}: {verdict}[ in {#times} slices, last]: {words}[; {hint}]") \
	BU_LINE(X, CHECKS_PASS, "checks-pass", \
		"its checks pass") \
	BU_LINE(X, CHECKS_UNTOLD, "checks-untold", \
		"its checks have not reported yet") \
	BU_LINE(X, CLUSTER_SAYS, "cluster-says", \
		"its cluster says: {words}") \
	BU_LINE(X, GOES_TO, "goes-to", \
		"then: {state}[ ({!why})]") \
	BU_LINE(X, LENT, "lent", \
		"it was used as a partner by {node} {#s} s ago") \
	BU_LINE(X, POWER_DEED, "power-deed", \
		"power {op} by {by}: [under way{?open}][{result}][: {words}]") \
	BU_LINE(X, ORDER_OPEN, "order-open", \
		"order: {class}, of rollout {rollout}, [under way{?begun}][not " \
		"started{?waits}]") \
	BU_LINE(X, ORDER_ENDED, "order-ended", \
		"its last order ({class}, of rollout {rollout}) [failed{?failed}][was " \
		"withdrawn{?withdrawn}]: {!why}") \
	BU_LINE(X, RETRY, "retry", \
		"after a repair bringup node retry {node} goes on with it") \
	BU_LINE(X, RETRY_OR_WIPE, "retry-or-wipe", \
		"after a repair bringup node retry {node} goes on with it; bringup " \
		"node rebuild {node} --grant wipe writes the whole disk") \
	BU_LINE(X, RETRY_EMPTY, "retry-empty", \
		"after a repair bringup node retry {node} goes on with it; a disk that " \
		"is not empty is refused each time: if what is on it may go, bringup " \
		"node rebuild {node} --grant wipe") \
	BU_LINE(X, STEP, "step", \
		"step {step} ({action}), attempt {#attempt}: [under " \
		"way{?open}][done{?done}][failed{?failed}][: {error}]") \
	BU_LINE(X, BOOT_CHAIN, "boot-chain", \
		"its boot: {!links}[ (at {address})][; there it ends: {ends:missing}]") \
	BU_LINE(X, BOOT_LINK, "boot-link", \
		"{link:done} {#s} s ago") \
	BU_LINE(X, BOOT_UNKNOWN, "boot-unknown", \
		"what it fetched before bringupd started is not known") \
	BU_LINE(X, STRANGER, "stranger", \
		"another host, {address} ([MAC {mac}][not on its wire{?away}]), asked " \
		"for its boot script or showed its token {#s} s ago and was refused") \
	BU_LINE(X, PROXY_ARP, "proxy-arp", \
		"the card with MAC {mac} answers for {one} and {other} in the boot " \
		"network: if it is a router or a switch, switch proxy ARP off there, " \
		"else look for that host") \
	BU_LINE(X, ROOT_NOT_UP, "root-not-up", \
		"its system in slot {slot} has not come up yet[; its loader tries it " \
		"once, and then starts image {image} again]") \
	BU_LINE(X, ROOT_ON_TRIAL, "root-on-trial", \
		"its system in slot {slot} is on trial until its agent asks for work; " \
		"its loader starts image {image} again when it is reset before") \
	BU_LINE(X, DEADLINE, "deadline", \
		"deadline in {#left} s ({#limit} s for this), then: {!then}") \
	BU_LINE(X, DEADLINE_OVER, "deadline-over", \
		"its deadline of {#limit} s passed {#past} s ago; next: {!then}") \
	BU_LINE(X, THEN_STEP_FAILS, "then-step-fails", \
		"the step has failed; the node stays ready as it was") \
	BU_LINE(X, THEN_NOTHING, "then-nothing", \
		"nothing, the brake is on, many are late together; see bringup status; " \
		"bringup node release restarts its deadline, after which it goes on") \
	BU_LINE(X, THEN_HELD, "then-held", \
		"the node is held for a person") \
	BU_LINE(X, THEN_AGAIN, "then-again", \
		"again, with a power cycle") \
	BU_LINE(X, THEN_FAILED, "then-failed", \
		"failed") \
	BU_LINE(X, OVER_STEP, "over-step", \
		"{action} while it was {state}, {at}") \
	BU_LINE(X, OVER_DEED, "over-deed", \
		"power {op} by {by}, {at}") \
	BU_LINE(X, OVER_SEEN, "over-seen", \
		"its machine was seen off, {at}") \
	BU_LINE(X, AGENT_OVER, "agent-over", \
		"its last boot has ended ({!how}); its agent counts again when it says " \
		"hello in a later one") \
	BU_LINE(X, AGENT_HEARD, "agent-heard", \
		"its agent was heard {#s} s ago") \
	BU_LINE(X, AGENT_UNHEARD, "agent-unheard", \
		"its agent was not heard since [its machine was last " \
		"switched{?switched}][bringupd started{?started}]") \
	BU_LINE(X, PROGRESS, "progress", \
		"{stage}: {#done} of {#total} MiB") \
	BU_LINE(X, CERT_REVOKED, "cert-revoked", \
		"the certificate of its agent was revoked") \
	BU_LINE(X, CERT_ENDED, "cert-ended", \
		"the certificate of its agent has ended; bringup node rebuild {node} " \
		"gives it another") \
	BU_LINE(X, CERT_ENDS, "cert-ends", \
		"the certificate of its agent ends in {#days} days and was not " \
		"renewed; see bringup-agent's log on the node") \
	BU_LINE(X, AGENT_FAILED, "agent-failed", \
		"agent {version} [exited three times before it had been answered for " \
		"20 s, and the previous agent runs again{?ended}][was not heard in " \
		"time, and the previous agent is to run again{?silent}][was not " \
		"started{?refused}] ({at})[: {words}]; see bringup-agent's log on the " \
		"node; bringup node release {node} lets nodes try it again before a " \
		"day is over") \
	BU_LINE(X, AGENT_IS, "agent-is", \
		"its agent is {version}") \
	BU_LINE(X, TURN, "turn", \
		"waits for its turn ({class}): {!why}") \
	BU_LINE(X, DRIFT, "drift", \
		"drift: {!what}") \
	BU_LINE(X, WARNING, "warning", \
		"warning: {!what}") \
	BU_LINE(X, RAW, "raw", \
		"  {words}") \
	BU_LINE(X, CONSOLE_END, "console-end", \
		"the last lines of its console then (bringup node console {node} has " \
		"more):") \
	BU_LINE(X, BMC_LOGGED, "bmc-logged", \
		"its BMC logged since that try began (bringup node events {node} has " \
		"more):") \
	BU_LINE(X, BMC_UNDATED, "bmc-undated", \
		"its BMC logged without a time, perhaps long before (bringup node " \
		"events {node} has more):") \
	BU_LINE(X, BMC_ROW, "bmc-row", \
		"  [{at}][no time{?undated}]  [{severity}: ]{words}") \
	BU_LINE(X, BMC_UNKNOWN, "bmc-unknown", \
		"the event log of its BMC is not known: {error}") \
	BU_LINE(X, BMC_QUIET, "bmc-quiet", \
		"its BMC logged nothing in that time") \
	BU_LINE(X, BMC_FULL, "bmc-full", \
		"its BMC's log is full and takes no more: clear it there") \
	BU_LINE(X, CRASHED, "crashed", \
		"its kernel crashed[ ({kind})][, by its own clock at {at}]; what it " \
		"left ends with:") \
	BU_LINE(X, ROLLOUT_UNKNOWN, "rollout-unknown", \
		"rollout {rollout} is unknown") \
	BU_LINE(X, ROLLOUT_STATE, "rollout-is", \
		"rollout {rollout} is {state}[: {!why}][; bringup rollout resume " \
		"{open}]") \
	BU_LINE(X, NODE_UNKNOWN, "node-unknown", \
		"the applied profile has no such node") \
	BU_LINE(X, IS_IN, "is-in", \
		"it is {state}") \
	BU_LINE(X, HELD_BY, "held-by", \
		"it is held by {by}") \
	BU_LINE(X, BRAKE_ON, "brake-on", \
		"the brake is on for {scope}, whose nodes are late together; it " \
		"ends when fewer are; bringup status names them, bringup node " \
		"release lets one of them go on") \
	BU_LINE(X, RELABELS, "relabels", \
		"{#count} others are relabelled now") \
	BU_LINE(X, WINDOW, "window", \
		"outside the maintenance of pool {pool} ({window}, UTC)") \
	BU_LINE(X, CANARY_FIRST, "canary-first", \
		"the canary of pool {pool} comes first: {#proven} of {#canary} " \
		"done[; {!tries}][; {!left}]") \
	BU_LINE(X, CANARY_TRIES, "canary-tries", \
		"{node} ({state}[, held by {by}]) has its turn[ now{?now}]") \
	BU_LINE(X, CANARY_OUT, "canary-out", \
		"{node} was taken out ({state}) in the middle of its turn, and " \
		"what that did to it is not known: bringup node {verb} {node} lets " \
		"it go on") \
	BU_LINE(X, CANARY_WITHDRAWN, "canary-withdrawn", \
		"the turn of {node} ({state}) was withdrawn, which is neither a " \
		"success nor a failure: another node is the canary[ when that one " \
		"is back or at rest{?back}]") \
	BU_LINE(X, MANY_AWAY, "many-away", \
		"{#count} of pool {pool} are away or under way, {node} ({state}[, " \
		"{condition}]) among them; max_unavailable is {#max}") \
	BU_LINE(X, HELD_SO, "held-so", \
		"held by {by}: {!why}") \
	/* details of conditions */ \
	BU_LINE(X, CONDITION, "condition", \
		"{name:words}[: {detail}]") \
	BU_LINE(X, OTHER_KERNEL, "other-kernel", \
		"kernel {runs} runs, that of image {image} is {has}") \
	BU_LINE(X, CLUSTER_SILENT, "cluster-gives-no-answer", \
		"{cluster}[: {error}]") \
	BU_LINE(X, DRAINED_WITH, "drained-with", \
		"{words} ([{by}][by an unknown user{?unknown}])") \
	BU_LINE(X, CLAIMED, "claimed", \
		"{address} ([MAC {mac}][not on its wire{?away}])") \
	BU_LINE(X, TWINS, "twins", \
		"{all;}") \
	BU_LINE(X, TWIN, "twin", \
		"{what} {value} is that of {node}, too") \
	BU_LINE(X, HOLDER, "holder", \
		"[{address}][an unknown address{?unknown}][ (boot {boot})]") \
	BU_LINE(X, TURNS_SHOWN, "turns-shown", \
		"{!one} and {!other} speak by turns with certificate {cert}") \
	BU_LINE(X, OLD_SHOWN, "old-shown", \
		"{!one} shows certificate {cert}, which was renewed; the new one is " \
		"used from {!other}") \
	/* warnings of a plan */ \
	BU_LINE(X, NOT_UNDER_WAY, "not-under-way", \
		"--restart-orders: no order under way of {nodes}") \
	BU_LINE(X, BY_HANDS, "by-hands", \
		"{nodes}: power = manual: each boot needs a person to switch the " \
		"machine; bringup node why says when") \
	/* of a plan: the image against the profile */ \
	BU_LINE(X, MISFIT, "misfit", \
		"[{at}: {nodes}: ]{image} on {hardware}: {!what}") \
	BU_LINE(X, DECLARED, "declared", \
		"{what} {declared} is declared, and the image's manifest says {found}") \
	BU_LINE(X, NO_CLIENT, "no-client", \
		"the image has no {client}, and {pool} joins {cluster}") \
	BU_LINE(X, OTHER_KIND, "other-kind", \
		"{image} is [not {?not}]a whole disk (raw: or qcow2:), and {pool} has " \
		"root = {root}") \
	BU_LINE(X, RAMDISK_DIFFERS, "ramdisk-differs", \
		"{image} has kernel {kernel}, and the boot ramdisk {ramdisk}, under " \
		"which the nodes of {pool} run (root = ram); build both anew: bringup " \
		"image build ramdisk {name}") \
	BU_LINE(X, NO_MIRROR, "no-mirror", \
		"{image} does not support a mirrored root, and {hardware} mirrors it; " \
		"build the image again") \
	BU_LINE(X, ONE_ROOT, "one-root", \
		"{image} does not support two roots, and {hardware} has two; build the " \
		"image again") \
	BU_LINE(X, KEPT_OUT, "kept-out", \
		"{image} {words}; {rule} ({at})") \
	BU_LINE(X, PROGRAM_MISSING, "program-missing", \
		"the image has no {program}, and {!why}; [build or import it " \
		"again{?again}][install {deb} (Debian) or {rpm} (RPM) in it]") \
	BU_LINE(X, FOR_NETWORKD, "for-networkd", \
		"its network is configured for it") \
	BU_LINE(X, FOR_NETWORKMANAGER, "for-networkmanager", \
		"its network_config is networkmanager") \
	BU_LINE(X, FOR_NETPLAN, "for-netplan", \
		"its network_config is netplan") \
	BU_LINE(X, FOR_KEYS, "for-keys", \
		"users of the profile log in with keys") \
	BU_LINE(X, FOR_SUDO, "for-sudo", \
		"the profile has sudo rules") \
	BU_LINE(X, FOR_DIRECTORY, "for-directory", \
		"its users are those of a directory") \
	BU_LINE(X, FOR_TIME, "for-time", \
		"it gets the time from the site") \
	BU_LINE(X, FOR_FILE_SYSTEM, "for-file-system", \
		"a file system of its disks is {fs}") \
	BU_LINE(X, FOR_MOUNT, "for-mount", \
		"its pool mounts {fs}") \
	BU_LINE(X, FOR_ARRAY, "for-array", \
		"its disks are an array") \
	BU_LINE(X, FOR_ENCRYPTION, "for-encryption", \
		"its data is encrypted") \
	BU_LINE(X, FOR_VOLATILE, "for-volatile", \
		"its scratch_keys is volatile") \
	/* of the site */ \
	BU_LINE(X, LATE_TOGETHER, "late-together", \
		"{#late} of {#of} nodes of {scope} are late together, so the cause is " \
		"not the nodes; nothing is power-cycled or failed there; look for what " \
		"they share (boot network, power, BMCs)") \
	BU_LINE(X, NO_AGENT, "no-agent", \
		"no agent travels: {error}") \
	BU_LINE(X, AGENT_STOPPED, "agent-stopped", \
		"agent {version} failed on {node}, and no other node gets it for a " \
		"day; see bringup node why {node}; when it may be tried again: bringup " \
		"node release {node}") \
	/* the fence between appliances */ \
	BU_LINE(X, LATER_LOG, "later-log", \
		"{by} shows row {#row} of epoch {#epoch}; this log has epoch {#ours}") \
	BU_LINE(X, CONFIRMED, "confirmed", \
		"confirmed by {node}") \
	/* adoption by the stamp of another log */ \
	BU_LINE(X, NO_STAMP, "no-stamp", \
		"its agent shows no stamp") \
	BU_LINE(X, STAMP_BAD, "stamp-bad", \
		"its agent shows a stamp that does not count: {error}") \
	BU_LINE(X, STAMP_OF_OTHER, "stamp-of-other", \
		"its agent shows a stamp whose {what} is [{is}][none{?no}], and it has " \
		"[{want}][none{?unwanted}]") \
	BU_LINE(X, STAMP_MISPLACED, "stamp-misplaced", \
		"its agent shows a stamp of {node}, and the machine is not that of the " \
		"profile: {words}") \
	BU_LINE(X, STAMP_REVOKED, "stamp-revoked", \
		"its machine or its certificate was revoked after its stamp was made") \
	BU_LINE(X, STAMP_OVERTAKEN, "stamp-overtaken", \
		"since the present epoch began, this log has installed or retired it, " \
		"or taken it out of service, or it is held") \
	BU_LINE(X, STAMP_RIVAL, "stamp-rival", \
		"another agent shows a later stamp of {node}") \
	/* drift */ \
	BU_LINE(X, DRIFT_MORE, "drift-more", \
		"{!first}; and {#more} more") \
	BU_LINE(X, DRIFT_LINK, "drift-link", \
		"[network {network}][{link}]: {what} is [{have}][missing{?missing}], " \
		"the profile says {want}") \
	BU_LINE(X, DRIFT_FILE, "drift-file", \
		"{what} is {have} on it; bringup wrote it otherwise") \
	BU_LINE(X, DRIFT_FILES, "drift-files", \
		"{#count} files more are not as they were written") \
	BU_LINE(X, DRIFT_KARGS, "drift-kargs", \
		"kernel arguments[ of the next boot{?next}] are [{have}][(none){?no}], " \
		"and [{want}][(none){?unwanted}] was written") \
	BU_LINE(X, DRIFT_FACET, "drift-facet", \
		"{what} on it is [{have}][(none){?no}], the profile says " \
		"[{want}][(none){?unwanted}]") \
	BU_LINE(X, DRIFT_UNKNOWN, "drift-unknown", \
		"what lies on it was written by an order that the log does not know") \
	/* webhooks */ \
	BU_LINE(X, WEBHOOK_BEHIND, "webhook-takes-nothing", \
		"webhook {name}: [{url} answers with status {#status}][{error}][it takes " \
		"events too slowly{?slow}]") \
	/* of the gate: between leaves */ \
	BU_LINE(X, LEAF_NAME, "leaf-name", \
		"{leaf}[ (rail {rails})][ (rail unknown{?unknown})]") \
	BU_LINE(X, PART_LEAF, "part-leaf", \
		"leaf {!leaf}") \
	BU_LINE(X, PART_LINK, "part-link", \
		"the link between {!leaf} and spine {spine}[, to the " \
		"spine{?up}][, from the spine{?down}][, both ways{?both}]") \
	BU_LINE(X, PART_UPLINKS, "part-uplinks", \
		"the uplinks of {!leaf}[, to the spines{?up}][, from the " \
		"spines{?down}]") \
	BU_LINE(X, PART_SPINE, "part-spine", \
		"spine {spine}") \
	BU_LINE(X, PART_SPINES, "part-spines", \
		"the spines") \
	BU_LINE(X, LEAVES_ACCUSED, "leaves-accused", \
		"[switch fabric {fabric}: pairs across its rails][rail {rail}: pairs " \
		"between its leaves] accuse {!parts|}: {cause}[; look first whether " \
		"the leaves reach each other{?unreached}][; look first whether the " \
		"rails are routed to each other{?unrouted}]") \
	BU_LINE(X, LEAF_UNTESTED, "leaf-untested", \
		"switch fabric {fabric}: leaf {!leaf} was not tested across rails: no " \
		"pair of it gave a result") \
	BU_LINE(X, LEAVES_UNTESTED, "leaves-untested", \
		"switch fabric {fabric}: {#count more leaf was|more leaves were} not " \
		"tested across rails") \
	BU_LINE(X, LEAF_UNEXPLAINED, "leaf-unexplained", \
		"[switch fabric {fabric}][rail {rail}]: no pair of leaf {!leaf} with " \
		"another leaf was good: its uplinks are bad, or the ports of the few " \
		"nodes that gave results; when more of its nodes are ready, bringup " \
		"fabric run tests them again") \
	/* of the gate: counters of switches */ \
	BU_LINE(X, SWITCHES_ACCUSE, "switches-accuse", \
		"[switch fabric {fabric}][rail {rail}]: what its switches count " \
		"accuses {!part}: {cause}[; counted {!counts}]; read until {at}") \
	BU_LINE(X, NOT_READ, "not-read", \
		"not read") \
	BU_LINE(X, COUNTERS_UNREAD, "counters-unread", \
		"{of}: its switches' counters could not be read, so a bad link between " \
		"its leaves may stay unseen: {source}: {error}; it is asked again " \
		"while nodes are validated") \
	BU_LINE(X, COUNTER_FULL, "counter-full", \
		"{of}: {counter} has counted to its end and shows nothing new: reset " \
		"it (perfquery -R), or a bad link may stay unseen") \
	/* of the gate: of a node, without a verdict */ \
	BU_LINE(X, BW_MIN_LOW, "bw-min-low", \
		"{section} bw_min = {percent} % is {least} Gbit/s of network " \
		"{network}; the table of rates rejects less than {reject}, and " \
		"bw_reason does not say why this is enough") \
	BU_LINE(X, SLOW_WITH, "slow-with", \
		"slow with {nodes}[, good with others{?good}] (rail {rail}): check the " \
		"cables of both") \
	BU_LINE(X, INCAST_LOSSY, "incast-lossy", \
		"{#count} nodes that sent to it at once (rail {rail}) reached {got} " \
		"(at least {least} wanted) and lost {#lost packet|packets}: look at " \
		"PFC and ECN of the switch and of the NICs") \
	BU_LINE(X, NVLINK_UNMEASURED, "nvlink-unmeasured", \
		"NVLink between {node} and {peer} was not measured: {error}") \
	BU_LINE(X, NVLINK_SLOW, "nvlink-slow", \
		"NVLink between nodes is slow: {subject}[, both directions at " \
		"once{?both}]: {seen}; other nodes of its NVLink domain reach {median} " \
		"GB/s") \
	BU_LINE(X, NVLINK_UNUSABLE, "nvlink-unusable", \
		"{node} cannot use NVLink to other nodes: {!finding}") \
	BU_LINE(X, NVLINK_BAD, "nvlink-bad", \
		"NVLink between {node} and {peer} is bad: {!finding}[; {!which}]") \
	BU_LINE(X, NVLINK_FAR, "nvlink-far", \
		"the other end saw a fault") \
	BU_LINE(X, NVLINK_OTHER, "nvlink-other", \
		"good with {good}: look at {bad}") \
	BU_LINE(X, NVLINK_THIS, "nvlink-this", \
		"bad with {bad}: look at this node") \
	BU_LINE(X, NVLINK_UNTOLD, "nvlink-untold", \
		"no third node has told yet whether it is this node or {bad}") \
	/* of the gate: of an accused node */ \
	BU_LINE(X, NODE_ACCUSED, "node-accused", \
		"[only its loopback works: with every partner and in both directions " \
		"nothing arrived; {?cut_off}][{!seen;}][ (seen by proven {by})][; " \
		"{?told}]{cause}; {hint}[; or its leaf, of which no other port was " \
		"tested{?leaf}]") \
	BU_LINE(X, SENDS, "sends", \
		"{from} sends: {from} to {to}: {!words}") \
	BU_LINE(X, RECEIVES, "receives", \
		"{to} receives: {from} to {to}: {!words}") \
	BU_LINE(X, LOSSES, "losses", \
		"[errors of the link in one probe{?link}][{#lost packet|packets} lost " \
		"or sent again in one probe][, {counter} {#count} at {node}, latency " \
		"p99 {#high} us (median {#median} us)]") \
	BU_LINE(X, SLOW_PAIR, "slow-pair", \
		"slow pair with {peer} ({!how})") \
	BU_LINE(X, SLICE_EMPTY, "slice-empty", \
		"the slice says nothing") \
	BU_LINE(X, NO_REPORT, "no-report", \
		"there is none") \
	/* of the gate: of a run */ \
	BU_LINE(X, RAIL_LEFT, "rail-left", \
		"the applied profile measures {node} no more on {rail}") \
	/* answers to a cluster that asks for a repair */ \
	BU_LINE(X, REPAIR_BEGINS, "repair-begins", \
		"{node} drains; its machine is power-cycled and validated then") \
	BU_LINE(X, REPAIR_DONE, "repair-done", \
		"the machine of {node} was power-cycled and validated") \
	BU_LINE(X, REPAIR_OLD, "repair-old", \
		"the request for {node} is older than a day; make a new one if it " \
		"still counts") \
	BU_LINE(X, REPAIR_SINCE, "repair-since", \
		"{node} was validated after the request; make a new one if it still " \
		"counts") \
	BU_LINE(X, REPAIR_AHEAD, "repair-ahead", \
		"bringup did not accept the request for {node}: the time of that is " \
		"yet to come") \
	BU_LINE(X, REPAIR_STATE, "repair-state", \
		"{node} is {state}; bringup node why {node} says why") \
	BU_LINE(X, REPAIR_HELD, "repair-held", \
		"{node} is {hold}") \
	BU_LINE(X, REPAIR_ELSEWHERE, "repair-elsewhere", \
		"{node} is not one of this cluster") \
	/* of bringup start */ \
	BU_LINE(X, START_RUNS, "start-runs", \
		"bringup start by {by} runs for {#s} s: the nodes with start = {#tier} " \
		"are started, {#up} of {#of} are up[; {nodes} not yet]; bringup start " \
		"--next goes on without them, bringup start --abort ends it") \
	BU_LINE(X, START_TURN, "start-turn", \
		"waits for its turn in bringup start: start = {#tier} comes first, its " \
		"own is {#own}") \
	BU_LINE(X, START_RACK, "start-rack", \
		"waits in bringup start until fewer than {#limit} machines of its rack " \
		"are starting") \
	BU_LINE(X, START_BRAKE, "start-brake", \
		"waits in bringup start: the brake is on, see bringup status") \
	BU_LINE(X, START_ASKED, "start-asked", \
		"bringup start asks its BMC whether its machine is off[: {words}]") \
	BU_LINE(X, START_CALLS, "start-calls", \
		"bringup start waits for its agent: its machine is on") \
	BU_LINE(X, START_LATER, "start-later", \
		"its machine runs; bringup start waits until it is ready") \
	BU_LINE(X, START_SKIPPED, "start-skipped", \
		"bringup start goes on without it: [its BMC gives no clear " \
		"answer{?mute}][switched on {#tries} times, its machine is off " \
		"again{?off}][: {words}]; it is asked again while the start runs") \
	/* why bringup start leaves a node alone */ \
	BU_LINE(X, START_LEFT, "start-left", \
		"[held by {by}][it is {state}][its pool has power = manual: switch it " \
		"on by hand{?manual}][its system is unadopted{?unadopted}][its cluster " \
		"has it switched off to save power{?asleep}]")
/* clang-format on */

#endif
