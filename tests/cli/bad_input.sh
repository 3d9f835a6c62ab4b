#!/usr/bin/env bash
# Bad input and usage: exit 2, one line that says what is wrong and what would be right, nothing written.
set -euo pipefail
source "$SOURCE_DIR/tests/cli/expect.bash"

bad() {
  expect 2 "$@"
  [[ $(head -c 10 stderr) == 'linkwork: ' && $(wc -l <stderr) == 1 ]] || fail "not one line of 'linkwork: ...': $(cat stderr)"
  [[ ! -s stdout ]] || fail "prints on stdout: $(cat stdout)"
  [[ ! -e out ]] || fail 'leaves results'
}

# Commands and options.
bad "unknown command 'rum'; did you mean 'run'?" "$LINKWORK" rum four_bar
bad "unknown option '--versoin'; did you mean '--version'?" "$LINKWORK" --versoin
bad "unknown option '--integrater'; did you mean '--integrator'?" "$LINKWORK" run four_bar --integrater rk4
bad "unknown option '-x'" "$LINKWORK" run four_bar -x
bad "MODEL is required; see 'linkwork run --help'" "$LINKWORK" run
bad 'MODEL is required' "$LINKWORK" check
bad 'WHAT is required' "$LINKWORK" list
bad 'NAME is required' "$LINKWORK" new
bad "the argument 'ring' is one too many" "$LINKWORK" run four_bar ring
bad "unknown list 'formulation'; did you mean 'formulations'?" "$LINKWORK" list formulation
bad '--end: takes exactly one value' "$LINKWORK" run four_bar --end
bad '--end: takes exactly one value' "$LINKWORK" run four_bar --end 1 --end 2

# Numbers.
for value in 0 -1 nan inf -inf abc 1s 1e999; do
  for option in --end --step --max-step --rtol --atol --every; do
    bad "$option: the value is '$value'; expected a finite number > 0" "$LINKWORK" run four_bar "$option=$value"
  done
done
bad "--end: the value is ''" "$LINKWORK" run four_bar --end ''
bad 'are more than 1e+12 steps' "$LINKWORK" run four_bar --step 1e-300
bad 'are more than 1e+09 rows' "$LINKWORK" run four_bar --every 1e-300

# Choices.
bad "--formulation: unknown formulation 'shur'; did you mean 'schur'?" "$LINKWORK" run four_bar --formulation shur
bad "--stabilization: unknown stabilization 'x'; expected one of: projection" "$LINKWORK" run four_bar --stabilization x
bad "--integrator: unknown integrator 'rk5'; did you mean 'rk4'?" "$LINKWORK" run four_bar --integrator rk5
bad "--coordinates: unknown coordinates 'XY'; expected one of: auto, FA, CE, TA" "$LINKWORK" run four_bar --coordinates XY
bad '--coordinates: unknown coordinates' "$LINKWORK" run four_bar --coordinates cartesian
bad "--glue: unknown glue 'mortar'; expected one of: auto, none, hierarchical, compliance, projection, gluing, waveform" "$LINKWORK" run four_bar --glue mortar
bad "--threads: the model is solved in one piece, by one thread; expected a model made of modules" "$LINKWORK" run four_bar --threads 2
bad "--stabilization: unknown option of baumgarte 'delta'" "$LINKWORK" run four_bar --stabilization baumgarte:delta=1
bad "--stabilization: option 'alpha' has the value 'x'; expected a number" "$LINKWORK" run four_bar --stabilization baumgarte:alpha=x
bad "--glue: option 'tree' of glue 'hierarchical' is -7; expected a whole number from -1" "$LINKWORK" run chain_modules --glue hierarchical:tree=-7
bad "--glue: option 'tree' of glue 'hierarchical' is 0.5; expected a whole number from -1" "$LINKWORK" run chain_modules --glue hierarchical:tree=0.5
bad "--stabilization: option 'times' of stabilization 'post' is 0; expected a whole number from 1" "$LINKWORK" run four_bar --stabilization post:times=0
bad "--integrator: option 'rho' of integrator 'hht' is 0.2; expected a number from 0.5 to 1" "$LINKWORK" run four_bar --integrator hht:rho=0.2
bad "--formulation: option 'damping' of formulation 'compliance' is -1; expected a number not below 0" "$LINKWORK" run four_bar --formulation compliance:damping=-1
bad '--integrator: the choice has no name' "$LINKWORK" run four_bar --integrator ''

# Parameters.
bad "--set foo=1: unknown parameter 'foo'" "$LINKWORK" run four_bar --set foo=1
bad "--set: 'torque' sets nothing; expected name=value" "$LINKWORK" run four_bar --set torque
bad "--set: '=1' sets nothing" "$LINKWORK" run four_bar --set =1
bad "--set: 'torque=' sets nothing" "$LINKWORK" run four_bar --set torque=
bad '--set torque=1+' "$LINKWORK" run four_bar --set torque=1+
bad '--set torque=nan' "$LINKWORK" run four_bar --set torque=nan

# Files and folders.
bad "there is neither a file nor a ready model 'four_ba'; did you mean 'four_bar'?" "$LINKWORK" run four_ba
bad 'missing.toml: cannot be opened: No such file or directory' "$LINKWORK" run missing.toml
mkdir near && touch near/corner.toml near/robot.urdf
bad "there is no file 'near/crner.toml'; did you mean 'near/corner.toml'?" "$LINKWORK" run near/crner.toml
bad "there is no file 'near/robt.urdf'; did you mean 'near/robot.urdf'?" "$LINKWORK" check near/robt.urdf
(cd near && bad "there is neither a file nor a ready model 'corner.tml'; did you mean 'corner.toml'?" "$LINKWORK" run corner.tml)
mkdir folder && bad 'folder: is a directory' "$LINKWORK" run folder
touch occupied
bad 'occupied: cannot be made: ' "$LINKWORK" run four_bar --out occupied
bad 'occupied/in: cannot be made: Not a directory' "$LINKWORK" run four_bar --out occupied/in
mkdir taken taken/trajectory.csv
bad 'taken/trajectory.csv: cannot be written: Is a directory' "$LINKWORK" run four_bar --out taken
bad '--out: the name is empty' "$LINKWORK" run four_bar --out ''

# Models: the place of what is wrong. The first line of each is 1.
base='linkwork = 1
[[body]]
name = "b"
mass = 1.0
com = [0.5, 0, 0]
[[joint]]
name = "j"
type = "revolute"
parent = { body = "ground" }
child = { body = "b" }'

# bad_model PLACE FRAGMENT: the model on stdin.
bad_model() {
  cat >bad.toml
  bad "bad.toml:$1: $2" "$LINKWORK" run bad.toml
  bad "bad.toml:$1: $2" "$LINKWORK" check bad.toml
}
bad_model 1:1 'the file is empty' </dev/null
bad_model 1:12 "'linkwork' is 2" <<<'linkwork = 2'
bad_model 4:8 "'mass' is nan" <<<"${base/mass = 1.0/mass = nan}"
bad_model 4:8 "'mass' is" <<<"${base/mass = 1.0/mass = -1}"
bad_model 4:1 "unknown" <<<"${base/mass = 1.0/masss = 1.0}"
bad_model 8:8 "unknown joint type 'rotary'; expected one of: revolute" <<<"${base/revolute/rotary}"
bad_model 10:18 "unknown body 'c'" <<<"${base/body = \"b\"/body = \"c\"}"
bad_model 11:1 "body 'loose' is not connected" <<<"$base"$'\n[[body]]\nname = "loose"\nmass = 1.0'
bad_model 12:7 "'end' is 0; expected a number > 0" <<<"$base"$'\n[settings]\nend = 0'
bad_model 12:14 "unknown integrator 'rk5'; did you mean 'rk4'?" <<<"$base"$'\n[settings]\nintegrator = "rk5"'
bad_model 12:15 "unknown formulation 'autp'; did you mean 'auto'?" <<<"$base"$'\n[settings]\nformulation = "autp"'
bad_model 14:14 "unknown name 'x'" <<<"$base"$'\n[[force]]\ntype = "torque"\njoint = "j"\nvalue = "sin(x)"'

# A loop that cannot be closed.
cat >apart.toml <<<"$base"'
[[closure]]
name = "far"
type = "point"
a = { body = "b", at = [1, 0, 0] }
b = { body = "ground", at = [5, 0, 0] }'
bad "the mechanism cannot be closed: no position satisfies 'far' (off by " "$LINKWORK" run apart.toml
grep -qE 'apart\.toml:[0-9]+:[0-9]+: ' stderr || fail 'no place'
