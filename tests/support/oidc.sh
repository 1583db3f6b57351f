# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# People of an identity provider, for tests/system/remote: an issuer of its own, logins
# from the other machine, and what is refused. Sourced; uses work, build, url, desk, bu,
# allow, refuse, each_role, daemon_start, daemon_stop and die of that test.
readonly issuer=https://10.75.0.1:8446/realm

# Before the daemon starts.
issuer_make() {
	mkdir -p "$work/issuer"
	openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=issuer -days 2 \
		-addext subjectAltName=IP:10.75.0.1 -keyout "$work/issuer/key.pem" \
		-out "$work/issuer/cert.pem" 2>/dev/null
	issuer_key first
	echo first >"$work/issuer/shows"
	cat >>"$work/conf" <<-END
		oidc_issuer = $issuer
		oidc_client = bringup
		oidc_ca = $work/issuer/cert.pem
	END
	issuer_start
}

# issuer_key NAME: makes it and signs with it from now on.
issuer_key() {
	openssl genrsa -out "$work/issuer/$1.rsa" 2048 2>/dev/null
	echo "$1" >"$work/issuer/signs"
}

issuer_start() {
	python3 tests/support/issuer.py 10.75.0.1 8446 "$work/issuer" 2>"$work/issuer/log" &
	issuer_pid=$!
	for ((i = 0; i < 100; i++)); do
		! browser confirm >/dev/null 2>&1 || return 0
		sleep 0.1
	done
	die "the issuer does not answer: $(cat "$work/issuer/log")"
}

issuer_stop() {
	kill "$issuer_pid"
	wait "$issuer_pid" 2>/dev/null || true
}

browser() {
	ip netns exec desk curl -sS --max-time 10 --cacert "$work/issuer/cert.pem" "$issuer/$1"
}

# oidc_login CONTEXT QUERY: a login whose code is confirmed with this query; its status.
oidc_login() {
	local login code='' i
	: >"$work/err"
	desk login "$url" --oidc --ca "$work/state/keys/ca.pem" --context "$1" \
		--issuer-ca "$work/issuer/cert.pem" >"$work/out" 2>"$work/err" &
	login=$!
	for ((i = 0; i < 100 && ${#code} == 0; i++)); do
		code=$(sed -n 's/.*confirm the code //p' "$work/err")
		sleep 0.1
	done
	[[ $code ]] || die 'no code is shown'
	[[ $(browser "confirm?code=$code&$2") == '{}' ]] || die "the issuer does not take $2"
	wait "$login"
}

# oidc_refused WORDS CONTEXT QUERY: nothing is kept of it.
oidc_refused() {
	! oidc_login "$2" "$3" || die "expected a refusal: $3"
	grep -q -- "$1" "$work/err" || die "expected '$1' of: $3"
	[[ ! -e $work/home/.config/bringup/$2.json ]] || die 'a refused login was kept'
}

by_oidc() {
	local role=$1
	shift
	desk "$@" --context "o-$role"
}

oidc_people() {
	local role
	for role in viewer operator grant admin auditor; do
		oidc_login "o-$role" "user=$role.person&groups=staff,bringup-$role" || die "login of $role"
		grep -q "as oidc:$role.person, role $role" "$work/out" || die "$(cat "$work/out")"
	done
	[[ $(stat -c %a "$work/home/.config/bringup/o-viewer.json") == 600 ]] || die 'a secret file'
	each_role by_oidc
}

oidc_strangers() {
	oidc_refused 'oidc:eve is in none of the groups' stranger 'user=eve&groups=staff'
	oidc_refused 'it is for others (aud)' stranger 'user=eve&groups=bringup-admin&aud=wiki'
	oidc_refused 'has no name in' stranger 'user=eve%20root&groups=bringup-admin'
	oidc_refused 'refused at the identity provider' stranger 'deny=1'
	refuse 'vouches for its certificate' desk login "$url" --oidc --context stranger \
		--ca "$work/state/keys/ca.pem" --issuer-ca "$work/state/keys/ca.pem"
	refuse 'one of --oidc' desk login "$url" --oidc --token-stdin --context stranger \
		--ca "$work/state/keys/ca.pem" </dev/null
}

refresh_of() {
	sed -n 's/.*"refresh_token": "\(.*\)".*/\1/p' "$work/home/.config/bringup/$1.json"
}

# A token of 20 seconds is made anew for each command, by a refresh token that is good once.
oidc_renewal() {
	local first i
	oidc_login short 'user=sam&groups=bringup-viewer&lasts=20' || die 'login of sam'
	first=$(refresh_of short)
	cp "$work/home/.config/bringup/short.json" "$work/home/.config/bringup/stale.json"
	cp "$work/home/.config/bringup/short.pem" "$work/home/.config/bringup/stale.pem"
	cp "$work/home/.config/bringup/short.issuer" "$work/home/.config/bringup/stale.issuer"
	allow desk status --context short
	[[ $first && $(refresh_of short) != "$first" ]] || die 'the token was not made anew'
	refuse 'log in again (bringup login' desk status --context stale
	for i in 1 2 3 4; do
		desk status --context short >/dev/null 2>"$work/err.$i" &
	done
	for i in 1 2 3 4; do
		wait -n || die "commands at the same time: $(cat "$work"/err.?)"
	done
}

# The minute that clocks may be apart is nearly over, too: bringupd ends the stream after
# some seconds, and the command goes on with another token.
oidc_stream() {
	local follower i
	oidc_login brief 'user=lea&groups=bringup-viewer&lasts=-56' || die 'login of lea'
	ip netns exec desk env HOME="$work/home" BRINGUP_CONTEXT=brief timeout 60 \
		"$build/bringup" events --follow >"$work/followed" 2>"$work/follow.err" &
	follower=$!
	sleep 8
	kill -0 "$follower" || die "a stream ended with its token: $(cat "$work/follow.err")"
	allow by_oidc operator node hold n00004 --reason later
	for ((i = 0; i < 100; i++)); do
		! grep -q 'held by.*later' "$work/followed" || break
		sleep 0.1
	done
	[[ $(grep -c later "$work/followed") == 1 ]] || die 'a stream does not go on once'
	kill "$follower"
	wait "$follower" 2>/dev/null || true
}

# Without a restart of bringupd, and the old key is believed no more.
oidc_rotation() {
	local i
	issuer_key second
	echo second >"$work/issuer/shows"
	oidc_rotated=0
	for ((i = 0; i < 60; i++)); do
		if desk status --context short >"$work/out" 2>"$work/err"; then
			oidc_rotated=1
			break
		fi
		grep -q 'no key of https://' "$work/err" || die 'while the issuer changes its key'
		sleep 1
	done
	((oidc_rotated)) || die 'another key of the issuer is not taken'
	refuse 'no key of https://' by_oidc operator status
	oidc_login o-operator 'user=operator.person&groups=bringup-operator' || die 'login after it'
}

oidc_without_issuer() {
	issuer_stop
	allow by_oidc operator status
	refuse 'identity provider https' desk status --context short
	daemon_stop
	daemon_start
	refuse 'cannot fetch the keys of https://' by_oidc operator status
	issuer_start
	for ((i = 0; i < 60; i++)); do
		! by_oidc operator status >/dev/null 2>&1 || return 0
		sleep 1
	done
	die 'the issuer is back, and its people are not'
}

oidc_log() {
	local who
	bu events --limit 1000 --json >"$work/events"
	for who in operator grant admin; do
		grep -q "\"oidc:$who.person\"" "$work/events" || die "the log has no oidc:$who.person"
	done
	! grep -q 'oidc:eve\|oidc:sam\|oidc:lea' "$work/events" || die 'the log has people who did nothing'
	sed -n 's/.*"\(refresh_\)*token": "\(.*\)".*/\2/p' "$work"/home/.config/bringup/o-*.json |
		sed 's/.*\.//' >"$work/secrets"
	[[ $(grep -c . "$work/secrets") == 10 ]] || die 'tokens are not found where they are'
	! grep -rqF -f "$work/secrets" "$work/events" "$work/log" "$work/state" || die 'a token is in the log'
}

oidc_tried() {
	oidc_people
	oidc_strangers
	oidc_renewal
	oidc_stream
	oidc_rotation
	oidc_without_issuer
	oidc_log
	issuer_stop
}
