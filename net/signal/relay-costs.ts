import { createHash } from 'node:crypto';

/** Milliseconds of a round trip to each relay that a node can use, by the relay's name. Who came back of late costs more. */
export type RelayCosts = ReadonlyMap<string, number>;

/** As the configuration of a control plane takes them. */
export const RELAY_NAME = /^[a-z0-9][a-z0-9-]{0,31}$/;
/** The most relays in one graph. */
export const MAX_RELAYS = 8;
export const MAX_RELAY_COST = 65_535;
const DIGEST = /^[0-9a-f]{16}$/;

/** From JSON. Undefined for what is none. */
export function costsOf(value: unknown): RelayCosts | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const costs = Object.entries(value as Record<string, unknown>);
  return costs.length <= MAX_RELAYS && costs.every(isCost) ? new Map(costs) : undefined;
}

/** The first 8 bytes of SHA-256, in hex, over a line `<name> <cost>` for each relay, in the order of these and each ended by a line feed. */
export function digestOfCosts(costs: RelayCosts): string {
  const lines = [...costs].map(([name, cost]) => `${name} ${cost}\n`).sort();
  return createHash('sha256').update(lines.join('')).digest('hex').slice(0, 16);
}

export function isDigest(value: unknown): value is string {
  return typeof value === 'string' && DIGEST.test(value);
}

function isCost(entry: [string, unknown]): entry is [string, number] {
  const [name, cost] = entry;
  return RELAY_NAME.test(name) && Number.isInteger(cost) && Number(cost) >= 0 && Number(cost) <= MAX_RELAY_COST;
}
