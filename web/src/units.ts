// Units of columns, and how they are shown: as computed (SI, radians), or angles in degrees.

const NAMES: Record<string, string> = {
  "": "values",
  s: "time",
  m: "length",
  "m/s": "velocity",
  "m/s^2": "acceleration",
  rad: "angle",
  "rad/s": "angular velocity",
  "rad/s^2": "angular acceleration",
  N: "force",
  "N m": "torque",
  J: "energy",
  W: "power",
  Hz: "frequency",
};

let degrees = false;
const listeners: (() => void)[] = [];

export function inDegrees(): boolean {
  return degrees;
}

export function setDegrees(wanted: boolean): void {
  degrees = wanted;
  for (const listener of listeners) listener();
}

export function onUnitsChange(listener: () => void): void {
  listeners.push(listener);
}

/** Whether the switch between radians and degrees makes a difference to it. */
export function isAngular(unit: string): boolean {
  return unit.startsWith("rad");
}

/** What numbers of a unit are multiplied by to be shown. */
export function shownFactor(unit: string): number {
  return degrees && isAngular(unit) ? 180 / Math.PI : 1;
}

/** A unit for a person: "rad/s^2" becomes "rad/s²" or "°/s²". Empty: it is not known; "1": there is none. */
export function shownUnit(unit: string): string {
  if (unit === "") return "unit of the model";
  if (unit === "1") return "no unit";
  const written = degrees && isAngular(unit) ? unit.replace("rad", "°") : unit;
  return written.replaceAll("^2", "²").replaceAll("N m", "N·m");
}

export function shortened(name: string, most: number): string {
  return name.length <= most ? name : `${name.slice(0, most - 1)}…`;
}

/** Of a number: nothing is written behind one without unit, or of which it is not known. */
export function unitSuffix(unit: string): string {
  return unit === "" || unit === "1" ? "" : `${shownUnit(unit).startsWith("°") ? "" : "\u202f"}${shownUnit(unit)}`;
}

const MOST_LETTERS = 18; // for which there is room beside a plot, with the unit

/** The title of an axis for some columns of one unit. Where their names are too long, the unit stays. */
export function axisTitle(unit: string, columns: string[]): string {
  const [first] = columns;
  const named = columns.length === 1 && first.length <= MOST_LETTERS && unit !== "";
  const quantity = named ? first : NAMES[unit];
  return quantity ? `${quantity} (${shownUnit(unit)})` : shownUnit(unit);
}
