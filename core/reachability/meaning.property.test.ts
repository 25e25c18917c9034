import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type PolicySpec, policySpecSchema } from '../model/policy.ts';
import { endOf, entriesMatch, isolates, isSubject, type MatchablePeer, rulesOf } from '../model/policy-match.ts';
import { compile } from './engine.ts';
import type { Direction, NetworkModel, PeerInput } from './model.ts';
import { networkModel } from './models.testkit.ts';
import { PortSets } from './port-sets.ts';

/** docs/policy.md#precedence on one port, put together from nothing but what `core/model/policy-match.ts` tells. */
function isOpen(model: NetworkModel, direction: Direction, subject: MatchablePeer, other: MatchablePeer): boolean {
  const specs = model.policies
    .map(({ spec }) => policySpecSchema.parse(spec))
    .filter((spec) => endOf(spec) > model.now && isSubject(spec, subject));
  const hits = (action: PolicySpec['action']) =>
    specs.some(
      (spec) =>
        spec.action === action &&
        rulesOf(spec, direction)?.some(({ peers, ports }) => isOnPort80(ports) && entriesMatch(peers, other)),
    );
  if (hits('DENY')) return false;
  if (hits('ALLOW')) return true;
  if (specs.some((spec) => isolates(spec, direction))) return false;
  return model.networks.find(({ name }) => name === subject.spec.network)?.defaultAction === 'ALLOW';
}

function isOnPort80(ports: Parameters<PortSets['ofEntries']>[0]): boolean {
  const sets = new PortSets();
  return sets.intersects(sets.ofEntries(ports), sets.ofEntries([{ port: 80 }]));
}

const meant = ({ uid, name, labels, network, address }: PeerInput): MatchablePeer => ({
  uid: uid ?? name,
  labels,
  spec: { network },
  status: { address: address ?? null },
});

describe('what policies mean without the engine', () => {
  it('is what the engine computes, for every pair of every network', () => {
    fc.assert(
      fc.property(networkModel, (drawn) => {
        const peers = drawn.peers.map(({ bound: _, phase: _phase, expiresAt: _end, ...peer }) => peer);
        const model = { ...drawn, peers };
        const reach = compile(model);
        for (const src of peers) {
          for (const dst of peers) {
            if (src === dst || src.network !== dst.network) continue;
            const [from, to] = [meant(src), meant(dst)];
            const expected = isOpen(model, 'egress', from, to) && isOpen(model, 'ingress', to, from);
            expect(reach.verdict(src.name, dst.name, 'TCP', 80), `${src.name} to ${dst.name}`).toBe(expected);
          }
        }
      }),
    );
  });
});
