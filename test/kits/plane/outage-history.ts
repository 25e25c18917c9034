import type { Op } from '../../../core/base/ports.ts';
import { draftOf, type Kind, type StoredRecord } from '../../../core/base/record.ts';
import { formatInstant } from '../../../core/base/time.ts';
import type { PolicySpec } from '../../../core/model/policy.ts';
import { agent, peer, policy, presence } from '../records/records.ts';
import { buildKit } from './kit.ts';

/** Days of synthetic history in which some connections break in known ways, among much else that has nothing to do with them. */

const DAY_MS = 86_400_000;
const DAYS = 90;
/** Of the other changes, how often each kind comes. */
const NOISE = [
  'presence',
  'presence',
  'presence',
  'label',
  'label',
  'policy',
  'policy',
  'rename',
  'expiry',
  'delegate',
] as const;

export interface OutageSize {
  readonly commits: number;
  readonly peers: number;
  readonly policies: number;
  /** Flips of the peer that flaps. */
  readonly flaps: number;
  /** File of the store; in memory without. */
  readonly path?: string;
}

/** A change of a connection as the generator made it. */
export interface KnownFlip {
  readonly at: number;
  readonly cause: string;
  readonly name: string;
}

export interface KnownOutage {
  readonly question: string;
  readonly flips: readonly KnownFlip[];
  /** Which of them the question asks for; the last where it is not said. */
  readonly leading?: number;
  /** The verdict at the end. */
  readonly end: 'reachable' | 'unreachable' | 'partial';
  readonly connections: number;
}

type Stored = { readonly kind: Kind; readonly name: string };
interface Step {
  readonly at: number;
  readonly write: (writer: Writer) => void;
}

/** Collects what one commit writes, over what is there. */
class Writer {
  readonly known = new Map<string, StoredRecord>();
  ops: Op[] = [];

  put(record: StoredRecord): void {
    const present = this.known.get(`${record.kind}/${record.name}`);
    const draft = { ...draftOf(record), uid: present?.uid ?? record.uid };
    this.ops.push(
      present ? { op: 'update', record: draft, revision: present.revision } : { op: 'create', record: draft },
    );
  }

  drop(kind: Kind, name: string): void {
    this.ops.push({ op: 'delete', key: { kind, name } });
  }

  peer(name: string): StoredRecord<'MeshPeer'> {
    const found = this.known.get(`MeshPeer/${name}`);
    if (found?.kind !== 'MeshPeer') throw new Error(`There is no peer ${name}.`);
    return found;
  }

  /** What the store made of it. */
  learn(changes: readonly { readonly type: string; readonly record: StoredRecord }[]): void {
    for (const { type, record } of changes) {
      const key = (one: Stored) => `${one.kind}/${one.name}`;
      if (type === 'deleted') this.known.delete(key(record));
      else this.known.set(key(record), record);
    }
    this.ops = [];
  }
}

/** The same numbers on every run. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x6d2b79f5) | 0;
    return ((state ^ (state >>> 13)) >>> 0) % below;
  };
}

/** @returns the kit, the workspace and what is known of it */
export async function outageHistory({ commits, peers, policies, flaps, path }: OutageSize) {
  const kit = await buildKit(path === undefined ? {} : { path });
  const workspace = await kit.workspace('prod', 20_000);
  const began = kit.clock.time + 60_000;
  const end = began + DAYS * DAY_MS;
  const { store } = kit.services;
  const writer = new Writer();
  const commit = async (at: number) => {
    kit.clock.time = Math.max(kit.clock.time, at);
    if (writer.ops.length === 0) return;
    const done = await store.commit(workspace, writer.ops, { actor: 'user:ada', reason: 'work', requestId: 'r' });
    writer.learn(done.changes);
  };
  const stories = storiesOf(began, flaps);
  for (const record of stories.flatMap((story) => story.start)) writer.put(record);
  for (let n = 0; n < peers; n += 1) writer.put(noisePeer(n, n % 7));
  for (let n = 0; n < peers; n += 1) writer.put(presence(`noise-${n}`, true));
  for (let n = 0; n < policies; n += 1) writer.put(policy(`noise-${n}`, noisePolicy(n)));
  await commit(began);
  const told = stories.flatMap(({ steps }) => steps);
  const next = numbers(7);
  const others = Array.from({ length: Math.max(0, commits - told.length) }, (_, n): Step => {
    const at = began + 60_000 + Math.floor(((n + 0.5) * (end - began - 120_000)) / commits);
    return { at, write: (own) => writeNoise(own, next, at, { peers, policies }) };
  });
  for (const { at, write } of [...told, ...others].sort((a, b) => a.at - b.at)) {
    write(writer);
    await commit(at);
  }
  kit.clock.time = end;
  return { kit, workspace, began, end, outages: stories.flatMap(({ outages }) => outages) };
}

function noisePeer(n: number, group: number) {
  return peer(`noise-${n}`, {
    uid: `p_noise${n}`,
    labels: { noise: `g${group}` },
    address: `10.96.${100 + (n >> 8)}.${n & 255}`,
  });
}

function noisePolicy(n: number): PolicySpec {
  const of = (group: number) => ({ matchLabels: { noise: `g${group % 7}` } });
  return {
    action: n % 3 === 0 ? 'DENY' : 'ALLOW',
    peerSelector: of(n),
    ingress: [{ from: [{ peerSelector: of(n + 1) }], ports: [{ protocol: 'TCP', port: 1_000 + (n % 100) }] }],
  };
}

/** A change that concerns none of the connections that are asked about. */
function writeNoise(
  writer: Writer,
  next: (below: number) => number,
  at: number,
  size: Pick<OutageSize, 'peers' | 'policies'>,
) {
  const [n, m] = [next(size.peers), next(size.policies)];
  switch (NOISE[next(NOISE.length)]) {
    case 'presence':
      return writer.put(presence(`noise-${n}`, next(2) === 0));
    case 'label':
      return writer.put({ ...writer.peer(`noise-${n}`), labels: { noise: `g${next(7)}` } });
    case 'policy':
      return writer.put(policy(`noise-${m}`, noisePolicy(next(1_000))));
    case 'expiry':
      return writer.put(policy(`noise-${m}`, { ...noisePolicy(m), expiresAt: formatInstant(at + 3_600_000) }));
    case 'rename': {
      // A new name is a deletion and a creation of one id; another peer takes the old one.
      const [from, to] = [`noise-${n}`, `noise-${n}-new`];
      if (writer.known.has(`MeshPeer/${to}`)) return writer.put(presence(from, true));
      const record = writer.peer(from);
      writer.drop('MeshPeer', from);
      writer.ops.push({ op: 'create', record: { ...draftOf(record), name: to } });
      return writer.ops.push({ op: 'create', record: draftOf(peer(from, { uid: `p_again${n}`, phase: 'pending' })) });
    }
    default:
      return writer.put({ ...agent(`noise-agent-${n % 20}`), uid: `agt_noise${n % 20}` });
  }
}

interface Story {
  readonly start: readonly StoredRecord[];
  readonly steps: readonly Step[];
  readonly outages: readonly KnownOutage[];
}

/** Each in its own labels, so that nothing else touches it. Thirty questions in all. */
function storiesOf(began: number, flaps: number): Story[] {
  let addresses = 0;
  const at = (day: number) => began + Math.round(day * DAY_MS);
  const member = (name: string, role: string, more: object = {}) =>
    peer(name, {
      uid: `p_${name}`,
      labels: { role },
      address: `10.96.${addresses >> 8}.${(addresses++ & 255) + 1}`,
      ...more,
    });
  /** A client and a database that nothing else names. */
  const pair = (n: number) => {
    const [src, dst] = [`app-${n}`, `store-${n}`];
    return { src, dst, start: [member(src, `a${n}`), member(dst, `s${n}`), presence(src, true), presence(dst, true)] };
  };
  const closed = (n: number, more: object = {}): PolicySpec => ({
    action: 'DENY',
    peerSelector: { matchLabels: { role: `s${n}` } },
    ...more,
  });
  const known = (
    question: string,
    flips: [day: number, cause: string, name: string][],
    end: KnownOutage['end'],
    connections = 1,
  ): KnownOutage => ({
    question,
    flips: flips.map(([day, cause, name]) => ({ at: at(day), cause, name })),
    end,
    connections,
  });
  const put = (day: number, record: StoredRecord): Step => ({ at: at(day), write: (writer) => writer.put(record) });
  const change = (day: number, write: Step['write']): Step => ({ at: at(day), write });
  const relabel = (day: number, name: string, role: string): Step =>
    change(day, (writer) => writer.put({ ...writer.peer(name), labels: { role } }));
  const status = (day: number, name: string, fields: object): Step =>
    change(day, (writer) => {
      const own = writer.peer(name);
      writer.put({ ...own, status: { ...own.status, ...fields } });
    });
  const stories: Story[] = [];
  const tell = (story: (n: number) => Story) => stories.push(story(stories.length));

  for (const port of [22, 443, 3389, 5432, 6379]) {
    tell((n) => {
      const { src, dst, start } = pair(n);
      const name = `close-${n}`;
      const day = 3 + n;
      const asked = `Since when can't ${src} reach ${dst} on ${port}, and why?`;
      return {
        start,
        steps: [put(day, policy(name, closed(n)))],
        outages: [known(asked, [[day, 'policy', name]], 'unreachable')],
      };
    });
  }
  for (const days of [1, 2, 5]) {
    tell((n) => {
      const { src, dst, start } = pair(n);
      const [open, shut] = [`open-${n}`, `shut-${n}`];
      const spec: PolicySpec = {
        action: 'ALLOW',
        peerSelector: { matchLabels: { role: `s${n}` } },
        ingress: [{ from: ['*'] }],
      };
      const expiring = policy(open, { ...spec, expiresAt: formatInstant(at(40 + days)) });
      const flips: [number, string, string][] = [
        [30, 'policy', shut],
        [40, 'policy', open],
        [40 + days, 'expiry', open],
      ];
      return {
        start,
        steps: [put(30, policy(shut, closed(n))), put(40, expiring)],
        outages: [known(`why is ${dst} not reachable from ${src}?`, flips, 'unreachable')],
      };
    });
  }
  for (const back of [false, true, false]) {
    tell((n) => {
      const { src, dst, start } = pair(n);
      const from = { from: [{ peerSelector: { matchLabels: { role: 'quarantine' } } }] };
      const guard = policy(`guard-${n}`, closed(n, { ingress: [from] }));
      const steps = [relabel(50, src, 'quarantine'), ...(back ? [relabel(55, src, `a${n}`)] : [])];
      const flips: [number, string, string][] = [
        [50, 'label', src],
        ...(back ? [[55, 'label', src] as [number, string, string]] : []),
      ];
      return {
        start: [...start, guard],
        steps,
        outages: [{ ...known(`what broke ${src} to ${dst}?`, flips, back ? 'reachable' : 'unreachable'), leading: 0 }],
      };
    });
  }
  for (const old of [true, false]) {
    tell((n) => {
      const { src, dst, start } = pair(n);
      const rename = change(20, (writer) => {
        const own = writer.peer(src);
        writer.drop('MeshPeer', src);
        writer.ops.push({ op: 'create', record: { ...draftOf(own), name: `front-${n}` } });
        writer.drop('Presence', src);
        writer.put(presence(`front-${n}`, true));
      });
      const asked = `why can ${old ? src : `front-${n}`} not reach ${dst}?`;
      const outages = [known(asked, [[60, 'policy', `close-${n}`]], 'unreachable')];
      return { start, steps: [rename, put(60, policy(`close-${n}`, closed(n)))], outages };
    });
  }
  for (const gone of ['src', 'dst'] as const) {
    tell((n) => {
      const named = pair(n);
      const drop = change(33, (writer) => writer.drop('MeshPeer', named[gone]));
      return {
        start: named.start,
        steps: [drop],
        outages: [known(`when did ${named.src} lose ${named.dst}?`, [[33, 'peer', named[gone]]], 'unreachable')],
      };
    });
  }
  for (const [cause, fields] of [
    ['approval', { phase: 'revoked' }],
    ['approval', { phase: 'pending' }],
  ] as const) {
    tell((n) => {
      const { src, dst, start } = pair(n);
      return {
        start,
        steps: [status(45, dst, fields)],
        outages: [known(`why can ${src} not ping ${dst}`, [[45, cause, dst]], 'unreachable')],
      };
    });
  }
  for (const last of [1, 2]) {
    tell((n) => {
      const { src, dst, start } = pair(n);
      const bad = `10.97.0.${last}`;
      const guard = policy(`block-${n}`, closed(n, { ingress: [{ from: [{ ipBlock: { cidr: `${bad}/32` } }] }] }));
      const move = change(62, (writer) => {
        const own = writer.peer(src);
        writer.put({ ...own, status: { ...own.status, address: bad }, unique: [`ip:${bad}`] });
      });
      return {
        start: [...start, guard],
        steps: [move],
        outages: [known(`why can ${src} not talk to ${dst} over ssh?`, [[62, 'address', src]], 'unreachable')],
      };
    });
  }
  for (const asked of ['is', 'was'] as const) {
    tell((n) => {
      const { src, dst, start } = pair(n);
      const move = change(70, (writer) => {
        const own = writer.peer(dst);
        writer.put({ ...own, spec: { ...own.spec, network: 'lab' } });
      });
      return {
        start,
        steps: [move],
        outages: [known(`why ${asked} ${src} cut off from ${dst}?`, [[70, 'network', dst]], 'unreachable')],
      };
    });
  }
  for (const size of [5, 8]) {
    tell((n) => {
      const names = Array.from({ length: size }, (_, m) => `worker${n}-${m}`);
      const start = [
        member(`store-${n}`, `s${n}`),
        ...names.map((name) => member(name, `w${n}`)),
        ...names.map((name) => presence(name, true)),
        presence(`store-${n}`, true),
      ];
      const guard = policy(`close-${n}`, closed(n));
      const outages = [
        known(
          `since when can role=w${n} not reach store-${n} on 5432?`,
          [[25, 'policy', `close-${n}`]],
          'unreachable',
          size,
        ),
        known(
          `why can ${names[0]} and ${names[1]} not reach store-${n}?`,
          [[25, 'policy', `close-${n}`]],
          'unreachable',
          2,
        ),
      ];
      return { start, steps: [put(25, guard)], outages };
    });
  }
  for (const narrow of [true, false]) {
    tell((n) => {
      const { src, dst, start } = pair(n);
      const web = policy(`web-only-${n}`, {
        action: 'ALLOW',
        peerSelector: { matchLabels: { role: `s${n}` } },
        ingress: [{ from: ['*'], ports: [{ protocol: 'TCP', port: 443 }] }],
      });
      const asked = `why can ${src} not reach ${dst}${narrow ? ' on https' : ''}?`;
      return {
        start,
        steps: [put(15, web)],
        outages: [known(asked, narrow ? [] : [[15, 'policy', `web-only-${n}`]], narrow ? 'reachable' : 'partial')],
      };
    });
  }
  tell((n) => {
    const { src, dst, start } = pair(n);
    return { start, steps: [], outages: [known(`what happened between ${src} and ${dst}?`, [], 'reachable')] };
  });
  tell((n) => {
    const { src, dst, start } = pair(n);
    const reach = [{ to: [{ peerSelector: { matchLabels: { role: `s${n}` } } }] }];
    const root = { ...agent(`root-${n}`, { reach }), uid: `agt_root${n}` };
    const [own, ...others] = start;
    if (own?.kind !== 'MeshPeer') throw new Error('A pair begins with a peer.');
    const delegated = { ...own, spec: { ...own.spec, delegatedBy: `root-${n}` } };
    const outages = [known(`why can ${src} not reach ${dst}?`, [[48, 'delegation_bound', dst]], 'unreachable')];
    return { start: [root, delegated, ...others], steps: [relabel(48, dst, 'elsewhere')], outages };
  });
  tell((n) => {
    const { src, dst, start } = pair(n);
    const days = Array.from({ length: flaps }, (_, m) => 1 + (88 * m) / flaps);
    const steps = days.map((day, m) => put(day, presence(dst, m % 2 === 1)));
    const flips = days.map((day): [number, string, string] => [day, 'presence', dst]);
    return { start, steps, outages: [known(`why does ${src} lose ${dst}?`, flips, 'reachable')] };
  });
  return stories;
}
