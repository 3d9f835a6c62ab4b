// Mass matrices and bias forces of tree robots against MuJoCo's, which is fetched by npm for this test only.
// mujoco_test.mjs DUMP_PROGRAM MODEL...; random trees are added to the models.

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [program, ...files] = process.argv.slice(2);
let load;
try {
  const require = createRequire(process.cwd() + "/");
  load = (await import(pathToFileURL(require.resolve("@mujoco/mujoco")))).default;
} catch {
  console.log("skipped: npm could not fetch @mujoco/mujoco");
  process.exit(77);
}
const mujoco = await load();
let failed = 0;

// Numbers that are the same every time (mulberry32).
function numbers(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** A tree with random poses in all notations, geoms, classes, frames, joints, rotors. */
function randomTree(seed) {
  const random = numbers(seed);
  const number = (low, high) => low + (high - low) * random();
  const vector = (size) => [0, 1, 2].map(() => number(-size, size).toFixed(4)).join(" ");
  const any = (list) => list[Math.floor(random() * list.length)];
  const sequence = any(["xyz", "zyx", "XYZ", "zXy"]);
  const degrees = random() < 0.5;
  const angle = (x) => (degrees ? (x * 180) / Math.PI : x).toFixed(5);
  const turn = () =>
    any([
      () => "",
      () => `euler="${angle(number(-2, 2))} ${angle(number(-2, 2))} ${angle(number(-2, 2))}"`,
      () => `quat="${number(0.1, 1)} ${vector(1)}"`,
      () => `axisangle="${vector(1)} ${angle(number(-3, 3))}"`,
      () => `xyaxes="${vector(1)} ${vector(1)}"`,
      () => `zaxis="${vector(1)}"`,
    ])();
  const size = () => number(0.03, 0.2).toFixed(3);
  const geom = () =>
    any([
      () => `<geom type="sphere" size="${size()}" pos="${vector(0.2)}"/>`,
      () => `<geom type="box" size="${size()} ${size()} ${size()}" pos="${vector(0.2)}" ${turn()}/>`,
      () => `<geom type="ellipsoid" size="${size()} ${size()} ${size()}" ${turn()} density="700"/>`,
      () => `<geom type="capsule" size="${size()} ${size()}" ${turn()} mass="${number(0.2, 2)}"/>`,
      () => `<geom class="thin" fromto="${vector(0.3)} ${vector(0.3)}"/>`,
      () => `<geom type="box" size="${size()}" fromto="${vector(0.3)} ${vector(0.3)}"/>`,
      () => `<frame pos="${vector(0.2)}" ${turn()}><geom type="cylinder" size="${size()} ${size()}"/></frame>`,
    ])();
  let joints = 0;
  const joint = () =>
    any([
      () => `<joint name="j${joints++}" axis="${vector(1)}" pos="${vector(0.1)}" armature="${number(0, 0.2)}" ref="${angle(number(-1, 1))}"/>`,
      () => `<joint name="j${joints++}" axis="${vector(1)}"/>`,
      () => `<joint name="j${joints++}" type="slide" axis="${vector(1)}" ref="${number(-0.2, 0.2)}" armature="${number(0, 0.5)}"/>`,
      () => `<joint class="geared" name="j${joints++}" axis="${vector(1)}"/>`,
    ])();
  const body = (depth, free) => {
    const moves = free ? `<freejoint name="j${joints++}"/>` : any([() => joint(), () => joint() + joint(), () => `<joint name="j${joints++}" type="ball" pos="${vector(0.1)}"/>`])();
    let inner = moves + geom() + (random() < 0.5 ? geom() : "");
    if (random() < 0.3) inner = moves + `<inertial pos="${vector(0.1)}" ${turn().replace(/xyaxes.*|zaxis.*/, "")} mass="${number(0.2, 3)}" diaginertia="0.02 0.025 0.03"/>` + geom();
    if (random() < 0.3) inner += `<body pos="${vector(0.2)}">${geom()}</body>`;  // fixed
    for (let k = 0; depth < 4 && k < (random() < 0.6 ? 1 : 2); k++) inner += body(depth + 1, false);
    return `<body pos="${vector(0.4)}" ${turn()}>${inner}</body>`;
  };
  const free = random() < 0.5;
  return `<mujoco><compiler angle="${degrees ? "degree" : "radian"}" eulerseq="${sequence}"/>
<default><geom density="800"/><default class="thin"><geom type="capsule" size="0.02"/></default><default class="geared"><joint armature="0.11"/></default></default>
<worldbody>${body(0, free)}${body(3, false)}</worldbody></mujoco>`;
}

for (let seed = 1; seed <= 12; seed++) {
  writeFileSync(`random_tree_${seed}.xml`, randomTree(seed));
  files.push(`random_tree_${seed}.xml`);
}

for (const file of files) {
  const ours = JSON.parse(execFileSync(program, [file], { encoding: "utf8", maxBuffer: 1 << 28 }));
  const model = mujoco.MjModel.from_xml_string(readFileSync(file, "utf8"));
  const data = new mujoco.MjData(model);
  const n = model.nv;
  // Joints by name: where their coordinates are, there and here.
  const q_of = new Array(model.nq), v_of = new Array(n);
  const byName = new Map(ours.joints.map((joint) => [joint.name, joint]));
  const JOINT = 3;
  for (let j = 0; j < model.njnt; ++j) {
    const joint = byName.get(mujoco.mj_id2name(model, JOINT, j));
    if (!joint) throw new Error(`${file}: no joint ${mujoco.mj_id2name(model, JOINT, j)}`);
    joint.q.forEach((index, k) => (q_of[model.jnt_qposadr[j] + k] = index));
    joint.v.forEach((index, k) => (v_of[model.jnt_dofadr[j] + k] = index));
  }
  let worstM = 0, worstC = 0;
  for (const state of ours.states) {
    for (let i = 0; i < model.nq; ++i) data.qpos[i] = state.q[q_of[i]];
    for (let i = 0; i < n; ++i) data.qvel[i] = state.v[v_of[i]];
    mujoco.mj_forward(model, data);
    const full = new mujoco.DoubleBuffer(n * n);
    mujoco.mj_fullM(model, data, full);
    const M = full.GetView();
    const largestM = Math.max(...M.map(Math.abs)), largestC = Math.max(...data.qfrc_bias.map(Math.abs), 1e-300);
    for (let i = 0; i < n; ++i) {
      worstC = Math.max(worstC, Math.abs(data.qfrc_bias[i] - state.c[v_of[i]]) / largestC);
      for (let k = 0; k < n; ++k) worstM = Math.max(worstM, Math.abs(M[i * n + k] - state.M[v_of[i]][v_of[k]]) / largestM);
    }
    full.delete();
  }
  const good = worstM < 1e-9 && worstC < 1e-9;
  failed += good ? 0 : 1;
  console.log(`${good ? "ok  " : "FAIL"} ${file}: ${n} coordinates, mass matrix within ${worstM.toExponential(2)}, bias within ${worstC.toExponential(2)}`);
}
process.exit(failed ? 1 : 0);
