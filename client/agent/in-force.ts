import { parseInstant } from '../../core/base/time.ts';
import type { FullGraph } from '../../core/model/graph.ts';

export interface InForce {
  /** Without the peers and rules whose time is over. Undefined once this node's own time is over. */
  readonly graph: FullGraph | undefined;
  /**
   * When the answer changes next by the clock alone, in milliseconds; infinite where all that ends is over, which another clock
   * may deny. Undefined where nothing ends.
   */
  readonly until: number | undefined;
}

interface Ending {
  readonly expiresAt?: string;
}

/** Returns the part of a graph that is in force at an instant: the node's own clock ends permissions, without the control plane. */
export function inForce(graph: FullGraph, now: number): InForce {
  const { self, peers, firewall } = graph;
  const { digest, full } = firewall;
  const ends = [self, ...peers, ...full.in, ...full.out].map(endOf).filter(Number.isFinite);
  const next = ends.reduce((next, end) => (end > now && end < next ? end : next), Number.POSITIVE_INFINITY);
  const until = ends.length > 0 ? next : undefined;
  if (endOf(self) <= now) return { graph: undefined, until };
  const lives = (item: Ending) => endOf(item) > now;
  const rules = { in: full.in.filter(lives), out: full.out.filter(lives) };
  return { graph: { ...graph, peers: peers.filter(lives), firewall: { digest, full: rules } }, until };
}

function endOf({ expiresAt }: Ending): number {
  return expiresAt === undefined ? Number.POSITIVE_INFINITY : parseInstant(expiresAt);
}
