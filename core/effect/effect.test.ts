import fc from 'fast-check';
import { load } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { peer, policy, stateWith } from '../../test/kits/records/records.ts';
import { unmetExpectations } from '../intent/verify/expectations.ts';
import { compile } from '../reachability/engine.ts';
import { modelOf } from '../state/network-model.ts';
import type { NetworkState } from '../state/state.ts';
import { toYaml } from '../views/render-yaml.ts';
import { effectOf } from './effect.ts';
import { effectView } from './effect-view.ts';
import { effectBlocks } from './rows.ts';

const WEB = peer('web-1', { labels: { role: 'web' } });
const WEB2 = peer('web-2', { labels: { role: 'web' } });
const DB = peer('db-1', { labels: { role: 'db' } });
const db = { matchLabels: { role: 'db' } };
const none = policy('none', { action: 'ALLOW', peerSelector: db, ingress: [] });
/** Tells the web peers apart and changes nothing. */
const splitting = policy('splitting', {
  action: 'ALLOW',
  peerSelector: { matchLabels: { zone: 'x' } },
  ingress: [{ from: [{ ipBlock: { cidr: '10.96.0.1/32' } }] }],
});

const compiled = (state: NetworkState) => compile(modelOf(state, 0));
const effect = (before: NetworkState, after: NetworkState) => effectOf(compiled(before), compiled(after));

describe('an effect', () => {
  it('counts pairs that open, close and stay', () => {
    const found = effect(stateWith(WEB, WEB2, DB), stateWith(WEB, WEB2, DB, none));
    expect({
      ...found,
      groups: found.groups.length,
      outside: found.outside?.length,
      digest: 0,
      openedDigest: 0,
      closedDigest: 0,
    }).toEqual({
      routes: [],
      groups: 1,
      outside: 1,
      openedPairs: 0,
      closedPairs: 2,
      unchangedPairs: 4,
      pairsBefore: 6,
      lostPairs: 2,
      digest: 0,
      openedDigest: 0,
      closedDigest: 0,
    });
  });

  it('has one digest however policies group the peers, and another for another peer of the same name', () => {
    const [first, second] = [
      peer('web-1', { uid: 'p_1', address: '10.96.0.1' }),
      peer('web-2', { uid: 'p_2', address: '10.96.0.2' }),
    ];
    const whole = effect(stateWith(first, second, DB), stateWith(first, second, DB, none));
    const split = effect(stateWith(first, second, DB, splitting), stateWith(first, second, DB, splitting, none));
    expect(split.digest).toBe(whole.digest);
    const replaced = peer('web-1', { uid: 'p_9', address: '10.96.0.1' });
    expect(effect(stateWith(replaced, second, DB), stateWith(replaced, second, DB, none)).digest).not.toBe(
      whole.digest,
    );
  });

  it('is shown in at most 100 rows a side, and says how many it leaves out', () => {
    const peers = Array.from({ length: 12 }, (_, index) => peer(`p-${index}`, { labels: { all: 'yes' } }));
    const closed = policy('closed', { action: 'DENY', peerSelector: {} });
    const view = effectView(effect(stateWith(...peers), stateWith(...peers, closed)));
    expect([view.closed.length, view.closed_pairs, view.omitted, view.opened.length]).toEqual([
      100,
      132,
      (132 + 2 * 12) * 4 - 100,
      0,
    ]);
  });
});

describe('an effect of many connections', () => {
  const peers = Array.from({ length: 12 }, (_, index) => peer(`p-${index}`, { labels: { all: 'yes' } }));
  const ports = (['TCP', 'UDP', 'SCTP'] as const).map((protocol) => ({ protocol }));
  const closed = policy('closed', {
    action: 'DENY',
    peerSelector: {},
    ingress: [{ from: [{ peerSelector: {} }], ports }],
  });
  const found = effect(stateWith(...peers), stateWith(...peers, closed));

  it('is cut off between pairs, never inside one', () => {
    const view = effectView(found);
    const shown = Map.groupBy(view.closed, ({ src, dst }) => `${src} ${dst}`);
    expect([...shown.values()].map((rows) => rows.map(({ protocol }) => protocol).join())).toEqual(
      Array(33).fill('SCTP,TCP,UDP'),
    );
    expect(view.omitted).toBe(132 * 3 - 99);
  });

  it('is whole by what changes alike', () => {
    const { blocks, omitted } = effectBlocks(found);
    const pairs = blocks.flatMap(({ src, dst }) =>
      src.flatMap((from) => dst.flatMap((to) => (from === to ? [] : [`${from} ${to}`]))),
    );
    expect([new Set(pairs).size, pairs.length, omitted]).toEqual([132, 132, 0]);
    expect(new Set(blocks.map(({ change, ports: texts }) => `${change} ${texts}`)).size).toBe(1);
  });
});

describe('an expectation', () => {
  const holds = (state: NetworkState, expectation: Parameters<typeof unmetExpectations>[0][number]) =>
    unmetExpectations([expectation], state, compiled(state)).map(({ detail }) => detail);

  it('that does not hold is answered with a counterexample', () => {
    const state = stateWith(WEB, WEB2, DB);
    expect(holds(state, { src: '*', except: ['role=web'], dst: 'role=db', expect: 'deny' })).toEqual([]);
    expect(holds(state, { src: 'role=web', dst: 'db-1', protocol: 'TCP', port: 22, expect: 'deny' })).toEqual([
      'web-1 can still reach db-1 on TCP 22; web-2 can still reach db-1 on TCP 22',
    ]);
  });

  it('about nobody does not hold, whatever it says', () => {
    expect(holds(stateWith(DB), { src: 'role=web', dst: 'db-1', expect: 'deny' })).toEqual([
      'no peer that is ready is meant by role=web',
    ]);
  });
});

describe('YAML of resources', () => {
  it('reads back as what was written', () => {
    const text = fc.oneof(
      fc.string(),
      fc.constantFrom('yes', '5432', '- a', 'a: b', '#c', '"', "'", 'null', '*', '\n', '1e3'),
    );
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        { maxDepth: 4 },
        text,
        fc.integer(),
        fc.boolean(),
        fc.array(tie('any'), { maxLength: 3 }),
        fc.dictionary(text, tie('any'), { maxKeys: 3 }),
      ),
    })).any;
    fc.assert(
      fc.property(value, (data) => {
        expect(load(toYaml(data))).toEqual(data);
      }),
      { numRuns: 300 },
    );
  });
});
