// Mass matrices and bias forces of tree robots against MuJoCo's, which is fetched by npm for this test only.
// mujoco_test.mjs DUMP_PROGRAM MODEL...

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
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
