import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { network, peer, policy, stateWith } from '../../../test/kits/records/records.ts';
import { planChanges } from '../../changes/changes.ts';
import type { PolicySpec } from '../../model/policy.ts';
import type { NetworkState } from '../../state/state.ts';
import { reversal } from './revert.ts';

const NOW = Date.UTC(2026, 0, 5, 12);
const PEER = peer('web-1', { labels: { role: 'web' } });
const spec = (role: string): PolicySpec => ({ action: 'DENY', peerSelector: { matchLabels: { role } }, ingress: [{}] });

const meaningOf = ({ policies, networks, peers }: NetworkState) => ({
  policies: [...policies.values()].map((one) => [one.name, one.spec, one.labels]).sort(),
  networks: [...networks.values()].map((one) => [one.name, one.spec]).sort(),
  peers: [...peers.values()].map((one) => [one.name, one.labels, one.spec.network]).sort(),
});

describe('a reversal', () => {
  it('carried out makes every record mean what it meant, and carried out again makes it as it was', () => {
    const roles = fc.constantFrom('web', 'db', 'api');
    const state = fc
      .record({
        policies: fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), roles),
        label: roles,
        hasLab: fc.boolean(),
      })
      .map(({ policies, label, hasLab }) =>
        stateWith(
          network('default'),
          ...(hasLab ? [network('lab', { cidr: '10.97.0.0/24' })] : []),
          peer('web-1', { uid: PEER.uid, labels: { role: label } }),
          ...Object.entries(policies).map(([name, role]) => policy(name, spec(role))),
        ),
      );
    fc.assert(
      fc.property(state, state, (now, then) => {
        const { changes, left } = reversal(now, then, NOW);
        expect(left).toEqual([]);
        const { after } = planChanges(now, changes, NOW);
        expect(meaningOf(after)).toEqual(meaningOf(then));
        const again = planChanges(after, reversal(after, now, NOW).changes, NOW).after;
        expect(meaningOf(again)).toEqual(meaningOf(now));
      }),
      { numRuns: 200 },
    );
  });

  it('leaves what no change can bring back, and says why', () => {
    const ended = policy('old', { ...spec('web'), expiresAt: '2026-01-05T11:00:00.000Z' });
    const preset = policy('agt_x.sandboxed', spec('web'), { labels: { 'mesh.internal/agent': 'agt_x' } });
    const then = stateWith(PEER, peer('gone'), ended, preset);
    const now = stateWith(PEER, peer('new'));
    expect(reversal(now, then, NOW)).toEqual({
      changes: [],
      restored: [],
      left: [
        { resource: 'MeshPeer', name: 'gone', why: 'the peer is gone: it has to join again' },
        { resource: 'MeshPolicy', name: 'old', why: 'the policy has ended since' },
      ],
    });
  });
});
