"""FMUs of "another maker": packs the shared objects of fixture_*.c with descriptions written from the standard."""

import zipfile

GUID = "{8c4e810f-3df3-4a00-8276-176fa3c9f9e0}"

# name, causality, variability, type (as FMI 3 calls it), position among the numbers of that sort, start, derivative of
MODELS = {
    "ball": {
        "variables": [("h", "local", "continuous", "Float64", 0, "1", None), ("der(h)", "local", "continuous", "Float64", 2, None, "h"),
                      ("v", "local", "continuous", "Float64", 1, "0", None), ("der(v)", "local", "continuous", "Float64", 3, None, "v"),
                      ("g", "parameter", "fixed", "Float64", 4, "9.81", None), ("e", "parameter", "tunable", "Float64", 5, "0.7", None),
                      ("height", "output", "continuous", "Float64", 6, None, None),
                      ("bounces", "output", "discrete", "Int32", 0, None, None)],
        "derivatives": ["der(h)", "der(v)"], "indicators": 1},
    "dahlquist": {
        "variables": [("x", "local", "continuous", "Float64", 0, "1", None), ("der(x)", "local", "continuous", "Float64", 1, None, "x"),
                      ("k", "parameter", "fixed", "Float64", 2, "1", None), ("u", "input", "continuous", "Float64", 3, "0", None),
                      ("y", "output", "continuous", "Float64", 4, None, None)],
        "derivatives": ["der(x)"], "dependencies": {"y": ["x"]}},
    "van_der_pol": {
        "variables": [("x0", "local", "continuous", "Float64", 0, "2", None), ("der(x0)", "local", "continuous", "Float64", 2, None, "x0"),
                      ("x1", "local", "continuous", "Float64", 1, "0", None), ("der(x1)", "local", "continuous", "Float64", 3, None, "x1"),
                      ("mu", "parameter", "fixed", "Float64", 4, "1", None), ("y0", "output", "continuous", "Float64", 5, None, None),
                      ("y1", "output", "continuous", "Float64", 6, None, None)],
        "derivatives": ["der(x0)", "der(x1)"]},
    "stair": {"variables": [("counter", "output", "discrete", "Int32", 0, None, None)]},
    "feedthrough": {
        "variables": [("real in", "input", "continuous", "Float64", 0, "0", None), ("real out", "output", "continuous", "Float64", 1, None, None),
                      ("offset", "parameter", "fixed", "Float64", 2, "0", None),
                      ("discrete_in", "input", "discrete", "Float64", 3, "0", None),
                      ("discrete_out", "output", "discrete", "Float64", 4, None, None),
                      ("int_in", "input", "discrete", "Int32", 0, "0", None), ("int_out", "output", "discrete", "Int32", 8, None, None),
                      ("bool_in", "input", "discrete", "Boolean", 0, "false", None),
                      ("bool_out", "output", "discrete", "Boolean", 1, None, None),
                      ("text", "parameter", "fixed", "String", 0, "text", None), ("text_out", "output", "discrete", "String", 1, None, None)],
        "only3": [(f"{kind}_{way}", "input" if way == "in" else "output", "discrete" if kind != "Float32" else "continuous", kind,
                   (place if way == "in" else place + 8) if kind != "Float32" else 0 if way == "in" else 1,
                   "0" if way == "in" else None, None)
                  for place, kind in enumerate(["Int8", "UInt8", "Int16", "UInt16", "Int64", "UInt64", "UInt32"], 1) for way in ("in", "out")]},
    "dc_motor": {
        "variables": [("i", "local", "continuous", "Float64", 0, "0", None), ("der(i)", "local", "continuous", "Float64", 1, None, "i"),
                      ("R", "parameter", "fixed", "Float64", 2, "1", None), ("L", "parameter", "fixed", "Float64", 3, "0.05", None),
                      ("k", "parameter", "fixed", "Float64", 4, "0.4", None), ("voltage", "input", "continuous", "Float64", 5, "0", None),
                      ("speed", "input", "continuous", "Float64", 6, "0", None), ("torque", "output", "continuous", "Float64", 7, None, None)],
        "derivatives": ["der(i)"], "dependencies": {"torque": ["i"]}},
    "controller": {
        "variables": [("x", "local", "continuous", "Float64", 0, "0", None), ("der(x)", "local", "continuous", "Float64", 1, None, "x"),
                      ("wanted", "input", "continuous", "Float64", 2, "0", None), ("speed", "input", "continuous", "Float64", 3, "0", None),
                      ("P", "parameter", "fixed", "Float64", 4, "2", None), ("I", "parameter", "fixed", "Float64", 5, "1", None),
                      ("voltage", "output", "continuous", "Float64", 6, None, None)],
        "derivatives": ["der(x)"], "dependencies": {"voltage": ["x", "wanted", "speed"]}},
    "failing": {
        "variables": [("x", "local", "continuous", "Float64", 0, "1", None), ("der(x)", "local", "continuous", "Float64", 1, None, "x"),
                      ("y", "output", "continuous", "Float64", 4, None, None)],
        "derivatives": ["der(x)"]},
}
PORT = ["fx", "fy", "fz", "tx", "ty", "tz"], ["x", "y", "z", "qw", "qx", "qy", "qz", "vx", "vy", "vz", "wx", "wy", "wz", "ax", "ay", "az", "dwx", "dwy", "dwz"]
MODELS["pendulum"] = {
    "variables": [("angle", "local", "continuous", "Float64", 0, "1.5707963267948966", None),
                  ("der(angle)", "local", "continuous", "Float64", 2, None, "angle"),
                  ("speed", "local", "continuous", "Float64", 1, "0", None), ("der(speed)", "local", "continuous", "Float64", 3, None, "speed"),
                  *((f"tip.{f}", "input", "continuous", "Float64", 4 + k, "0", None) for k, f in enumerate(PORT[0])),
                  *((f"tip.{y}", "output", "continuous", "Float64", 10 + k, None, None) for k, y in enumerate(PORT[1]))],
    "derivatives": ["der(angle)", "der(speed)"]}
FIRST = {"Float64": 0, "Float32": 0, "Boolean": 200, "String": 300}
TYPES2 = {"Float64": "Real", "Int32": "Integer", "Boolean": "Boolean", "String": "String"}


def escaped(text):
    return text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")


def description(name, version, kinds=("me", "cs"), guid=GUID, more="", serializes=True):
    model = MODELS[name]
    variables = model["variables"] + (model.get("only3", []) if version == 3 else [])
    order = {variable[0]: number for number, variable in enumerate(variables)}
    reference = {v[0]: v[4] + (0 if version == 2 else FIRST.get(v[3], 100)) for v in variables}
    head = (f'fmiVersion="2.0" guid="{guid}" numberOfEventIndicators="{model.get("indicators", 0)}"' if version == 2
            else f'fmiVersion="3.0" instantiationToken="{guid}"')
    state = "FMUstate" if version == 2 else "FMUState"
    interfaces = "".join(
        f'<{"ModelExchange" if kind == "me" else "CoSimulation"} modelIdentifier="{name}" canGetAndSet{state}="true" canSerialize{state}="{str(serializes).lower()}"'
        + (' canHandleVariableCommunicationStepSize="true"' if kind == "cs" else "")
        + (' canInterpolateInputs="true"' if kind == "cs" and version == 2 else "") + "/>" for kind in kinds)
    text = f'<?xml version="1.0" encoding="UTF-8"?>\n<fmiModelDescription modelName="{name}" {head}>{interfaces}<ModelVariables>'
    for v, causality, variability, kind, _, start, of in variables:
        common = f'name="{escaped(v)}" valueReference="{reference[v]}" causality="{causality}" variability="{variability}"'
        typed = (f' start="{start}"' if start is not None else "") + (
            f' derivative="{order[of] + 1 if version == 2 else reference[of]}"' if of else "")
        if version == 2:
            text += f'<ScalarVariable {common}><{TYPES2[kind]}{typed}/></ScalarVariable>'
        elif kind == "String":
            text += f'<String {common}>' + (f'<Start value="{start}"/>' if start is not None else "") + "</String>"
        else:
            text += f"<{kind} {common}{typed}/>"
    if version == 3 and model.get("indicators"):
        text += '<Float64 name="z" valueReference="900" causality="local" variability="continuous"/>'
    text += more + "</ModelVariables><ModelStructure>"

    def unknown(tag, v):
        depends = model.get("dependencies", {}).get(v)
        number = (lambda n: order[n] + 1) if version == 2 else (lambda n: reference[n])
        attribute = "index" if version == 2 else "valueReference"
        listed = "" if depends is None else f' dependencies="{" ".join(str(number(d)) for d in depends)}"'
        return f'<{tag} {attribute}="{number(v)}"{listed}/>'

    outputs = [v[0] for v in variables if v[1] == "output"]
    derivatives = model.get("derivatives", [])
    if version == 2:
        text += "<Outputs>" + "".join(unknown("Unknown", v) for v in outputs) + "</Outputs>"
        if derivatives:
            text += "<Derivatives>" + "".join(unknown("Unknown", v) for v in derivatives) + "</Derivatives>"
    else:
        text += "".join(unknown("Output", v) for v in outputs) + "".join(unknown("ContinuousStateDerivative", v) for v in derivatives)
        text += "".join('<EventIndicator valueReference="900"/>' for _ in range(model.get("indicators", 0)))
    return text + "</ModelStructure></fmiModelDescription>"


def make(name, version, folder, path, kinds=("me", "cs"), guid=GUID, more="", binary=True, extra=(), serializes=True):
    """folder: where the shared objects are."""
    platform = "linux64" if version == 2 else "x86_64-linux"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("modelDescription.xml", description(name, version, kinds, guid, more, serializes))
        archive.writestr("documentation/", "")
        with open(f"{folder}/fixture_{name}_fmi{version}.so", "rb") as object_file:
            archive.writestr(f"binaries/{platform if binary else 'win64'}/{name}.so", object_file.read())
        for entry, contents in extra:
            archive.writestr(entry, contents)
    return path
