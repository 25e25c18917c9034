import type { JointUnit } from './joint-units.ts';
import { NO_PORTS, type PortSets } from './port-sets.ts';
import type { Reachability } from './reachability.ts';
import type { Row } from './rows.ts';

/** Traffic that a unit sends and receives by policies alone, before and after. */
export interface UnitRows {
  readonly isDead: boolean;
  readonly network: string | undefined;
  readonly oldClass: number;
  readonly newClass: number;
  readonly oldSent: Row;
  /** Undefined where it is what it was, as {@link newReceived}. */
  readonly newSent: Row | undefined;
  readonly oldReceived: Row;
  readonly newReceived: Row | undefined;
}

/** Undefined for a unit of which more differs than its policies: its pairs have to be compared one by one. */
export function unitRows(
  { parts: old }: Reachability,
  { parts: now }: Reachability,
  unit: JointUnit,
): UnitRows | undefined {
  const { before, after } = unit.members[0] ?? {};
  const [was, is] = [old.endpoints[before ?? -1], now.endpoints[after ?? -1]];
  if (!was || !is || was.external || unit.changed || unit.bound || unit.ancestors.size > 0) return undefined;
  return {
    isDead: was.dead !== undefined,
    network: was.network,
    oldClass: was.classIndex,
    newClass: is.classIndex,
    oldSent: old.table.row('egress', was.classIndex),
    newSent: unit.sends ? now.table.row('egress', is.classIndex) : undefined,
    oldReceived: old.table.row('ingress', was.classIndex),
    newReceived: unit.receives ? now.table.row('ingress', is.classIndex) : undefined,
  };
}

/** Returns true if nothing differs between two units, by four look-ups. */
export function isUnchanged(src: UnitRows, dst: UnitRows, ports: PortSets): boolean {
  if (src.isDead || dst.isDead || src.network !== dst.network) return true;
  const out = src.oldSent[dst.oldClass] ?? NO_PORTS;
  const into = dst.oldReceived[src.oldClass] ?? NO_PORTS;
  const outNow = src.newSent === undefined ? out : (src.newSent[dst.newClass] ?? NO_PORTS);
  const intoNow = dst.newReceived === undefined ? into : (dst.newReceived[src.newClass] ?? NO_PORTS);
  if (out === outNow && into === intoNow) return true;
  const wasNothing = out === NO_PORTS || into === NO_PORTS;
  const isNothing = outNow === NO_PORTS || intoNow === NO_PORTS;
  if (wasNothing || isNothing) return wasNothing && isNothing;
  return ports.meet(out, into) === ports.meet(outNow, intoNow);
}
