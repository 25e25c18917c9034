/**
 * What a network is and who reaches whom in it, as docs/policy.md says of policies of this one form: about peers of a role,
 * one rule on what they are sent from a role. Nothing of the product is used here.
 */

export interface Rule {
  readonly action: 'ALLOW' | 'DENY';
  /** Role of the peers that it is about. */
  readonly to: string;
  readonly from: string;
  readonly port: number;
  /** From this instant on it does not count, ms. */
  readonly expiresAt?: number;
}

export interface Network {
  /** Roles of peers by name. */
  readonly peers: ReadonlyMap<string, string>;
  readonly policies: ReadonlyMap<string, Rule>;
}

export const EMPTY: Network = { peers: new Map(), policies: new Map() };
export const ROLES = ['web', 'db', 'ci'] as const;
export const PORTS = [443, 5_432] as const;

/** Whether `src` may open TCP connections to the port of `dst`. */
export function reaches(network: Network, src: string, dst: string, port: number, at: number): boolean {
  const about = [...network.policies.values()].filter(
    ({ to, expiresAt }) => to === network.peers.get(dst) && !isOver(expiresAt, at),
  );
  const meant = about.filter((rule) => rule.from === network.peers.get(src) && rule.port === port);
  if (meant.some(({ action }) => action === 'DENY')) return false;
  if (meant.some(({ action }) => action === 'ALLOW')) return true;
  return !about.some(({ action }) => action === 'ALLOW');
}

export function isOver(expiresAt: number | undefined, at: number): boolean {
  return expiresAt !== undefined && expiresAt <= at;
}

export function withPeer(network: Network, name: string, role: string): Network {
  return { ...network, peers: new Map(network.peers).set(name, role) };
}

export function withoutPeer(network: Network, name: string): Network {
  return { ...network, peers: new Map([...network.peers].filter(([each]) => each !== name)) };
}

export function withPolicy(network: Network, name: string, rule: Rule): Network {
  return { ...network, policies: new Map(network.policies).set(name, rule) };
}

export function withoutPolicy(network: Network, name: string): Network {
  return { ...network, policies: new Map([...network.policies].filter(([each]) => each !== name)) };
}
