/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of bringup and of its field, one sentence each, in alphabetical order.
 * docs/glossary.md is made from this table; a text that needs another word adds a row.
 */
#ifndef BU_MODEL_GLOSSARY_H
#define BU_MODEL_GLOSSARY_H

/* word, meaning */
#define BU_GLOSSARY(X)                                                                 \
	X("accusation",                                                                \
	  "a verdict of the gate that names one part (a port, leaf, spine or "         \
	  "link) as bad")                                                              \
	X("accuse", "to name a part as bad, in an accusation")                         \
	X("across", "between ports of different rails of one switch fabric")           \
	X("action", "what a step does, for example boot-network, install or join")     \
	X("admission",                                                                 \
	  "the trade of an install token for an agent's first certificate")            \
	X("adoption",                                                                  \
	  "that an appliance goes on with a running node of another log, by the "      \
	  "node's stamp")                                                              \
	X("agent",                                                                     \
	  "the program bringup-agent on a machine, in the boot ramdisk and in "        \
	  "the installed system")                                                      \
	X("anchor",                                                                    \
	  "what the log ends with, signed and kept outside the appliance, so that a "  \
	  "log that was cut or written anew is found")                                 \
	X("appliance", "the machine that runs bringupd for a site")                    \
	X("apply", "to make a plan's revision the desired one and order its steps")    \
	X("attempt", "one try of a step, counted from 1")                              \
	X("audit", "the checks that read a machine's settings and links without "      \
		   "load; `bringup audit` looks at the log instead")                   \
	X("away", "out of service by the count of max_unavailable: not ready, being "  \
		  "reconfigured, or with a condition that counts as away")             \
	X("backup", "a sealed copy of the log, of which another machine becomes the "  \
		    "appliance")                                                       \
	X("batch", "the nodes of a pool that get their turn together")                 \
	X("binding", "the record in the log of which machine is which node")           \
	X("blast limit",                                                               \
	  "the share of a leaf's nodes above which the leaf is accused and "           \
	  "not the nodes")                                                             \
	X("blob", "a large text in the log, named by its SHA-256")                     \
	X("BMC", "the management controller of a machine, which switches it on and "   \
		 "off over the network")                                               \
	X("boot id", "the random number that the kernel makes at each boot")           \
	X("brake", "the stop of all ladders and turns in a pool, rack or BMC subnet "  \
		   "where many nodes are late together")                               \
	X("bundle",                                                                    \
	  "the agent with its libraries as it travels to nodes: files and a signed "   \
	  "list of them")                                                              \
	X("campaign",                                                                  \
	  "the rounds of probes with which the gate tests the fabric of all "          \
	  "validating nodes")                                                          \
	X("canary", "a node that a rollout changes before the others of its pool")     \
	X("certificate",                                                               \
	  "the signed list of what was checked and probed on a node, with the "        \
	  "results; a full one is for its hardware, a boot one for one boot")          \
	X("check", "one test of a single machine on that machine: audit, GPU, host, "  \
		   "soak or the site's own")                                           \
	X("class", "the consequence of a step for a node, from relabel to wipe")       \
	X("cluster", "the Slurm or Kubernetes cluster that nodes join")                \
	X("cohort",                                                                    \
	  "the similar ports or machines whose results are compared with each "        \
	  "other")                                                                     \
	X("condition",                                                                 \
	  "a fact that contradicts a node's state or concerns the site, set "          \
	  "and cleared by events of the log")                                          \
	X("consequence",                                                               \
	  "what a plan would do to a node: its class, its reasons and its "            \
	  "time")                                                                      \
	X("deadline",                                                                  \
	  "the time after which an unsettled state, a step or a wait is late")         \
	X("desired state", "what the applied revision says of the nodes")              \
	X("digest", "the SHA-256 of a text or file, used as its name")                 \
	X("doubt", "the reason why a result says nothing: the instrument itself was "  \
		   "wrong")                                                            \
	X("drain", "to let the jobs of a node end and keep new ones away")             \
	X("drain deadline", "the longest wait for jobs to end")                        \
	X("drift", "a difference between what a node should have and what it has")     \
	X("driver", "the code for one kind of power control (libvirt) or cluster "     \
		    "(Slurm)")                                                         \
	X("edge", "one row of the lifecycle: from a state, on a trigger, to a state")  \
	X("effect", "what a step changes outside the log")                             \
	X("enrolment",                                                                 \
	  "the first contact of a machine: its token, serial number, UUID and "        \
	  "MAC are checked")                                                           \
	X("epoch",                                                                     \
	  "a number that grows with each init and each restore; an appliance "         \
	  "that meets a higher one stops acting")                                      \
	X("event", "one row of the log")                                               \
	X("evidence", "the figures and findings for which a node was quarantined")     \
	X("fabric", "the RDMA network between nodes")                                  \
	X("facet",                                                                     \
	  "one value of what a node should have, for example an address or a "         \
	  "kernel argument")                                                           \
	X("fact", "what was last seen of a node, with its time; it lives in memory "   \
		  "only")                                                              \
	X("failure budget",                                                            \
	  "the number of failed nodes at which a rollout stops itself")                \
	X("finding", "a check that did not pass")                                      \
	X("fingerprint", "the SHA-256 of an agent's certificate")                      \
	X("fleet",                                                                     \
	  "all nodes that bringup knows: what the log says of them, and what "         \
	  "was seen of them since")                                                    \
	X("frame", "4 MiB of an image part, compressed and verified separately")       \
	X("gate", "the rules that decide whether a validating node may join")          \
	X("GID", "the address of an RDMA port; for RoCE v2 it contains an IP address") \
	X("grant",                                                                     \
	  "consent to a destructive step: its class, its nodes, its plan and "         \
	  "its epoch")                                                                 \
	X("guard", "what must also be true for an edge to be taken")                   \
	X("hardware class", "what a machine must have to be a node of a pool")         \
	X("heard", "an agent is heard when a request of it arrives")                   \
	X("hello", "the first message of an agent after it has its certificate: "      \
		   "inventory, boot id and stamp")                                     \
	X("hold", "a node that bringup leaves alone: with an owner, a reason and "     \
		  "perhaps an end")                                                    \
	X("hostlist", "names in short form, like gpu[001-128]")                        \
	X("image", "what a node runs: a signed manifest and its parts")                \
	X("IMEX", "NVIDIA's service by which GPUs of several nodes share memory")      \
	X("incast", "a test in which several nodes send to one at once")               \
	X("inconclusive", "the verdict of a probe or check that could not judge")      \
	X("instrument",                                                                \
	  "what measures: the probe's engine, its clocks, its memory and its "         \
	  "path")                                                                      \
	X("intent",                                                                    \
	  "the row of the log before an effect; the outcome is the row after "         \
	  "it")                                                                        \
	X("inventory",                                                                 \
	  "the list of a machine's hardware; as CSV, the list of a site's "            \
	  "machines")                                                                  \
	X("join", "to enter the training cluster")                                     \
	X("journal",                                                                   \
	  "on a node, the saved files of a live change until it is confirmed")         \
	X("ladder",                                                                    \
	  "what happens after a missed deadline: try again with a power cycle "        \
	  "and then fail, or hold")                                                    \
	X("late", "past the deadline of its state")                                    \
	X("leaf", "the switch that a rail of a node is cabled to")                     \
	X("lease", "the use of a certified node as a partner for one probe")           \
	X("leave", "to exit the training cluster")                                     \
	X("lemon",                                                                     \
	  "a machine that was quarantined twice in 30 days; it is held until "         \
	  "a person releases it")                                                      \
	X("lend", "to let a certified node be the partner of a probe, by a lease")     \
	X("lifecycle", "the states of a node and the edges between them")              \
	X("link", "one cable, with a port at each end")                                \
	X("LLDP", "the protocol with which switches announce themselves to their "     \
		  "neighbours")                                                        \
	X("log", "the append-only record of all that was decided and done")            \
	X("look", "one pass of the gate over all validating nodes")                    \
	X("machine", "hardware, known by its serial number, UUID and MACs")            \
	X("maintenance",                                                               \
	  "the windows of time in which a rollout may disturb the nodes of a "         \
	  "pool")                                                                      \
	X("manifest",                                                                  \
	  "the signed description of an image: its parts and the digest of "           \
	  "each frame")                                                                \
	X("mark", "the signed note on a disk of the step that writes it")              \
	X("medium", "the boot image in the virtual drive of a machine's BMC")          \
	X("MIG", "the division of a GPU into instances")                               \
	X("node", "a name in the profile, bound to a machine")                         \
	X("nodeset", "an expression that selects nodes, like state=failed or @train")  \
	X("observer",                                                                  \
	  "the part of bringupd that asks one cluster, BMC or agent what is "          \
	  "there")                                                                     \
	X("order", "a step of an applied plan, as it is carried out on its node")      \
	X("outcome", "the row of the log after an effect: done or failed")             \
	X("pair", "two ports, of two nodes, that are probed together")                 \
	X("part", "one file system of an image")                                       \
	X("partner", "the proven node against which an unproven one is probed")        \
	X("plan", "the difference between a revision and reality, with its "           \
		  "consequences")                                                      \
	X("pool", "nodes that share hardware class, image and cluster")                \
	X("port", "one end of a link: an adapter's on a node, or a switch's")          \
	X("probe", "one measurement between two nodes, in both directions")            \
	X("profile", "the INI files and the CSV that describe a site")                 \
	X("proof", "what a machine itself has asked for since its boot was ordered, "  \
		   "which shows how far it came")                                      \
	X("proven", "certified, and so good enough to be a partner")                   \
	X("quarantine",                                                                \
	  "out of the cluster because a check or the gate found a fault; the "         \
	  "evidence is kept")                                                          \
	X("queue pair", "one RDMA connection")                                         \
	X("rail", "one of the parallel fabric networks; port n of each node is on "    \
		  "rail n")                                                            \
	X("ready", "in the cluster and able to run jobs")                              \
	X("reason",                                                                    \
	  "the code with arguments, or the text, that says why a node waits, "         \
	  "is held or failed")                                                         \
	X("reconcile",                                                                 \
	  "the loop that compares each node with its order and starts the "            \
	  "next step")                                                                 \
	X("refusal", "what bringup does not do, with the reason and what to do next")  \
	X("rehearsal", "a campaign against a model of a fabric instead of real nodes") \
	X("reimage", "to write a node's system again and keep its data")               \
	X("replay", "to read the log at a start and compute the state of all nodes")   \
	X("reset", "to switch off or power-cycle a machine, whatever runs there")      \
	X("revision", "one uploaded and checked profile tree, named by its digest")    \
	X("RoCE", "RDMA over Ethernet")                                                \
	X("rollout", "the execution of an applied plan, a few nodes at a time")        \
	X("room", "a folder of the source with one purpose, which includes only "      \
		  "rooms below it")                                                    \
	X("round", "the probes of a campaign that run at the same time")               \
	X("scope", "the pool, rack or BMC subnet that a brake is for")                 \
	X("settled", "a state without a deadline: nothing is expected to happen")      \
	X("severity", "what a finding means: fail, warn or off")                       \
	X("site", "one profile tree and the machines that it describes, run by one "   \
		  "appliance")                                                         \
	X("site key",                                                                  \
	  "the set of the appliance's keys: its holder can be the appliance")          \
	X("slice", "a part of a soak, between other work")                             \
	X("slot", "a folder of a node that holds one agent, whole")                    \
	X("soak", "hours of load on a new or repaired machine before it is measured")  \
	X("spine", "a switch between leaves")                                          \
	X("stage", "one part of a campaign: A inside leaves, B between leaves, C "     \
		   "suspects again, D more rounds for intermittent faults")            \
	X("stamp",                                                                     \
	  "the signed record, on a node's disk, of what was installed there and what " \
	  "the log knows of it; another appliance adopts the node by it")              \
	X("state", "where a node is in its lifecycle")                                 \
	X("step", "one action of a plan on one node")                                  \
	X("suspect", "a port with bad results that is not accused yet")                \
	X("switch fabric",                                                             \
	  "networks whose ports reach each other over the same spines; nodes are "     \
	  "tested across their rails")                                                 \
	X("symptom", "what a node shows that is wrong, for example a missed deadline") \
	X("task", "work that several nodes do together, as both ends of a probe do")   \
	X("threshold", "the value at which a figure becomes a finding")                \
	X("token", "the secret in a boot script with which an agent gets its "         \
		   "certificate, once")                                                \
	X("trial", "the first 20 s of a new agent, after which it stays or the one "   \
		   "before goes on")                                                   \
	X("trigger", "what happens to a node so that it takes an edge")                \
	X("trouble",                                                                   \
	  "what keeps a validating node from going on while its deadline runs")        \
	X("turn", "the permission of a rollout for one node to begin its order")       \
	X("verb", "what a person asks of nodes, for example drain")                    \
	X("verdict",                                                                   \
	  "pass, warn, fail, or inconclusive when the instrument was wrong")           \
	X("wait", "what a node needs before it can go on; its deadline stands still "  \
		  "meanwhile")                                                         \
	X("wipe", "to write a node's whole disk; what was on it is lost")              \
	X("witness",                                                                   \
	  "a proven node whose results with a suspect support an accusation")          \
	X("work item", "one piece of work for an agent, with an id")

#endif
