# SPDX-License-Identifier: Apache-2.0
# Where a recipe's packages come from. The host's own apt serves where it has sources of
# the release with each component and the recipe names none; else one beside it, with its lists in the cache:
# the host's sources stay as they are. apt.sh is read by debian.sh.

# keyring ENTRY: the files that a source of apt is signed by, where it names some. An
# entry is FILE:N, the Nth stanza of a .sources file or the Nth line of a list.
keyring()
{
	case $1 in
	*.sources:*)
		sed '/^#/d' "${1%:*}" | awk -v RS= -v n="${1##*:}" 'NR == n' |
			sed -n 's/^[Ss]igned-[Bb]y:[[:blank:]]*\(\/.*\)/\1/p'
		;;
	*) sed -n "${1##*:}s/.*[[ ]signed-by=\\(\\/[^] ]*\\).*/\\1/p" "${1%:*}" ;;
	esac | tr -s ' ' ,
}

# components: of the release, that the recipe's mirrors have; main in any case.
components()
{
	echo "$MIRRORS" | sed -n 's/^deb \(\[[^]]*\] *\)\{0,1\}[^ ]* [^ ]* //p' |
		tr -s ' ' '\n' | sort -u | grep -vx main | tr '\n' ' '
}

# host_own: the host's own mirrors with their keyrings, of the release (by whatever name)
# and these components alone.
host_own()
{
	wanted=" main $(components)"
	apt-get indextargets --format \
		'$(CODENAME) $(COMPONENT) $(REPO_URI) $(SOURCESENTRY)' \
		'Created-By: Packages' |
		while read -r codename component uri entry; do
			case $codename in
			"$SUITE" | "$SUITE-updates" | "$SUITE-security") ;;
			*) continue ;;
			esac
			case $wanted in *" $component "*) ;; *) continue ;; esac
			keyring=$(keyring "$entry")
			echo "deb ${keyring:+[signed-by=$keyring] }$uri $codename $component"
		done
}

# host_sources: the same, and of the same mirrors the components that the host has not.
host_sources()
{
	host=$(host_own)
	[ -n "$host" ] || return 0
	echo "$host"
	for component in $(components); do
		echo "$host" | grep -q " $component\$" ||
			echo "$host" | sed -n "s/ main\$/ $component/p"
	done
}

# host_is_enough: it has fetched the lists of all that packages come from.
host_is_enough()
{
	host=$(host_own)
	[ -n "$host" ] && [ -z "$SOURCES" ] && [ "$(host_sources)" = "$host" ]
}

# mirrors: those of the recipe; where it names a package of keys, with the keys of that,
# which is unpacked and never installed.
mirrors()
{
	folder=/usr/share/keyrings
	if [ -n "$KEYRING" ]; then
		folder=$CACHE/base/keys-$(echo "$KEYRING $KEYRING_SOURCE" | digest | cut -c1-16)
		if [ ! -d "$folder" ]; then (
			say "fetching $KEYRING"
			echo "$KEYRING_SOURCE" >"$WORK/keyring.list"
			own_apt "$WORK/keyring.list"
			fetch_packages "$folder" usr/share/keyrings "$KEYRING"
		); fi
	fi
	echo "$MIRRORS" | sed "s,signed-by=/usr/share/keyrings/,signed-by=$folder/,"
}

# pinned KEYRING FINGERPRINT: no other key is in it.
pinned()
{
	need gpg gpg
	[ -f "$1" ] || die "$1 is missing; fetch the keyring of the source that names it"
	found=$(gpg --show-keys --with-colons "$1" |
		awk -F: '$1 == "pub" { own = 1 } own && $1 == "fpr" { print $10; own = 0 }')
	[ "$found" = "$2" ] || die "$1 has the keys '$(echo $found)', not $2 alone"
}

# sources: all that packages come from, a line each.
sources()
{
	own=$(host_sources)
	[ -n "$own" ] || own=$(mirrors)
	[ -n "$own" ] || die "apt has no sources of $SUITE; see sources.list(5)"
	[ -z "$KEYS" ] || echo "$KEYS" | while read -r file fingerprint; do
		pinned "$file" "$fingerprint"
	done
	echo "$own"
	[ -z "$SOURCES" ] || echo "$SOURCES"
}

# apt_beside LIST LISTS: makes apt-get those of a list of sources from here on, with what
# was fetched of them in the folder LISTS, for a machine without a package. Sets BESIDE.
apt_beside()
{
	BESIDE=$CACHE/base/apt-$(digest <"$1" | cut -c1-16)
	mkdir -p "$BESIDE/lists/partial" "$BESIDE/archives/partial"
	: >"$BESIDE/status"
	cp "$1" "$BESIDE/sources.list"
	cat >"$BESIDE/conf" <<END
Dir::Etc::SourceList "$BESIDE/sources.list";
Dir::Etc::SourceParts "-";
Dir::Etc::Preferences "/dev/null";
Dir::Etc::PreferencesParts "/dev/null";
Dir::State::Lists "${2:-$BESIDE/lists}";
Dir::State::Status "$BESIDE/status";
Dir::State::Extended_States "$BESIDE/extended";
Dir::Cache "$BESIDE";
APT::Architecture "amd64";
APT::Architectures "amd64";
APT::Install-Recommends "false";
APT::Sandbox::User "root";
APT::Update::Error-Mode "any";
Acquire::Languages "none";
END
	APT_CONFIG=$BESIDE/conf
	export APT_CONFIG
}

# own_apt LIST: the same, and fetches them.
own_apt()
{
	apt_beside "$1" ''
	apt-get -q -o Acquire::Retries=3 update >"$WORK/apt.log" 2>&1 && return
	ls "$BESIDE/lists" | grep -q Packages || {
		die "$NAME: its mirrors cannot be used:" \
			"$(sed -n 's/^E: //p; /GPG error/p' "$WORK/apt.log" | head -n 3)"
	}
	say "$NAME: the mirrors did not answer; the lists are those of before"
}

# host_lists: the folder of what this machine's apt has fetched.
host_lists()
{
	apt-config shell folder Dir::State::Lists/d | sed -n "s/^folder='\(.*\)'$/\1/p"
}

# versions PACKAGE...: name and version of all that a system of them will have.
versions()
{
	mkdir -p "$WORK"
	sources >"$WORK/sources.list"
	(
		if host_is_enough; then
			apt_beside "$WORK/sources.list" "$(host_lists)"
		else
			own_apt "$WORK/sources.list"
		fi
		apt-get -q -s install "$@" apt '?essential' >"$WORK/solved" \
			2>"$WORK/apt.log" || die "$NAME: apt finds no such system:" \
			$(sed '1,/have unmet dependencies/d' "$WORK/solved" | head -n 5
				sed -n 's/^E: //p' "$WORK/apt.log" | head -n 5) \
			"(apt-get update, or the recipe's mirrors and sources, may mend it)"
	)
	sed -n 's/^Inst \([^ ]*\) (\([^ ]*\) .*/\1 \2/p' "$WORK/solved" | sort
}

# apt_settings: the host's way to its mirrors, where the setting is a plain text: proxies,
# and which dates count. A mirror that fails once among a thousand files is asked again.
# Keyrings and lists lie in the cache, which may be in a private folder: apt reads them as
# the user that it runs as, and not as one who sees no such folder.
apt_settings()
{
	echo 'Acquire::Retries "3"'
	echo 'APT::Sandbox::User "root"'
	apt-config dump | sed -n -E \
		'/^Acquire::((https?|ftp)::Proxy|Check-)[^ ]* "[^"]+";$/s/;$//p'
}
