import fc from 'fast-check';
import { expect, test } from 'vitest';
import { agent, peer, policy, stateWith } from '../../test/kits/records/records.ts';
import type { Op } from '../base/ports.ts';
import { draftOf } from '../base/record.ts';
import { effectView } from '../effect/effect-view.ts';
import type { PolicySpec, Selector } from '../model/policy.ts';
import type { PeerRecord } from '../model/resources.ts';
import { compile } from '../reachability/engine.ts';
import { modelOf } from '../state/network-model.ts';
import { type NetworkState, recordIn } from '../state/state.ts';
import { futureOf } from './future.ts';
import { beyondAuthority } from './judge.ts';
import { shownDigest } from './shown-digest.ts';
import { comparison } from './state-after.ts';
import { writesOf } from './writes.ts';

const RUNS = process.env['MESH_LONG'] === '1' ? 5_000 : 400;
const NOW = Date.parse('2030-01-01T00:00:00Z');
const states = { reachability: (state: NetworkState, now: number) => compile(modelOf(state, now)) };

const ROOT = agent('root', { reach: [{ to: [{ peerSelector: { matchLabels: { role: 'db' } } }] }] });
const CHILD = agent('child', { parentRef: { name: 'root', namespace: 'default' } });
const PEERS = [
  peer('web-1', { uid: 'p_web', labels: { role: 'web' }, address: '10.96.0.1' }),
  peer('db-1', { uid: 'p_db', labels: { role: 'db' }, address: '10.96.0.2' }),
  peer('root-1', { uid: 'p_root', agentRef: 'root', address: '10.96.0.3' }),
  peer('child-1', { uid: 'p_child', agentRef: 'child', address: '10.96.0.4' }),
];
const AGENTS = [ROOT, CHILD].map((one) => ({ ...one, status: { ...one.status, peerRef: `${one.name}-1` } }));

/** These tell apart all that the policies here say. */
const PORTS = [22, 80, 443];

const role = fc.constantFrom('web', 'db', 'secret');
const selector: fc.Arbitrary<Selector> = fc.oneof(
  fc.constant({}),
  role.map((of) => ({ matchLabels: { role: of } })),
  fc.subarray(PEERS.map(({ uid }) => uid)).map((peers) => ({ peers })),
);
const rule = fc.record({ other: selector, port: fc.constantFrom(80, 443) });
const spec: fc.Arbitrary<PolicySpec> = fc
  .record({
    action: fc.constantFrom<PolicySpec['action'][]>('ALLOW', 'DENY'),
    peerSelector: selector,
    ingress: fc.option(fc.array(rule, { maxLength: 2 })),
    egress: fc.option(fc.array(rule, { maxLength: 2 })),
    ends: fc.boolean(),
  })
  .map(({ action, peerSelector, ingress, egress, ends }) => ({
    action,
    peerSelector,
    ...(ingress && {
      ingress: ingress.map(({ other, port }) => ({ from: [{ peerSelector: other }], ports: [{ port }] })),
    }),
    ...(egress && { egress: egress.map(({ other, port }) => ({ to: [{ peerSelector: other }], ports: [{ port }] })) }),
    ...(ends && { expiresAt: '2030-01-02T00:00:00.000Z' }),
  }));

/** What becomes of one peer: other labels, and another name, which may be that of another one until then. */
const batch = fc
  .record({
    labels: fc.array(fc.option(role), { minLength: PEERS.length, maxLength: PEERS.length }),
    names: fc.shuffledSubarray([...PEERS.map(({ name }) => name), 'new-1', 'new-2'], {
      minLength: PEERS.length,
      maxLength: PEERS.length,
    }),
  })
  .map(({ labels, names }) =>
    PEERS.map((record, index) => ({ record, role: labels[index] ?? undefined, name: names[index] ?? record.name })),
  );

type Asked = typeof batch extends fc.Arbitrary<infer T> ? T : never;

function draftsOf(asked: Asked) {
  return asked.map(({ record, role: of, name }) => ({ ...draftOf(record), name, ...(of && { labels: { role: of } }) }));
}

/** As an operation writes it: who gets another name is deleted and made again, and the identity of an agent names its peer. */
function opsOf(asked: Asked): Op[] {
  const drafts = draftsOf(asked);
  const old = new Map(asked.map(({ record }) => [record.uid, record]));
  const isRenamed = ({ uid, name }: Pick<PeerRecord, 'uid' | 'name'>) => old.get(uid)?.name !== name;
  return [
    ...asked.flatMap(({ record, name }): Op[] =>
      record.name === name ? [] : [{ op: 'delete', key: { kind: 'MeshPeer', name: record.name } }],
    ),
    ...drafts.map(
      (record): Op => (isRenamed(record) ? { op: 'create', record } : { op: 'update', record, revision: 1 }),
    ),
    ...AGENTS.map((record): Op => {
      const peerRef = drafts.find(({ spec: { agentRef } }) => agentRef === record.name)?.name ?? '';
      return { op: 'update', record: { ...draftOf(record), status: { ...record.status, peerRef } }, revision: 1 };
    }),
  ];
}

function judged(before: NetworkState, asked: Asked) {
  const writes = writesOf(opsOf(asked), ({ kind, name }) => recordIn(before, kind, name));
  const compared = comparison({ states, state: before, writes, now: NOW });
  const future = futureOf(compared, { joins: [], isPersons: true }, states);
  const { effect } = compared;
  return {
    effect: effectView(effect),
    digests: [effect.digest, future.opened.digest, future.closed.digest, shownDigest(writes, compared, future)],
    excess: AGENTS.map(({ uid }) =>
      beyondAuthority(uid, { states, state: before, writes, now: NOW }, compared, future),
    ),
  };
}

const unnamed = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value).replaceAll(/ \([^()]* from then on\)/g, ''));

test('whoever gets another name in a batch is judged and shown as without it, also where names pass from one to another', () => {
  fc.assert(
    fc.property(fc.array(spec, { maxLength: 5 }), batch, (specs, asked) => {
      const policies = specs.map((one, index) => policy(`policy-${index}`, one));
      const before = stateWith(...AGENTS, ...PEERS, ...policies);
      const renamed = judged(before, asked);
      const known = asked.map((one) => ({ ...one, name: one.record.name }));
      expect(unnamed(renamed)).toEqual(unnamed(judged(before, known)));

      const after = stateWith(
        ...AGENTS,
        ...asked.map(({ record, role: of, name }) => ({ ...record, name, ...(of && { labels: { role: of } }) })),
        ...policies,
      );
      const [was, is] = [before, after].map((state) => states.reachability(state, NOW));
      const opened = asked.flatMap((src) =>
        asked.flatMap((dst) => {
          if (src === dst) return [];
          const isOpened = PORTS.some(
            (port) =>
              is?.verdict(src.name, dst.name, 'TCP', port) &&
              !was?.verdict(src.record.name, dst.record.name, 'TCP', port),
          );
          return isOpened ? [`${src.record.name} to ${dst.record.name}`] : [];
        }),
      );
      const shown = new Set(renamed.effect.opened.map(({ src, dst }) => `${src} to ${dst}`));
      expect(opened.filter((pair) => !shown.has(pair))).toEqual([]);
    }),
    { numRuns: RUNS },
  );
});
