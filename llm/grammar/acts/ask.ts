import { createHash } from 'node:crypto';
import { roughDuration } from '../../../core/base/duration.ts';
import { formatInstant } from '../../../core/base/time.ts';
import type { NetworkChange } from '../../../core/changes/changes.ts';
import type { Expectation, RecordExpectation } from '../../../core/intent/verify/expectation.ts';
import type { PeerEntry, PolicySpec, PortEntry } from '../../../core/model/policy.ts';
import { OUTSIDE } from '../../../core/model/ranges.ts';
import type { PolicyRecord } from '../../../core/model/resources.ts';
import { sameValue } from '../../../core/model/value.ts';
import type { NetworkState } from '../../../core/state/state.ts';
import { momentText } from '../moment-text.ts';
import { joined } from '../peer-entries.ts';
import { portText } from '../port-entries.ts';
import { enumerated, quoted, Refusal } from '../refusal.ts';
import type { Subject } from '../subject.ts';

/** What every act of the planner works on. No ports: all of them. */
export interface Ask {
  readonly state: NetworkState;
  readonly now: number;
  readonly sources: readonly Subject[];
  readonly targets: readonly Subject[];
  readonly ports: readonly PortEntry[];
  /** Milliseconds. */
  readonly until: number | undefined;
  /** The zone whose clocks that is told by, beside UTC. */
  readonly zone: string;
}

export interface Act {
  readonly changes: readonly NetworkChange[];
  readonly expectations: readonly Expectation[];
  readonly records?: readonly RecordExpectation[];
  readonly summary: string;
}

const MAX_NAME = 63;
/** Room for the number of a name that is taken. */
const MAX_BASE = MAX_NAME - 4;
const DIGEST_LENGTH = 6;

/** Writes a policy under a name made of its parts; the same policy again is no change, another one gets the next number. */
export function write({ state, until }: Ask, parts: readonly string[], content: PolicySpec): NetworkChange {
  const spec = until === undefined ? content : { ...content, expiresAt: formatInstant(until) };
  const base = bounded(parts.filter((part) => part !== '').join('-'));
  const taken = new Map([...state.policies.values()].map((policy) => [policy.name.toLowerCase(), policy]));
  for (let count = 1; ; count++) {
    const name = count === 1 ? base : `${base}-${count}`;
    const holder = taken.get(name.toLowerCase());
    if (!holder) return { action: 'create', resource: 'MeshPolicy', name, spec };
    if (sameValue(holder.spec, spec)) return rewritten(holder, spec);
  }
}

/** A name that is too long ends in a digest of the whole, so that two policies of one plan never share one. */
function bounded(name: string): string {
  if (name.length <= MAX_BASE) return name;
  const digest = createHash('sha256').update(name).digest('hex').slice(0, DIGEST_LENGTH);
  return `${name.slice(0, MAX_BASE - DIGEST_LENGTH - 1)}-${digest}`;
}

/** A policy with another spec and everything else as it was. */
export function rewritten({ name, labels, annotations }: PolicyRecord, spec: PolicySpec): NetworkChange {
  return { action: 'update', resource: 'MeshPolicy', name, spec, labels, annotations };
}

/** One rule with these subjects at the other end. */
export function rule<K extends 'from' | 'to'>(key: K, others: readonly Subject[], ports: readonly PortEntry[]) {
  const entries = { [key]: joined(others.flatMap((other) => other.entries)) } as { [key in K]: PeerEntry[] };
  return { ...entries, ...(ports.length > 0 && { ports: [...ports] }) };
}

/** A rule that forbids: everyone means outsiders too, which only a rule without `from` or `to` says. */
export function against<K extends 'from' | 'to'>(key: K, others: readonly Subject[], ports: readonly PortEntry[]) {
  const ported = { ...(ports.length > 0 && { ports: [...ports] }) } as { ports?: PortEntry[] };
  if (others.some(({ everyone }) => everyone)) return ported;
  const entries = joined(others.flatMap((other) => [...other.entries, ...other.outsiders]));
  return { ...({ [key]: entries } as { [key in K]?: PeerEntry[] }), ...ported };
}

/** What must hold between all of the sources and all of the targets; nothing between one peer and itself. */
export function between({ sources, targets, ports }: Ask, expect: Expectation['expect']): Expectation[] {
  // Between addresses outside nothing is closed, so with everyone on both sides it is who is let in that counts.
  const fromAll = sources.some((source) => source.everyone || isAllBut(source));
  const pairs = targets.flatMap((target) =>
    sources
      .filter((source) => !isItself(source, target))
      .flatMap((source) => {
        // An expectation leaves out sources alone.
        const isWhole = rangesLeftOut(target).except === undefined;
        const isPart = target.selector === undefined && !isWhole;
        const whole = isPart ? target.peers.map(({ name }) => name) : target.terms;
        const reached = fromAll || !isWhole ? whole : termsOf(target, expect);
        return reached.flatMap((dst) =>
          termsOf(source, expect).map((src) => ({
            src,
            dst,
            ...((src === OUTSIDE || source.selector === undefined) && rangesLeftOut(source)),
          })),
        );
      }),
  );
  return pairs.flatMap((pair) =>
    (ports.length > 0 ? ports : [undefined]).map((entry): Expectation => ({ ...pair, ...portsOf(entry), expect })),
  );
}

/** Who is outside of the network is forbidden what everyone but some is ({@link against}), and never granted it. */
function termsOf(subject: Subject, expect: Expectation['expect']): readonly string[] {
  return expect === 'deny' && isAllBut(subject) ? [...subject.terms, OUTSIDE] : subject.terms;
}

/** Addresses outside that are not meant. */
function rangesLeftOut({ excepted }: Subject): { readonly except?: readonly string[] } {
  const except = excepted.flatMap(({ selector, terms }) => (selector === undefined ? terms : []));
  return except.length > 0 ? { except } : {};
}

/** Everyone but some, also by its terms alone, so that a policy that forgets who is outside is never proven. */
function isAllBut({ terms, outsiders }: Subject): boolean {
  const isLess = (term: string) => term.split(',').every((one) => one.startsWith('!') || one.includes('!='));
  return outsiders.length > 0 || (terms.length > 0 && terms.every(isLess));
}

function isItself({ peers: [one, ...others] }: Subject, { peers: [other, ...more] }: Subject): boolean {
  return one !== undefined && others.length + more.length === 0 && one.name === other?.name;
}

function portsOf(entry: PortEntry | undefined): Pick<Expectation, 'protocol' | 'port' | 'endPort'> {
  if (entry === undefined) return {};
  const { protocol = 'TCP', port, endPort } = entry;
  return { protocol, ...(port !== undefined && { port }), ...(endPort !== undefined && { endPort }) };
}

/** As parts of the intent one by one, each of which may be so already. */
export function partByPart(expectations: readonly Expectation[], textOf: (who: string, whom: string) => string) {
  return expectations.map((one): Expectation => {
    const [who, whom] = [spoken(one.src), spoken(one.dst)];
    return { ...one, part: `${textOf(who, whom)}${one.protocol === undefined ? '' : ` on ${portText([one])}`}` };
  });
}

function spoken(term: string): string {
  return term === '*' ? 'everyone' : term;
}

/** The same beside what is asked for: what it proves may well be so already. */
export function beside(act: Act): Act {
  return { ...act, expectations: act.expectations.map(({ part: _, ...one }) => one) };
}

/** An act made whole: each change once, and its sentence, which is a part of the intent where its expectations name none. */
export function act(
  ask: Ask,
  changes: readonly NetworkChange[],
  expectations: readonly Expectation[],
  sentence: string,
): Act {
  const keyOf = ({ resource, name }: NetworkChange) => `${resource}/${name.toLowerCase()}`;
  const once = new Map(changes.map((change) => [keyOf(change), change]));
  if (once.size < changes.length && changes.some((one) => !sameValue(one, once.get(keyOf(one))))) {
    throw new Refusal('This would change one policy in two ways.', ['Say it in two steps?']);
  }
  return {
    changes: [...once.values()],
    expectations: expectations.map((one) => ({ part: sentence, ...one })),
    summary: `${sentence}${timeText(ask)}.`,
  };
}

/** ` for 4d5h, until Friday 2026-01-09 18:00 in Europe/Zurich (17:00 UTC)`, or nothing. */
export function timeText({ until, now, zone }: Pick<Ask, 'until' | 'now' | 'zone'>): string {
  if (until === undefined) return '';
  return ` for ${roughDuration(until - now)}, until ${momentText(until, zone)}`;
}

export function slugOf(subjects: readonly Subject[]): string {
  return subjects.map(({ slug }) => slug).join('-');
}

export function nounsOf(subjects: readonly Subject[]): string {
  return enumerated([...new Set(subjects.map(({ noun }) => noun))]);
}

/** `role=db on TCP 5432`. */
export function reachText({ targets, ports }: Pick<Ask, 'targets' | 'ports'>): string {
  return `${nounsOf(targets)}${ports.length > 0 ? ` on ${portText(ports)}` : ''}`;
}

/** Subjects that a policy can be written on. */
export function selected(subjects: readonly Subject[]): (Subject & { readonly selector: object })[] {
  return subjects.filter(
    (subject): subject is Subject & { readonly selector: object } => subject.selector !== undefined,
  );
}

/** One peer alone reaches itself whatever policies say. @throws Refusal when it is both sides. */
export function refuseOneself(ask: Ask): void {
  const [source, target] = [ask.sources[0], ask.targets[0]];
  const single =
    ask.sources.length + ask.targets.length === 2 && source?.peers.length === 1 && target?.peers.length === 1;
  if (!single || source.peers[0]?.name !== target.peers[0]?.name) return;
  throw new Refusal(
    `${quoted(source.noun)} and ${quoted(target.noun)} are one and the same peer, which reaches itself anyway.`,
    ['Who else is meant?'],
  );
}
