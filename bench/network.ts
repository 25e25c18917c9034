import type { PolicySpec } from '../core/model/policy.ts';
import type { NetworkModel } from '../core/reachability/model.ts';

const NOW = 1_767_225_600_000;

/** What services listen on. */
export const PORTS = [22, 53, 80, 123, 389, 443, 636, 3_306, 5_432, 5_672, 6_379, 8_080, 8_443, 9_090, 9_200, 27_017];

export interface Size {
  readonly peers: number;
  readonly policies: number;
}

/** Peers in apps, tiers and zones; policies of a few rules each, one in ten selecting everything, one in ten a DENY. */
export function networkOf({ peers, policies }: Size): NetworkModel {
  const random = generator(42);
  const apps = Math.ceil(peers / 8);
  const labelsOf = () => {
    const app = random(apps);
    return {
      app: `app-${app}`,
      tier: `tier-${app % 4}`,
      zone: `zone-${(app + random(2)) % 5}`,
      env: app % 3 === 0 ? 'prod' : 'dev',
    };
  };
  const selectorOf = () => {
    const pick = random(4);
    if (pick === 0) return { matchLabels: { tier: `tier-${random(4)}`, zone: `zone-${random(5)}` } };
    if (pick === 1)
      return {
        matchExpressions: [
          { key: 'app', operator: 'In' as const, values: [`app-${random(apps)}`, `app-${random(apps)}`] },
        ],
      };
    return { matchLabels: { app: `app-${random(apps)}` } };
  };
  const policyOf = (index: number): PolicySpec => ({
    action: index % 10 === 9 ? 'DENY' : 'ALLOW',
    peerSelector: index % 10 === 0 ? {} : selectorOf(),
    ingress: Array.from({ length: 1 + random(3) }, () => ({
      from: [{ peerSelector: selectorOf() }, { peerSelector: selectorOf() }],
      ports: [{ port: PORTS[random(PORTS.length)] }, { protocol: 'UDP' as const, port: 53 }].slice(random(2)),
    })),
    ...(index % 3 === 0 && { egress: [{ to: [{ peerSelector: selectorOf() }, '*' as const].slice(random(2)) }] }),
  });
  return {
    networks: [{ name: 'default', cidr: '10.96.0.0/16', defaultAction: 'ALLOW' }],
    peers: Array.from({ length: peers }, (_, i) => ({
      name: `peer-${i}`,
      labels: labelsOf(),
      network: 'default',
      address: `10.96.${i >> 8}.${i & 255}`,
    })),
    policies: Array.from({ length: policies }, (_, i) => ({ name: `p${i}`, spec: policyOf(i) })),
    now: NOW,
  };
}

/** A fixed sequence (Park and Miller), so that every run measures the same network. */
export function generator(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}
