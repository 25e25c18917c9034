import { lineText } from '../base/as-data.ts';
import { formatSecond, parseInstant } from '../base/time.ts';
import { type PortSpan, spansOf, spanText, subtract } from '../effect/port-spans.ts';
import type { Ranges } from '../model/ranges.ts';
import { selects } from '../model/selector.ts';
import { explainOutside, openOutside } from '../reachability/explain-outside.ts';
import type { Blocker, Explanation } from '../reachability/explanation.ts';
import { type Isolation, isolationOf, type Opening } from '../reachability/isolation.ts';
import type { Direction } from '../reachability/model.ts';
import { NO_PORTS } from '../reachability/port-sets.ts';
import type { ReasonCode } from '../reachability/reasons.ts';
import { agentOf } from '../state/network-model.ts';
import { groupsOf } from '../state/peer-groups.ts';
import type { HistoryServices } from '../state/services.ts';
import type { NetworkState } from '../state/state.ts';
import { type ConnectivityAnswer, type ConnectivityQuestion, verdictsIn } from './connectivity.ts';

/** Policies, groups of peers and spans of ports that one sentence names. */
const MAX_LISTED = 5;
/** Instants ahead at which something ends: each takes a look at the network of then. */
const MAX_ENDS = 8;

/**
 * Explains an answer in a few sentences: what is open and until when, which policies close and which open, each once. Text
 * of the CLI, the API, MCP and the dashboard.
 *
 * @param at instant that the answer is about, ms
 */
export function describeDenial(
  services: Pick<HistoryServices, 'states'>,
  { state, at }: { readonly state: NetworkState; readonly at: number },
  question: ConnectivityQuestion,
  answer: ConnectivityAnswer,
): string {
  const judge = verdictsIn(services, state, question);
  const scene: Scene = {
    services,
    state,
    at,
    judge,
    question,
    allowedAt: (then) => judge(then).allowed,
    ...judge.names,
  };
  const { src, dst } = scene;
  const { protocol, port } = question;
  const what = port === undefined ? (protocol ?? '') : `${protocol ?? 'TCP'} port ${port}`;
  const on = what === '' ? '' : ` on ${what}`;
  return lineText(sentences().join(' '));

  function sentences(): string[] {
    if (answer.steps.some(({ reason_code: code }) => code === 'SELF_TRAFFIC')) {
      return [`Both ends are the same peer, ${src}, which always reaches itself.`, ...offlineText(scene, answer)];
    }
    switch (answer.verdict) {
      case 'reachable':
        return [`${src} may reach ${dst}${on}${endText(scene, answer.allowed)}.`, ...offlineText(scene, answer)];
      case 'partial':
        return [
          `${src} may reach ${dst}${on} only in part: ${partsText(scene, question, answer.allowed)}.`,
          ...obstacles(scene, answer, 'The rest'),
          ...portsPerDirection(scene, answer),
        ];
      default: {
        const { allowed } = judge(at);
        return [
          `${src} may not reach ${dst}${on}.`,
          ...obstacles(scene, answer, 'It'),
          ...elsewhereText(scene, answer, allowed),
        ];
      }
    }
  }
}

/** The ports of the pair that are open in place of what was asked about, and those that each direction has. */
function elsewhereText(scene: Scene, answer: ConnectivityAnswer, allowed: Explanation['allowed']) {
  const { src, dst } = scene;
  const open = partsText(scene, {}, allowed);
  return [...(open === '' ? [] : [`Open from ${src} to ${dst}: ${open}.`]), ...portsPerDirection(scene, answer)];
}

/** For each direction with other open ports: the policy that opens them and the one that closes the rest. */
function portsPerDirection(scene: Scene, { blocked_by: blockers }: ConnectivityAnswer): string[] {
  const { src, dst, judge, at } = scene;
  const mismatches = blockers.filter(({ reason_code: code }) => code.endsWith('_MISMATCH'));
  return [...new Set(mismatches.flatMap(({ direction }) => direction ?? []))].flatMap((direction) => {
    const [subject, other] = direction === 'egress' ? [src, dst] : [dst, src];
    const isolation = isolationOf(judge.reach(at), direction, { subject, other });
    if (!isolation) return [];
    const opening = mismatches.flatMap((one) => (one.direction === direction ? (one.policy ?? []) : []));
    const closing = isolation.closing.length > 0 ? isolation.closing : [...new Set(opening)];
    const closers = namedText('policy', 'policies', closing.map(endingText(scene)));
    const rest = closing.length === 0 ? '' : `${closers} ${closing.length === 1 ? 'closes' : 'close'} the rest`;
    const ports = isolation.admits.map((one) => `${portsText(spansOf(one.allowed))} (policy ${one.policy})`);
    if (ports.length === 0) return rest === '' ? [] : [`${rest.charAt(0).toUpperCase()}${rest.slice(1)}.`];
    const may =
      direction === 'egress'
        ? `${src} may open only ${listText(ports)} to ${dst}`
        : `${dst} may be reached by ${src} only on ${listText(ports)}`;
    return [`${may}${rest === '' ? '' : `; ${rest}`}.`];
  });
}

/** The name of a policy, and until when it is in force. */
function endingText({ state }: Pick<Scene, 'state'>): (policy: string) => string {
  return (policy) => {
    const until = endOf(state.policies.get(policy)?.spec ?? {});
    return until === undefined ? policy : `${policy} until ${formatSecond(until)}`;
  };
}

/** Open ports; for an outside range, by part of the range. */
function partsText(scene: Scene, on: Pick<ConnectivityQuestion, 'protocol' | 'port'>, allowed: Explanation['allowed']) {
  const { judge, at } = scene;
  const { outside } = judge;
  const parts = outside ? openOutside(judge.reach(at), { ...outside, ...on }) : [];
  // Ports that the whole range shares need no list of parts.
  const isShared = parts.length === 1 && JSON.stringify(parts[0]?.allowed) === JSON.stringify(allowed);
  if (!outside || parts.length === 0 || isShared) return openText(scene, allowed);
  return parts
    .map((part) => {
      const allowedAt = (then: number) => allowedOutside(scene, { ...outside, ranges: part.ranges }, then);
      return `${listText(part.addresses)} on ${openText({ ...scene, allowedAt }, part.allowed)}`;
    })
    .join('; ');
}

type Outside = NonNullable<Scene['judge']['outside']>;

function allowedOutside({ judge }: Scene, outside: Outside & { readonly ranges: Ranges }, at: number) {
  return explainOutside(judge.reach(at), outside).allowed;
}

interface Scene {
  readonly services: Pick<HistoryServices, 'states'>;
  readonly state: NetworkState;
  readonly at: number;
  readonly judge: ReturnType<typeof verdictsIn>;
  readonly question: ConnectivityQuestion;
  /** Open ports at an instant, ms, of the pair or of one part of a range. */
  readonly allowedAt: (at: number) => Explanation['allowed'];
  readonly src: string;
  readonly dst: string;
}

function offlineText({ src, dst }: Scene, { presence }: ConnectivityAnswer): string[] {
  const absent = [
    ...new Set([...(presence.src === 'offline' ? [src] : []), ...(presence.dst === 'offline' ? [dst] : [])]),
  ];
  if (absent.length === 0) return [];
  return [`But ${absent.join(' and ')} ${absent.length > 1 ? 'are' : 'is'} offline.`];
}

/** Ports that are open until the same instant, or without an end. */
interface OpenSpans {
  readonly spans: readonly PortSpan[];
  readonly until: number | undefined;
  /** Policies that end then. */
  readonly ending: readonly string[];
}

function openText(scene: Scene, allowed: Explanation['allowed']): string {
  return openSpans(scene, spansOf(allowed))
    .map((one) => `${portsText(one.spans)}${untilText(one)}`)
    .join('; ');
}

/** Where all of it ends at one time. */
function endText(scene: Scene, allowed: Explanation['allowed']): string {
  const all = openSpans(scene, spansOf(allowed));
  const [only] = all;
  if (!only || (all.length === 1 && only.until === undefined)) return '';
  return all.length === 1 ? untilText(only) : `: ${openText(scene, allowed)}`;
}

function untilText({ until, ending }: OpenSpans): string {
  if (until === undefined) return '';
  const by = ending.length === 0 ? '' : `, when ${namedText('policy', 'policies', ending)} ${endsText(ending)}`;
  return ` until ${formatSecond(until)}${by}`;
}

function endsText(ending: readonly string[]): string {
  return ending.length === 1 ? 'ends' : 'end';
}

function portsText(spans: readonly PortSpan[]): string {
  const more = spans.length - MAX_LISTED;
  const text = spanText(spans);
  if (text === 'everything') return 'all ports';
  return more > 0 ? `${spanText(spans.slice(0, MAX_LISTED))} and ${more} more` : text;
}

/** Open ports grouped by expiry; ports without one come first. */
function openSpans(scene: Scene, open: readonly PortSpan[]): OpenSpans[] {
  const { allowedAt, state } = scene;
  const found: OpenSpans[] = [];
  let left = open;
  for (const end of endsAhead(scene)) {
    const closed = subtract(left, spansOf(allowedAt(end)));
    if (closed.length === 0) continue;
    const ending = [...state.policies.values()].flatMap(({ name, spec }) => (endOf(spec) === end ? [name] : []));
    found.push({ spans: closed, until: end, ending });
    left = subtract(left, closed);
  }
  return [...(left.length > 0 ? [{ spans: left, until: undefined, ending: [] }] : []), ...found];
}

/** The next instants at which something that may decide the pair is over. */
function endsAhead({ state, at, src, dst }: Scene): number[] {
  const peers = [src, dst].flatMap((name) => state.peers.get(name) ?? []);
  const isDelegated = peers.some((peer) => agentOf(peer) !== undefined);
  const records = [
    ...peers,
    ...(isDelegated ? [...state.agents.values(), ...state.peers.values()] : []),
    ...[...state.policies.values()].filter(
      ({ spec }) => spec.expiresAt !== undefined && peers.some((peer) => selects(spec.peerSelector ?? {}, peer)),
    ),
  ];
  const ends = new Set(records.flatMap(({ spec }) => endOf(spec) ?? []).filter((end) => end > at));
  return [...ends].sort((a, b) => a - b).slice(0, MAX_ENDS);
}

function endOf(spec: object): number | undefined {
  const { expiresAt } = spec as { readonly expiresAt?: string };
  return expiresAt === undefined ? undefined : parseInstant(expiresAt);
}

/** @param rest what is not open, as the subject of a sentence */
function obstacles(scene: Scene, { blocked_by: blockers, steps, verdict }: ConnectivityAnswer, rest: string): string[] {
  const { src, dst, state } = scene;
  const denying = blockers.flatMap((one) =>
    isDenial(one) && one.policy !== null ? [{ ...one, policy: one.policy }] : [],
  );
  const stopped = steps.find(({ result }) => result === 'fail')?.subject ?? src;
  const others = blockers.flatMap(({ reason_code: code }) => PLAIN[code]?.({ src, dst, subject: stopped }) ?? []);
  const directions = new Set(blockers.flatMap((one) => (isShutBy(one) ? (one.direction ?? []) : [])));
  const places = denying.map((one) => {
    const until = endOf(state.policies.get(one.policy)?.spec ?? {});
    const ends = until === undefined ? '' : `, until ${formatSecond(until)}`;
    return {
      ports: deniedPart(scene, one),
      text: `${one.policy} (${one.direction} rule ${one.rule_index ?? 0}${ends})`,
    };
  });
  const whole = places.flatMap(({ ports, text }) => (ports === undefined ? [text] : []));
  const parts = places.flatMap(({ ports, text }) => (ports === undefined ? [] : [`${ports} by policy ${text}`]));
  const isolations = [...directions].flatMap((direction) => {
    const [subject, other] = direction === 'egress' ? [src, dst] : [dst, src];
    const isolation = isolationOf(scene.judge.reach(scene.at), direction, { subject, other });
    return isolation ? [{ direction, subject, isolation }] : [];
  });
  return [
    ...new Set(others),
    ...(whole.length > 0 ? [`${rest} is denied by ${namedText('policy', 'policies', whole)}.`] : []),
    ...(parts.length > 0 ? [`Denied: ${listText(parts)}.`] : []),
    ...(verdict === 'unreachable' && isolations.length > 0 ? [`No policy allows ${src} → ${dst}.`] : []),
    ...isolations.map((one) => directionText(scene, one)),
  ];
}

/** The ports that a rule denies, where it leaves some of what was asked about; else undefined. */
function deniedPart(
  { judge, at, question }: Scene,
  { policy, direction, rule_index: index }: { policy: string; direction: Direction | null; rule_index: number | null },
): string | undefined {
  const { policies, ports } = judge.reach(at).parts;
  const rules = policies.find(({ name }) => name === policy)?.code[direction ?? 'ingress'];
  const scope = ports.ofQuery(question.protocol, question.port);
  const denied = ports.meet(rules?.[index ?? 0]?.ports ?? NO_PORTS, scope);
  return denied === scope || denied === NO_PORTS ? undefined : portsText(spansOf(ports.describe(denied)));
}

function isDenial({ reason_code: code }: Blocker): boolean {
  return code === 'EGRESS_DENIED_BY_RULE' || code === 'INGRESS_DENIED_BY_RULE';
}

/** No rule of a policy means the other end. */
function isShutBy({ reason_code: code }: Blocker): boolean {
  return code === 'EGRESS_ISOLATED' || code === 'INGRESS_ISOLATED' || code === 'DENIED_BY_DEFAULT';
}

/** How policies, or the network, close one direction of a peer. */
function directionText(
  { state }: Scene,
  { direction, subject, isolation }: { direction: Direction; subject: string; isolation: Isolation },
): string {
  const { closing } = isolation;
  const named = endingText({ state });
  const by = closing.length === 0 ? undefined : namedText('policy', 'policies', closing.map(named));
  // Policies that let in nobody now come last.
  const opening = isolation.opening.toSorted((a, b) => Number(isToNobody(a)) - Number(isToNobody(b)));
  const to = opening.map((one) => `${named(one.policy)} to ${opensTo(one, state, subject)}`);
  const open = `${opening.length === 1 ? 'one policy opens' : `${opening.length} policies open`} it: ${listText(to)}`;
  const way = direction === 'egress' ? 'closed for connections that it opens' : 'closed';
  if (by === undefined && opening.length === 0) return `The network of ${subject} denies by default.`;
  if (by === undefined) return `${subject} is ${way} but for what policies open: ${listText(to)}.`;
  const rest = opening.length > 0 ? `; ${open}` : ', and no policy opens it';
  return `${subject} is ${way} by default-deny (${by})${rest}.`;
}

function isToNobody({ peers, addresses }: Opening): boolean {
  return peers.length === 0 && addresses?.length === 0;
}

function opensTo(opening: Opening, state: NetworkState, subject: string): string {
  if (isToNobody(opening)) return 'nobody now';
  const { peers, addresses = ['addresses outside that are too many to compare'] } = opening;
  return listText([...groupsOf(peers, state, [subject]), ...addresses]);
}

function namedText(one: string, many: string, names: readonly string[]): string {
  return `${names.length === 1 ? one : many} ${listText(names)}`;
}

/** `a, b and 3 more`. */
function listText(all: readonly string[]): string {
  const shown = all.slice(0, MAX_LISTED);
  const words = all.length > shown.length ? [...shown, `${all.length - shown.length} more`] : shown;
  const last = words.at(-1) ?? '';
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} and ${last}`;
}

interface Names {
  readonly src: string;
  readonly dst: string;
  readonly subject: string;
}

const PLAIN: { readonly [Code in ReasonCode]?: (names: Names) => string } = {
  PEER_NOT_FOUND: ({ subject }) => `There is no peer ${subject}.`,
  PEER_PENDING: ({ subject }) => `${subject} waits for approval.`,
  PEER_REVOKED: ({ subject }) => `${subject} is revoked.`,
  PEER_EXPIRED: ({ subject }) => `The time of ${subject} is over.`,
  DIFFERENT_NETWORK: ({ src, dst }) => `${src} and ${dst} are in different networks.`,
  DELEGATION_BOUND: ({ src }) => `${src} is delegated and reaches no more than the agent above it may.`,
};
