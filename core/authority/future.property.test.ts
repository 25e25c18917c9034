import fc from 'fast-check';
import { expect, test } from 'vitest';
import { agent, network, peer, policy, stateWith } from '../../test/kits/records/records.ts';
import type { EffectSide } from '../effect/effect.ts';
import { unseenFindings } from '../intent/verify/findings.ts';
import type { PolicySpec, Selector } from '../model/policy.ts';
import type { PeerRecord, PolicyRecord } from '../model/resources.ts';
import { sameValue } from '../model/value.ts';
import { WRITTEN_BY } from '../model/written-by.ts';
import { compile } from '../reachability/engine.ts';
import { stateAt } from '../state/begins.ts';
import { modelOf } from '../state/network-model.ts';
import { dividedPolicies, type NetworkState, writtenPolicies } from '../state/state.ts';
import { MAX_VIEWS } from './expiry-views.ts';
import { type Future, futureOf } from './future.ts';
import { labelClasses, namedLabels } from './label-sets.ts';
import { type Comparison, comparedAt } from './state-after.ts';

const RUNS = process.env['MESH_LONG'] === '1' ? 3_000 : 300;
const MINUTE_MS = 60_000;
const NOW = Date.parse('2030-01-01T00:00:00Z');
/** Far more ends than any list of instants would hold. */
const ENDS = Array.from({ length: 40 }, (_, index) => new Date(NOW + (index + 1) * MINUTE_MS).toISOString());
const BEGINS = [10, 25].map((minutes) => new Date(NOW + minutes * MINUTE_MS).toISOString());
const AUTHORS = [agent('a'), agent('b'), agent('c')];
const PEERS = [
  peer('web-1', { uid: 'p_web', labels: { role: 'web' } }),
  peer('db-1', { uid: 'p_db', labels: { role: 'db' } }),
  peer('secret-1', { uid: 'p_secret' }),
];
const WAITING = peer('waiting-1', { uid: 'p_waiting', phase: 'pending', labels: { role: 'api' } });
const JOINS = [{ labels: { role: 'api', team: 'x' }, network: 'default' }];

const states = { reachability: (state: NetworkState, now: number) => compile(modelOf(state, now)) };

const selector: fc.Arbitrary<Selector> = fc.oneof(
  { weight: 2, arbitrary: fc.constant({}) },
  { weight: 3, arbitrary: fc.subarray(['p_web', 'p_db', 'p_secret', 'p_waiting']).map((peers) => ({ peers })) },
  fc.constantFrom<Selector>({ notPeers: ['p_web'] }, { notPeers: ['p_db', 'p_secret'] }),
  fc.constantFrom('web', 'db', 'api').map((role) => ({ matchLabels: { role } })),
  fc
    .constantFrom('Exists', 'DoesNotExist')
    .map((operator) => ({ matchExpressions: [{ key: 'team', operator: operator as 'Exists' }] })),
);
const rules = fc.array(
  fc.record({
    others: fc.oneof(fc.constant(undefined), selector),
    port: fc.constantFrom(undefined, 80, 443),
  }),
  { maxLength: 2 },
);
const ports = (port: number | undefined) => (port === undefined ? {} : { ports: [{ port }] });
const spec: fc.Arbitrary<PolicySpec> = fc
  .record({
    action: fc.constantFrom<PolicySpec['action'][]>('ALLOW', 'DENY'),
    peerSelector: selector,
    ingress: fc.option(rules, { nil: undefined, freq: 4 }),
    egress: fc.option(rules, { nil: undefined, freq: 1 }),
    expiresAt: fc.option(fc.constantFrom(...ENDS), { nil: undefined }),
  })
  .map(({ action, peerSelector, ingress, egress, expiresAt }) => ({
    action,
    peerSelector,
    ...(ingress && {
      ingress: ingress.map(({ others, port }) => ({
        ...(others && { from: [{ peerSelector: others }] }),
        ...ports(port),
      })),
    }),
    ...(egress && {
      egress: egress.map(({ others, port }) => ({ ...(others && { to: [{ peerSelector: others }] }), ...ports(port) })),
    }),
    ...(expiresAt !== undefined && { expiresAt }),
  }));
const author = fc.constantFrom(undefined, undefined, ...AUTHORS.map(({ uid }) => uid));

interface Written {
  readonly spec: PolicySpec;
  readonly author: string | undefined;
}
const written: fc.Arbitrary<Written> = fc.record({ spec, author });
/** A policy that may wait, for one of two times. */
const beginning: fc.Arbitrary<Written> = fc
  .record({ one: written, startsAt: fc.constantFrom(undefined, undefined, ...BEGINS) })
  .map(({ one: { spec: of, author: by }, startsAt }) => ({
    spec: { ...of, ...(startsAt !== undefined && startsAt < (of.expiresAt ?? '9') && { startsAt }) },
    author: by,
  }));

interface Rewritten {
  readonly old: Written | null;
  readonly next: Written | null;
}
/** A policy that is given another end, by its author or another one. */
const renewed: fc.Arbitrary<Rewritten> = fc
  .record({ old: written, expiresAt: fc.constantFrom(undefined, ...ENDS), by: fc.option(author) })
  .map(({ old, expiresAt, by }) => {
    const { expiresAt: _, ...rest } = old.spec;
    const next = { ...rest, ...(expiresAt !== undefined && { expiresAt }) };
    return { old, next: { spec: next, author: by === null ? old.author : by } };
  });
const rewritten = fc.oneof(
  renewed,
  fc.record({ old: fc.option(written), next: fc.option(written) }),
  fc.record({ old: fc.option(beginning), next: fc.option(beginning) }),
);
const change = fc.record({
  common: fc.array(beginning, { maxLength: 5 }),
  own: fc.array(rewritten, { minLength: 1, maxLength: 3 }),
  isClosed: fc.boolean(),
  hasWaiting: fc.boolean(),
  joins: fc.boolean(),
  isPersons: fc.boolean(),
});
/** What comes: how late it is, which agents have ended, and who is there by then. */
const event = fc.record({
  minutes: fc.integer({ min: 0, max: ENDS.length + 1 }),
  ended: fc.subarray(AUTHORS.map(({ uid }) => uid)),
  who: fc.subarray(['plain', 'token', 'waiting']),
});
type Event = typeof event extends fc.Arbitrary<infer T> ? T : never;

function stateOf(policies: readonly PolicyRecord[], isClosed: boolean, peers: readonly PeerRecord[]): NetworkState {
  return stateWith(
    network('default', { defaultAction: isClosed ? 'DENY' : 'ALLOW' }),
    ...AUTHORS,
    ...peers,
    ...policies,
  );
}

function recordOf(name: string, { spec: of, author: by }: Written): PolicyRecord {
  return { ...policy(name, of), annotations: by === undefined ? {} : { [WRITTEN_BY]: by } };
}

/** The same network once events have come: policies of agents that ended are gone, and others have joined. */
function then(
  state: NetworkState,
  { ended, who }: Event,
  { hasWaiting, joins }: { hasWaiting: boolean; joins: boolean },
) {
  const peers = [
    ...PEERS,
    ...(who.includes('plain') ? [peer('new-1', { uid: 'p_new1' }), peer('new-2', { uid: 'p_new2' })] : []),
    ...(joins && who.includes('token')
      ? [peer('api-1', { uid: 'p_api1', ...JOINS[0] }), peer('api-2', { uid: 'p_api2', ...JOINS[0] })]
      : []),
    ...(hasWaiting
      ? [who.includes('waiting') ? { ...WAITING, status: { ...WAITING.status, phase: 'ready' as const } } : WAITING]
      : []),
  ];
  const left = [...state.policies.values()].filter(({ annotations }) => !ended.includes(annotations[WRITTEN_BY] ?? ''));
  return stateOf(left, state.networks.get('default')?.spec.defaultAction === 'DENY', peers);
}

/** Ports that tell apart all that the policies here say. */
const PORTS = [22, 80, 443];

type Both = Pick<Comparison, 'was' | 'is'>;

/** What opens, or closes, between peers, one entry for each connection and port; of names that are read as others. */
function changesOf(side: EffectSide, { was, is }: Both, as: ReadonlyMap<string, string>): string[] {
  // What a change closes is what its reverse opens.
  return side === 'opened' ? openings({ was, is }, as) : openings({ was: is, is: was }, as);
}

function openings({ was, is }: Both, as: ReadonlyMap<string, string>): string[] {
  const names = [...as.keys()].filter((name) => is.placeOf(name) !== undefined && was.placeOf(name) !== undefined);
  return names.flatMap((src) =>
    names.flatMap((dst) =>
      PORTS.flatMap((port) => {
        const isOpened = src !== dst && is.verdict(src, dst, 'TCP', port) && !was.verdict(src, dst, 'TCP', port);
        return isOpened ? [`${as.get(src)} to ${as.get(dst)} on ${port}`] : [];
      }),
    ),
  );
}

function bothAt(before: NetworkState, after: NetworkState, now: number): Both {
  return { was: states.reachability(before, now), is: states.reachability(after, now) };
}

/** As which of the devices that a change is tried with each peer counts. */
function triedAs(before: NetworkState, after: NetworkState): Map<string, string> {
  // Where policies cannot tell them from others they are tried as these.
  const last = [before, after].map((state) => stateAt(state, Number.POSITIVE_INFINITY));
  const classOf = labelClasses(namedLabels(last));
  const isOther = JOINS.some(({ labels }) => classOf(labels) !== classOf({}));
  const labelled = ['every device', 'every other device'].map((who) => `${who} that joins later with role=api, team=x`);
  return new Map([
    ...[...PEERS, WAITING].map(({ name }): [string, string] => [name, name]),
    ['new-1', 'every device that joins later'],
    ['new-2', 'every other device that joins later'],
    ...(isOther ? labelled.map((name, index): [string, string] => [`api-${index + 1}`, name]) : []),
  ]);
}

/** What a person writes or lets an agent write is a person's. */
function byPerson(before: NetworkState, after: NetworkState): NetworkState {
  const signed = [...writtenPolicies(after).values()].map((record) =>
    sameValue(writtenPolicies(before).get(record.name)?.spec, record.spec) ? record : { ...record, annotations: {} },
  );
  return { ...after, ...dividedPolicies(signed) };
}

const CODES = {
  opened: { newcomers: 'OPENS_TO_NEWCOMERS', later: 'OPENS_LATER' },
  closed: { newcomers: 'CLOSES_TO_NEWCOMERS', later: 'CLOSES_LATER' },
} as const;

/** A person has a policy of an agent begin later: it outlasts the agent, whose policies of before then do not. */
const REWRITTEN_BY_A_PERSON: [typeof change extends fc.Arbitrary<infer T> ? T : never, Event[]] = [
  {
    ...{ common: [], isClosed: false, hasWaiting: false, joins: false, isPersons: true },
    own: [
      {
        old: {
          spec: {
            action: 'ALLOW',
            peerSelector: { matchExpressions: [{ key: 'team', operator: 'DoesNotExist', values: [] }] },
          },
          author: AUTHORS[0]?.uid,
        },
        next: {
          spec: { action: 'ALLOW', peerSelector: { peers: ['p_secret'] }, startsAt: BEGINS[0] },
          author: AUTHORS[0]?.uid,
        },
      },
    ],
  },
  [{ minutes: ENDS.length + 1, ended: AUTHORS.map(({ uid }) => uid), who: [] }],
];

test.each(['opened', 'closed'] as const)(
  'nothing is %s later or for newcomers by a change that does not say so first, whatever ends, joins or is let in',
  {
    timeout: 10 * MINUTE_MS,
  },
  (side) => {
    fc.assert(
      fc.property(change, fc.array(event, { minLength: 1, maxLength: 12 }), (asked, events) => {
        const { common, own, isClosed, hasWaiting, joins, isPersons } = asked;
        const peers = hasWaiting ? [...PEERS, WAITING] : PEERS;
        const shared = common.map((one, index) => recordOf(`common-${index}`, one));
        const stateWithOwn = (which: 'old' | 'next') => {
          const policies = own.flatMap((one, index) => {
            const of = one[which];
            return of ? [recordOf(`own-${index}`, of)] : [];
          });
          return stateOf([...shared, ...policies], isClosed, peers);
        };
        const [before, after] = [stateWithOwn('old'), stateWithOwn('next')];
        const compared = comparedAt(before, after, NOW, states);
        const { was, is, effect } = compared;
        const facts = { joins: joins ? JOINS : [], isPersons };
        const future: Future = futureOf(compared, facts, states);
        const { views } = future[side];
        expect(views.length).toBeLessThanOrEqual((MAX_VIEWS + 1) * (1 + BEGINS.length));
        const codes = unseenFindings({ effect, future }).map(({ code }) => code);
        const as = triedAs(before, after);
        const names = new Map([...as.values()].map((name) => [name, name]));
        const tried = new Set(views.flatMap((view) => changesOf(side, view, names)));
        const shown = new Set(changesOf(side, { was, is }, names));
        const signed = isPersons ? byPerson(before, after) : after;
        for (const coming of events) {
          const now = NOW + coming.minutes * MINUTE_MS;
          for (const row of changesOf(
            side,
            bothAt(then(stateAt(before, now), coming, asked), then(stateAt(signed, now), coming, asked), now),
            as,
          )) {
            if (shown.has(row)) continue;
            const code = CODES[side][/device|waiting-1/.test(row) ? 'newcomers' : 'later'];
            expect([row, tried.has(row), codes]).toEqual([row, true, expect.arrayContaining([code])]);
          }
        }
      }),
      { numRuns: RUNS, examples: [REWRITTEN_BY_A_PERSON] },
    );
  },
);
