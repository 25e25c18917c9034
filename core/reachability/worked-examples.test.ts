import { expect, it } from 'vitest';
import type { PolicySpec } from '../model/policy.ts';
import { changedEndpoints } from './changed-endpoints.ts';
import { compile, createEngine } from './engine.ts';
import { jointUnits } from './joint-units.ts';
import { countPairs } from './matrix.ts';
import type { NetworkModel, PeerInput } from './model.ts';
import { NOW } from './models.testkit.ts';
import { outsideGroups, outsideRanges } from './outside.ts';
import { alikePairs, placeGroups } from './pairs-between.ts';
import type { AllowedPorts } from './port-sets.ts';
import { diffGroups } from './reach-diff.ts';
import type { Reachability } from './reachability.ts';

/** What the comments above the algorithms say of their examples. */

const TCP_5432 = [{ protocol: 'TCP', from: 5432, to: 5432 }];
const peer = (name: string, role: string, more: Partial<PeerInput> = {}): PeerInput => ({
  name,
  labels: { role },
  network: 'n',
  ...more,
});
const network = (peers: readonly PeerInput[], specs: readonly PolicySpec[] = []): NetworkModel => ({
  networks: [{ name: 'n', cidr: '10.96.0.0/24', defaultAction: 'ALLOW' }],
  peers,
  policies: specs.map((spec, index) => ({ name: `p${index}`, spec })),
  now: NOW,
});
const webToDb = (ports?: { readonly port: number }[]): PolicySpec => ({
  action: 'ALLOW',
  peerSelector: { matchLabels: { role: 'db' } },
  ingress: [{ from: [{ peerSelector: { matchLabels: { role: 'web' } } }], ...(ports && { ports }) }],
});
const WEBS = [peer('web-1', 'web'), peer('web-2', 'web')];
const DBS = [peer('db-1', 'db'), peer('db-2', 'db')];

it('an ancestor of a source stands apart from its unit', () => {
  const bound = { ancestor: 'boss' };
  const bots = [peer('bot-1', 'bot', { bound }), peer('bot-2', 'bot', { bound })];
  const reach = compile(network([peer('boss', 'any'), peer('db-1', 'any'), ...bots]));
  const all = placeGroups(reach, ['boss', 'db-1', 'bot-1', 'bot-2']);
  const [, fromBots] = all;
  const named = (places: readonly number[]) => places.map((place) => reach.nameOf(place));
  const found = [...alikePairs(reach, fromBots ? [fromBots] : [], all)].map(({ src, dst, example }) =>
    [src, dst, example].map(named),
  );
  expect(found).toEqual([
    [['bot-1', 'bot-2'], ['db-1'], ['bot-1', 'db-1']],
    [['bot-1'], ['boss'], ['bot-1', 'boss']],
    [['bot-2'], ['boss'], ['bot-2', 'boss']],
    [
      ['bot-1', 'bot-2'],
      ['bot-1', 'bot-2'],
      ['bot-1', 'bot-2'],
    ],
  ]);
});

it('ten webs and two dbs have 130 open pairs where only webs reach dbs', () => {
  const webs = Array.from({ length: 10 }, (_, index) => peer(`web-${index}`, 'web'));
  expect(countPairs(compile(network([...webs, ...DBS], [webToDb([{ port: 5432 }])])))).toBe(130);
});

it('a policy for four peers is two units and two groups of a difference', () => {
  const engine = createEngine();
  const before = engine.compile(network([...WEBS, ...DBS]));
  const after = engine.compile(network([...WEBS, ...DBS], [webToDb([{ port: 5432 }])]));
  const [webs, dbs] = [WEBS, DBS].map((peers) => peers.map(({ name }) => name));
  expect(jointUnits(before, after)).toMatchObject([
    { names: webs, sends: false, receives: false },
    { names: dbs, sends: false, receives: true },
  ]);
  expect([...diffGroups(before, after)]).toEqual([
    { type: 'changed', src: webs, dst: dbs, old: 'ALL', new: TCP_5432, within: false },
    { type: 'removed', src: dbs, dst: dbs, old: 'ALL', new: [], within: true },
  ]);
});

it('who joins, a policy with another port and a label that no policy names touch whom they differ for', () => {
  const engine = createEngine();
  const [db] = DBS;
  const advance = (before: Reachability, model: NetworkModel, peers: readonly PeerInput[]): Reachability => {
    const changed = new Map(peers.map((one) => [one.name, one]));
    const step = { now: NOW, peers: changed, policies: model.policies, networks: model.networks, model: () => model };
    const after = engine.advance(before, step);
    if (!after) throw new Error('the engine could not advance');
    return after;
  };
  const alone = engine.compile(network(WEBS, [webToDb()]));
  const joined = advance(alone, network([...WEBS, ...DBS.slice(0, 1)], [webToDb()]), DBS.slice(0, 1));
  expect(changedEndpoints(alone, joined)).toEqual(new Set(['web-1', 'web-2', db?.name]));
  const narrowed = advance(joined, network([...WEBS, ...DBS.slice(0, 1)], [webToDb([{ port: 5432 }])]), []);
  expect(changedEndpoints(joined, narrowed)).toEqual(new Set(['web-1', 'web-2', db?.name]));
  const labelled = peer('web-1', 'web', { labels: { role: 'web', note: 'x' } });
  const after = advance(narrowed, { ...narrowed.model, peers: [labelled] }, [labelled]);
  expect(changedEndpoints(narrowed, after)).toEqual(new Set());
});

it('two policies tell six stretches of addresses apart, and what opens alike is one group', () => {
  const from = (cidr: string, except: string[], port: number): PolicySpec => ({
    action: 'ALLOW',
    peerSelector: {},
    ingress: [{ from: [{ ipBlock: { cidr, except } }], ports: [{ port }] }],
  });
  const wide = from('0.0.0.0/0', ['203.0.113.64/26'], 443);
  const narrow = from('203.0.113.0/24', [], 8443);
  const engine = createEngine();
  const [before, after] = [network(WEBS, [wide]), network(WEBS, [wide, narrow])].map((model) =>
    // No network has addresses here: none divides a stretch.
    engine.compile({ ...model, networks: [] }),
  );
  if (!before || !after) throw new Error('no model');
  expect(outsideRanges(after).map(({ name }) => name)).toEqual([
    '0.0.0.0 - 203.0.112.255',
    '203.0.113.0/26',
    '203.0.113.64/26',
    '203.0.113.128/25',
    '203.0.114.0 - 255.255.255.255',
    'other addresses outside',
  ]);
  const has8443 = (allowed: AllowedPorts) => allowed === 'ALL' || allowed.some(({ from }) => from === 8443);
  const opened = outsideGroups(before, after, (old, now) =>
    has8443(now) && !has8443(old) ? { text: 'TCP 8443' } : undefined,
  );
  expect(opened).toMatchObject([{ side: 'src', names: ['203.0.113.0/24'] }]);
});
