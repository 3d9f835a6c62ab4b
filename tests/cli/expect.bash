# Sourced by the scripts of this folder. LINKWORK is the program; the current directory is empty at the start.

fail() {
  printf 'FAILED: %s\n' "$*" >&2
  exit 1
}

# run COMMAND...: leaves the exit code in $code, and what was printed in the files stdout and stderr.
run() {
  code=0
  "$@" >stdout 2>stderr || code=$?
}

# expect CODE FRAGMENT COMMAND...: the exit code, and a fragment of what is printed on stderr (code 1 and 2) or stdout (code 0);
# an empty fragment is in everything, in nothing too.
expect() {
  local expected=$1 fragment=$2 stream=stderr
  shift 2
  run "$@"
  if ((expected == 0)); then stream=stdout; fi
  if ((code != expected)) || { [[ -n $fragment ]] && ! grep -qF -- "$fragment" "$stream"; }; then
    printf 'expected exit %s and on %s: %s\n--- stdout\n%s\n--- stderr\n%s\n' \
      "$expected" "$stream" "$fragment" "$(cat stdout)" "$(cat stderr)" >&2
    fail "exit $code: $*"
  fi
}

# has FRAGMENT: the last command printed it on stdout.
has() {
  grep -qF -- "$1" stdout || {
    cat stdout >&2
    fail "not on stdout: $1"
  }
}
