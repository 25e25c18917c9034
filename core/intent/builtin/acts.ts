import { formatDuration } from '../../duration.ts';
import type { NetworkChange } from '../../network/changes.ts';
import type { PeerEntry, PolicySpec, PortEntry } from '../../network/policy.ts';
import type { PolicyRecord } from '../../network/resources.ts';
import type { NetworkState } from '../../network/state.ts';
import { sameValue } from '../../network/value.ts';
import { formatInstant } from '../../time.ts';
import type { Expectation, RecordExpectation } from '../planner.ts';
import { otherPorts, portSlug, portText } from './ports.ts';
import { enumerated, quoted, Refusal } from './refusal.ts';
import { isIsolated, isSubject, livePolicies, peersOf } from './selects.ts';
import type { Subject } from './subjects.ts';

/** What every act of the planner works on. No ports: all of them. */
export interface Ask {
  readonly state: NetworkState;
  readonly now: number;
  readonly sources: readonly Subject[];
  readonly targets: readonly Subject[];
  readonly ports: readonly PortEntry[];
  readonly forMs: number | undefined;
}

export interface Act {
  readonly changes: readonly NetworkChange[];
  readonly expectations: readonly Expectation[];
  readonly records?: readonly RecordExpectation[];
  readonly summary: string;
}

/** Lets the sources reach the targets, and closes nothing. */
export function allow(ask: Ask): Act {
  const { sources, targets } = ask;
  const changes = [...opened(ask, targets, sources, 'ingress'), ...opened(ask, sources, targets, 'egress')];
  const expectations = between(ask, 'allow');
  if (changes.length === 0) {
    return {
      changes,
      expectations,
      summary: `Nothing to change: ${nounsOf(sources)} may reach ${reachText(ask)} already.`,
    };
  }
  const marks = marksOf([...sources, ...targets]);
  return act(ask, [...marks, ...changes], expectations, `Let ${nounsOf(sources)} reach ${reachText(ask)}`);
}

/** Lets the sources reach the targets and nobody else; what others were granted is taken back. */
export function allowOnly(ask: Ask): Act {
  const { sources, targets } = ask;
  const withdrawn = targets.flatMap((target) => withdrawOthers(ask, target));
  if (withdrawn.length > 0 && ask.forMs !== undefined) {
    const names = withdrawn.map(({ name }) => quoted(name));
    throw new Refusal(`This would take back what ${enumerated(names)} grants, and that does not come back by itself.`, [
      'Should it be for good? Then leave the time out.',
    ]);
  }
  const marks = marksOf([...sources, ...targets]);
  const grants = targets.map((target) => grant(ask, target, sources, 'ingress'));
  const egress = opened(ask, sources, targets, 'egress');
  const others: Expectation[] = targets.map((target) => ({
    src: '*',
    except: sources.map(({ term }) => term),
    dst: target.term,
    expect: 'deny',
  }));
  return act(
    ask,
    [...marks, ...withdrawn, ...grants, ...egress],
    [...between(ask, 'allow'), ...(sources.some(({ everyone }) => everyone) ? [] : others)],
    `Let only ${nounsOf(sources)} reach ${reachText(ask)}`,
  );
}

/** Forbids the sources the targets, whatever else is granted. */
export function deny(ask: Ask): Act {
  const { sources, targets, ports } = ask;
  const changes = targets.map((target) =>
    write(ask, ['deny', slugOf(sources), 'to', target.slug, portSlug(ports)], {
      action: 'DENY',
      peerSelector: target.selector,
      ingress: [against(sources, ports)],
    }),
  );
  const marks = marksOf([...sources, ...targets]);
  return act(
    ask,
    [...marks, ...changes],
    between(ask, 'deny'),
    `Forbid ${nounsOf(sources)} to reach ${reachText(ask)}`,
  );
}

/** Cuts the targets off from everyone, in both directions, whatever else is granted. */
export function isolate(ask: Ask): Act {
  const { targets } = ask;
  const changes = targets.map((target) =>
    write(ask, ['isolate', target.slug], {
      action: 'DENY',
      peerSelector: target.selector,
      ingress: [{}],
      egress: [{}],
    }),
  );
  const expectations = targets.flatMap(({ term }): Expectation[] => [
    { src: '*', dst: term, expect: 'deny' },
    { src: term, dst: '*', expect: 'deny' },
  ]);
  return act(ask, [...marksOf(targets), ...changes], expectations, `Isolate ${nounsOf(targets)} from everyone`);
}

/** Closes the targets, for these sources, on every port but these. */
export function limitPorts(ask: Ask): Act {
  const { sources, targets, ports } = ask;
  const closed = otherPorts(ports);
  const changes = targets.map((target) =>
    write(ask, ['limit', slugOf(sources), 'to', target.slug, portSlug(ports)], {
      action: 'DENY',
      peerSelector: target.selector,
      ingress: [against(sources, closed)],
    }),
  );
  const expectations = between({ ...ask, ports: closed }, 'deny');
  const marks = marksOf([...sources, ...targets]);
  const whom = sources.some(({ everyone }) => everyone) ? '' : ` for ${nounsOf(sources)}`;
  return act(ask, [...marks, ...changes], expectations, `Limit ${nounsOf(targets)} to ${portText(ports)}${whom}`);
}

/** Takes back exactly what policies grant the sources at the targets. What isolates a target stays, so nothing opens. */
export function revoke(ask: Ask): Act {
  const { sources, targets, ports } = ask;
  if (ask.forMs !== undefined)
    throw new Refusal('Access is taken back for good: leave the time out, or say "deny" for a time.');
  const changes = [
    ...targets.flatMap((target) => takenBack(ask, target, sources, 'ingress')),
    ...sources.flatMap((source) => takenBack(ask, source, targets, 'egress')),
  ];
  if (changes.length === 0) {
    throw new Refusal(
      `No policy grants ${nounsOf(sources)} alone access to ${reachText(ask)}, so there is nothing to take back.`,
      [
        `Should it be forbidden? Then say "deny ${nounsOf(sources)} access to ${nounsOf(targets)}${ports.length > 0 ? ` on port …` : ''}".`,
      ],
    );
  }
  return act(ask, changes, between(ask, 'deny'), `Take back the access of ${nounsOf(sources)} to ${reachText(ask)}`);
}

/** Denies by default: a base under which only what some policy allows is open. */
export function denyByDefault(ask: Ask): Act {
  const change = write(ask, ['deny-by-default'], { action: 'DENY', peerSelector: {} });
  const records: RecordExpectation[] = [{ kind: 'closed-by-default', who: '*' }];
  return { ...act(ask, [change], [], 'Deny everything that no policy allows'), records };
}

/** Deletes one policy by name. */
export function deletePolicy(state: NetworkState, name: string): Act {
  const found = [...state.policies.values()].find((policy) => policy.name.toLowerCase() === name);
  if (!found) {
    const known = enumerated([...state.policies.keys()].sort().map(quoted));
    throw new Refusal(`There is no policy ${quoted(name)}.`, [`Which policy? ${known || 'There is none'}.`]);
  }
  const change: NetworkChange = { action: 'delete', resource: 'MeshPolicy', name: found.name };
  const records: RecordExpectation[] = [{ kind: 'absent', resource: 'MeshPolicy', name: found.name }];
  return { changes: [change], expectations: [], records, summary: `Delete the policy ${quoted(found.name)}.` };
}

type Direction = 'ingress' | 'egress';

/**
 * Grants for the subjects that are closed in a direction. None for open ones: an ALLOW would close them to all others.
 */
function opened(
  ask: Ask,
  subjects: readonly Subject[],
  others: readonly Subject[],
  direction: Direction,
): NetworkChange[] {
  return subjects.flatMap((subject) => {
    const open = subject.peers.filter((peer) => !isIsolated(ask.state, ask.now, peer, direction));
    if (open.length === subject.peers.length) return [];
    if (open.length > 0) {
      const names = enumerated(open.map(({ name }) => quoted(name)));
      throw new Refusal(
        `Some of ${quoted(subject.term)} are open to everyone today: ${names}. Granting this would close them to others.`,
        [
          direction === 'ingress'
            ? 'Should nobody else reach them? Then add "and nobody else"; or name the others one by one.'
            : 'Name the peers that should get this one by one.',
        ],
      );
    }
    return [grant(ask, subject, others, direction)];
  });
}

function grant(ask: Ask, subject: Subject, others: readonly Subject[], direction: Direction): NetworkChange {
  const { ports } = ask;
  const spec: PolicySpec =
    direction === 'ingress'
      ? { action: 'ALLOW', peerSelector: subject.selector, ingress: [rule('from', others, ports)] }
      : { action: 'ALLOW', peerSelector: subject.selector, egress: [rule('to', others, ports)] };
  const [from, to] = direction === 'ingress' ? [slugOf(others), subject.slug] : [subject.slug, slugOf(others)];
  return write(ask, ['allow', from, 'to', to, portSlug(ports), direction === 'egress' ? 'out' : ''], spec);
}

/** Strips from ALLOW policies on a target what they grant to anyone but the sources. */
function withdrawOthers({ state, now, sources }: Ask, target: Subject): NetworkChange[] {
  const kept = sources.map(({ entry }) => entry);
  return livePolicies(state, now).flatMap((policy): NetworkChange[] => {
    const { spec } = policy;
    if (spec.action !== 'ALLOW' || !spec.ingress?.length) return [];
    const selected = peersOf(state).filter((peer) => isSubject(spec, peer));
    if (!selected.some((peer) => isAmong(peer.name, target))) return [];
    const ingress = spec.ingress.flatMap(({ from, ports }) => {
      const left = (from ?? []).filter((entry) => isOneOf(entry, kept));
      return left.length > 0 ? [{ from: left, ...(ports && { ports }) }] : [];
    });
    if (sameValue(ingress, spec.ingress)) return [];
    const beyond = selected.filter((peer) => !isAmong(peer.name, target));
    if (beyond.length > 0) {
      const names = enumerated(beyond.map(({ name }) => quoted(name)));
      throw new Refusal(
        `The policy ${quoted(policy.name)} grants others access to ${quoted(target.term)} and also to ${names}.`,
        [`Should ${quoted(policy.name)} be changed or deleted first?`],
      );
    }
    return [rewritten(policy, { ...spec, ingress })];
  });
}

function takenBack(
  { state, now, ports }: Ask,
  subject: Subject,
  others: readonly Subject[],
  direction: Direction,
): NetworkChange[] {
  const entries = others.map(({ entry }) => entry);
  return livePolicies(state, now).flatMap((policy): NetworkChange[] => {
    const { spec } = policy;
    if (spec.action !== 'ALLOW' || !sameValue(spec.peerSelector ?? {}, subject.selector)) return [];
    const concerns = (rulePorts: readonly PortEntry[] | undefined) => ports.length === 0 || samePorts(rulePorts, ports);
    if (direction === 'ingress') {
      const ingress = spec.ingress?.flatMap((one) => {
        const from = concerns(one.ports) ? without(one.from, entries) : one.from;
        return one.from?.length && !from?.length ? [] : [{ ...one, ...(from && { from }) }];
      });
      return !ingress || sameValue(ingress, spec.ingress) ? [] : [rewritten(policy, { ...spec, ingress })];
    }
    const egress = spec.egress?.flatMap((one) => {
      const to = concerns(one.ports) ? without(one.to, entries) : one.to;
      return one.to?.length && !to?.length ? [] : [{ ...one, ...(to && { to }) }];
    });
    return !egress || sameValue(egress, spec.egress) ? [] : [rewritten(policy, { ...spec, egress })];
  });
}

function without(entries: readonly PeerEntry[] | undefined, taken: readonly PeerEntry[]): PeerEntry[] | undefined {
  return entries?.filter((entry) => !isOneOf(entry, taken));
}

function isOneOf(entry: PeerEntry, entries: readonly PeerEntry[]): boolean {
  return entries.some((other) => sameValue(entry, other));
}

function samePorts(a: readonly PortEntry[] | undefined, b: readonly PortEntry[]): boolean {
  const shape = (ports: readonly PortEntry[]) =>
    ports.map(({ protocol = 'TCP', ...rest }) => JSON.stringify({ protocol, ...rest })).sort();
  return sameValue(shape(a ?? []), shape(b));
}

function isAmong(name: string, { peers }: Subject): boolean {
  return peers.some((peer) => peer.name === name);
}

function rewritten({ name, labels, annotations }: PolicyRecord, spec: PolicySpec): NetworkChange {
  return { action: 'update', resource: 'MeshPolicy', name, spec, labels, annotations };
}

/** One rule with these subjects at the other end. */
function rule<K extends 'from' | 'to'>(key: K, others: readonly Subject[], ports: readonly PortEntry[]) {
  const entries = { [key]: others.map(({ entry }) => entry) } as { [key in K]: PeerEntry[] };
  return { ...entries, ...(ports.length > 0 && { ports: [...ports] }) };
}

/** A rule that forbids: everyone means outsiders too, which only a rule without `from` says. */
function against(sources: readonly Subject[], ports: readonly PortEntry[]) {
  return sources.some(({ everyone }) => everyone)
    ? { ...(ports.length > 0 && { ports: [...ports] }) }
    : rule('from', sources, ports);
}

const MAX_NAME = 63;

/** Writes a policy under a name made of its parts; the same policy again is no change, another one gets the next number. */
function write({ state, now, forMs }: Ask, parts: readonly string[], content: PolicySpec): NetworkChange {
  const spec = forMs === undefined ? content : { ...content, expiresAt: formatInstant(now + forMs) };
  const base = parts
    .filter((part) => part !== '')
    .join('-')
    .slice(0, MAX_NAME - 4);
  const taken = new Map([...state.policies.values()].map((policy) => [policy.name.toLowerCase(), policy]));
  for (let count = 1; ; count++) {
    const name = count === 1 ? base : `${base}-${count}`;
    const holder = taken.get(name.toLowerCase());
    if (!holder) return { action: 'create', resource: 'MeshPolicy', name, spec };
    if (sameValue(holder.spec, spec)) {
      const { labels, annotations } = holder;
      return { action: 'update', resource: 'MeshPolicy', name: holder.name, spec, labels, annotations };
    }
  }
}

function between({ sources, targets, ports }: Ask, expect: Expectation['expect']): Expectation[] {
  return targets.flatMap((dst) =>
    sources.flatMap((src) =>
      (ports.length > 0 ? ports : [undefined]).map((entry): Expectation => {
        const { protocol = 'TCP', port, endPort } = entry ?? {};
        const what = entry && {
          protocol,
          ...(port !== undefined && { port }),
          ...(endPort !== undefined && { endPort }),
        };
        return { src: src.term, dst: dst.term, ...what, expect };
      }),
    ),
  );
}

function act(ask: Ask, changes: readonly NetworkChange[], expectations: readonly Expectation[], sentence: string): Act {
  const once = new Map(changes.map((change) => [`${change.resource}/${change.name.toLowerCase()}`, change]));
  if (
    once.size < changes.length &&
    changes.some((one) => !sameValue(one, once.get(`${one.resource}/${one.name.toLowerCase()}`)))
  ) {
    throw new Refusal('This would change one policy in two ways.', ['Say it in two steps?']);
  }
  const time = ask.forMs === undefined ? '' : ` for ${formatDuration(ask.forMs)}`;
  return { changes: [...once.values()], expectations, summary: `${sentence}${time}.` };
}

function marksOf(subjects: readonly Subject[]): NetworkChange[] {
  return subjects.flatMap((subject) => subject.changes);
}

function slugOf(subjects: readonly Subject[]): string {
  return subjects.map(({ slug }) => slug).join('-');
}

function nounsOf(subjects: readonly Subject[]): string {
  return enumerated(subjects.map(({ term, everyone }) => (everyone ? 'everyone' : term)));
}

function reachText({ targets, ports }: Ask): string {
  return `${nounsOf(targets)}${ports.length > 0 ? ` on ${portText(ports)}` : ''}`;
}
