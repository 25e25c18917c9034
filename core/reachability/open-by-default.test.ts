import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type PolicySpec, policySpecSchema } from '../model/policy.ts';
import { compile } from './engine.ts';
import type { NetworkModel, PeerInput, PolicyInput } from './model.ts';
import { NOW, networkModel } from './models.testkit.ts';
import { naiveVerdict } from './naive.testkit.ts';
import { openByDefault } from './open-by-default.ts';

/** The policies without anything that a rule says: whom an ALLOW is about stays isolated, a DENY with rules is gone. */
function withoutRules({ name, spec }: PolicyInput): PolicyInput[] {
  const { ingress, egress, ...rest } = policySpecSchema.parse(spec);
  const isSilent = ingress === undefined && egress === undefined;
  const keeps = (rules: readonly unknown[] | undefined) =>
    rules !== undefined && (rest.action === 'ALLOW' || rules.length === 0);
  const kept = { ...(keeps(ingress) && { ingress: [] }), ...(keeps(egress) && { egress: [] }) };
  return isSilent || Object.keys(kept).length > 0 ? [{ name, spec: { ...rest, ...kept } }] : [];
}

/** One peer of the models is isolated, in one direction. */
const ONE_SHUT = { name: 'one', spec: { action: 'DENY', peerSelector: { peers: ['id0'] }, ingress: [] } };

const newcomer = (name: string, network: string): PeerInput => ({ name, labels: {}, network });

test('what is open by default is what a network without rules leaves open, to its peers and to newcomers', () => {
  const seen = { open: 0, closed: 0, partly: 0 };
  fc.assert(
    fc.property(networkModel, fc.nat(2), fc.boolean(), ({ externals: _none, ...model }, count, isOneShut) => {
      const peers = model.peers.map(({ bound: _bound, phase, ...peer }, index) => ({
        ...peer,
        ...(index % 4 === 3 ? { phase } : { phase: 'ready', expiresAt: undefined }),
        network: 'n1',
      }));
      const given = {
        ...model,
        peers,
        policies: [...model.policies.slice(0, count), ...(isOneShut ? [ONE_SHUT] : [])],
      };
      const bare: NetworkModel = { ...given, peers, policies: given.policies.flatMap(withoutRules) };
      for (const { name: network } of given.networks) {
        const found = openByDefault(compile(given), network);
        const joined = [newcomer('new-1', network), newcomer('new-2', network)];
        const all = { ...bare, peers: [...peers, ...joined] };
        const members = peers.filter((peer) => peer.network === network);
        const openPairs = members
          .flatMap((src) => members.map((dst) => [src.name, dst.name] as const))
          .filter(([src, dst]) => src !== dst && naiveVerdict(all, src, dst, 'TCP', 80)).length;
        const living = members.filter(
          ({ phase = 'ready', expiresAt = NOW + 1 }) => phase === 'ready' && expiresAt > NOW,
        );
        expect(found).toEqual({
          toNewcomers: naiveVerdict(all, 'new-1', 'new-2', 'TCP', 80),
          openPairs,
          pairs: living.length * (living.length - 1),
        });
        seen[openPairs === 0 ? 'closed' : openPairs === found.pairs ? 'open' : 'partly'] += 1;
        const engine = compile(all);
        expect(engine.verdict('new-1', 'new-2', 'TCP', 80)).toBe(found.toNewcomers);
      }
    }),
    { numRuns: 300 },
  );
  expect(Object.values(seen).every((count) => count > 20)).toBe(true);
}, 30_000);

test('the example above openByDefault holds', () => {
  const peer = (name: string, role: string): PeerInput => ({ name, labels: { role }, network: 'n' });
  const web = { matchLabels: { role: 'web' } };
  const toDb: PolicySpec = {
    action: 'ALLOW',
    peerSelector: { matchLabels: { role: 'db' } },
    ingress: [{ from: [{ peerSelector: web }] }],
  };
  const found = [[], [toDb], [toDb, { action: 'DENY', peerSelector: {} }]].map((specs) =>
    openByDefault(
      compile({
        networks: [{ name: 'n', cidr: '10.96.0.0/24', defaultAction: 'ALLOW' }],
        peers: [peer('web-1', 'web'), peer('db-1', 'db'), peer('db-2', 'db')],
        policies: specs.map((spec, index) => ({ name: `p${index}`, spec })),
        now: NOW,
      }),
      'n',
    ),
  );
  expect(found).toEqual([
    { toNewcomers: true, openPairs: 6, pairs: 6 },
    { toNewcomers: true, openPairs: 2, pairs: 6 },
    { toNewcomers: false, openPairs: 0, pairs: 6 },
  ]);
});
