// Which plots a page opens with: what this model is about comes first.
import type { Run } from "./data";

export interface Suggestion {
  title: string;
  columns: string[];
  log?: boolean;
}

const MOST = 6;

/** A coordinate's column by its name in the model: "theta", "slide.angle". */
function positionColumn(run: Run, coordinate: string): string[] {
  return run.has(`q.${coordinate}`) ? [`q.${coordinate}`] : [];
}

/** Of a run that has yet to come, everything may. */
function changes(run: Run, name: string): boolean {
  if (run.rows < 2) return run.has(name);
  const column = run.find(name);
  if (!column || column.length === 0) return false;
  const first = column[0];
  return column.some((value) => value !== first);
}

/** Some of the columns, of the unit that the first has: they share an axis. */
function ofOneUnit(run: Run, names: string[], unit?: string): string[] {
  const wanted = unit ?? (names.length > 0 ? run.unit(names[0]) : "");
  return names.filter((name) => run.unit(name) === wanted).slice(0, MOST);
}

/** A plot of some of the columns; if there are more, the title says so. */
function plotOf(run: Run, title: string, names: string[]): Suggestion {
  const columns = ofOneUnit(run, names);
  return { title: columns.length < names.length ? `${title} (${columns.length} of ${names.length})` : title, columns };
}

/** Coordinates that motors or drives act on. */
function drivenCoordinates(run: Run): string[] {
  const { scene, columns } = run;
  const found = (scene.drives ?? []).flatMap((name) => positionColumn(run, name));
  for (const force of scene.forces ?? []) {
    if (force.joint === undefined) continue;
    const joint = scene.joints[force.joint];
    const column = joint.q.length === 1 ? joint.q[0] : joint.q[force.component ?? 0];
    if (column !== null && column !== undefined) found.push(columns[column]);
    else found.push(...positionColumn(run, joint.name)); // a cut joint
  }
  return [...new Set(found)];
}

/** What most people want to see first: driven joints, loads, sensors, energies. */
export function suggestPlots(run: Run): Suggestion[] {
  const names = run.columns;
  const simple = run.scene.joints.filter((joint) => joint.q.length === 1 && joint.q[0] !== null).map((joint) => names[joint.q[0]!]);
  const driven = drivenCoordinates(run);
  const others = simple.filter((name) => !driven.includes(name));
  let motion = driven.length > 0 ? driven : simple;
  if (motion.length === 0) motion = names.filter((name) => /^q\..*\.[xyz]$/.test(name));
  if (motion.length === 0) motion = names.filter((name) => name.startsWith("q."));

  const loads = names.filter((name) => /^(effort|load)\./.test(name) && changes(run, name));
  const powers = names.filter((name) => name.startsWith("power.") && changes(run, name));
  const inputs = names.filter((name) => /^[uz]\./.test(name) && changes(run, name)).slice(0, MOST);
  const known = /^(t$|[qvauz]\.|lambda\.|force\.|torque\.|effort\.|load\.|power\.|energy\.|error\.)/;
  const sensors = names.filter((name) => !known.test(name) && changes(run, name));
  const energies = ["energy.kinetic", "energy.potential", "energy.total"].filter((name) => names.includes(name));

  const panes: Suggestion[] = [
    plotOf(run, driven.length > 0 ? "Driven joints" : "Joints", motion),
    plotOf(run, "Other joints", driven.length > 0 && others.length <= MOST ? others : []),
    loads.length > 0 ? plotOf(run, "Loads", loads) : plotOf(run, "Power", powers),
    plotOf(run, "Sensors", sensors),
    { title: "Inputs", columns: inputs },
    { title: "Energy", columns: energies },
  ];
  const wanted = panes.filter(({ columns }) => columns.length > 0);
  return wanted.length > 0 ? wanted : [{ title: "", columns: names.slice(1, 1 + MOST) }];
}

/** How well the computation holds what it should: on its own tab. */
export function suggestErrors(run: Run): Suggestion[] {
  const panes: Suggestion[] = [];
  for (const [title, name] of [
    ["Position error", "error.position"],
    ["Velocity error", "error.velocity"],
  ])
    if (run.has(name) && changes(run, name)) panes.push({ title, columns: [name], log: true });
  const others = run.columns.filter((name) => name.startsWith("error.") && !["error.position", "error.velocity"].includes(name) && changes(run, name));
  if (others.length > 0) panes.push({ title: "Other errors", columns: others.slice(0, MOST) });
  if (run.has("energy.total")) panes.push({ title: "Total energy", columns: ["energy.total"] });
  return panes;
}
