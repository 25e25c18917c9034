/** How often a node sends heartbeats, and after which silence it is offline. Milliseconds. */
interface HeartbeatTimes {
  readonly interval: number;
  readonly online: number;
}

const UNTIL_WIRE_2: HeartbeatTimes = { interval: 30_000, online: 90_000 };
const SINCE_WIRE_3: HeartbeatTimes = { interval: 15_000, online: 45_000 };

/** The longest silence of any peer that is online, and of those whose version of the wire is unknown. */
export const LONGEST_ONLINE_MS = UNTIL_WIRE_2.online;

/**
 * Returns the times of a node and a control plane (docs/wire.md#requests-on-the-bus).
 *
 * @param wire the version that both speak; undefined while it is unknown
 */
export function heartbeatTimes(wire: number | undefined): HeartbeatTimes {
  return wire === undefined || wire < 3 ? UNTIL_WIRE_2 : SINCE_WIRE_3;
}
