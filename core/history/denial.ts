import { lineText } from '../base/as-data.ts';
import { formatInstant, parseInstant } from '../base/time.ts';
import { type PortSpan, spansOf, spanText, subtract } from '../effect/port-spans.ts';
import { cidrsOf } from '../model/ranges.ts';
import { selects } from '../model/selector.ts';
import type { Blocker, Explanation } from '../reachability/explanation.ts';
import { type Isolation, isolationOf, type Opening } from '../reachability/isolation.ts';
import type { Direction } from '../reachability/model.ts';
import type { ReasonCode } from '../reachability/reasons.ts';
import { agentOf } from '../state/network-model.ts';
import { groupsOf } from '../state/peer-groups.ts';
import type { HistoryServices } from '../state/services.ts';
import type { NetworkState } from '../state/state.ts';
import { type ConnectivityAnswer, type ConnectivityQuestion, judgedIn } from './connectivity.ts';

/** Policies, groups of peers and spans of ports that one sentence names. */
const MAX_NAMED = 5;
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
  const judge = judgedIn(services, state, question);
  const scene = { services, state, at, judge, ...judge.names };
  const { src, dst } = scene;
  const { protocol, port } = question;
  const what = port === undefined ? (protocol ?? '') : `${protocol ?? 'TCP'} port ${port}`;
  const on = what === '' ? '' : ` on ${what}`;
  return lineText(sentences().join(' '));

  function sentences(): string[] {
    switch (answer.verdict) {
      case 'reachable':
        return [`${src} may reach ${dst}${on}${endText(scene, answer.allowed)}.`, ...offlineText(scene, answer)];
      case 'partial':
        return [
          `${src} may reach ${dst}${on} only in part: ${openText(scene, answer.allowed)}.`,
          ...obstacles(scene, answer, 'The rest'),
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

/** The ports of the pair that are open in place of what was asked about; or those that each direction has. */
function elsewhereText(scene: Scene, { blocked_by: blockers }: ConnectivityAnswer, allowed: Explanation['allowed']) {
  const { src, dst, judge, at } = scene;
  if (spansOf(allowed).length > 0) return [`Open from ${src} to ${dst}: ${openText(scene, allowed)}.`];
  const directions = new Set(
    blockers.flatMap(({ reason_code: code, direction }) => (code.endsWith('_MISMATCH') ? (direction ?? []) : [])),
  );
  return [...directions].flatMap((direction) => {
    const [subject, other] = direction === 'egress' ? [src, dst] : [dst, src];
    const admits = spansOf(isolationOf(judge.reach(at), direction, { subject, other })?.admits ?? []);
    if (admits.length === 0) return [];
    const ports = portsText(admits);
    return direction === 'egress'
      ? `Policies let ${src} open only ${ports} to ${dst}.`
      : `Policies let ${dst} be reached by ${src} only on ${ports}.`;
  });
}

interface Scene {
  readonly services: Pick<HistoryServices, 'states'>;
  readonly state: NetworkState;
  readonly at: number;
  readonly judge: ReturnType<typeof judgedIn>;
  readonly src: string;
  readonly dst: string;
}

function offlineText({ src, dst }: Scene, { presence }: ConnectivityAnswer): string[] {
  const absent = [...(presence.src === 'offline' ? [src] : []), ...(presence.dst === 'offline' ? [dst] : [])];
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
  return ` until ${formatInstant(until)}${by}`;
}

function endsText(ending: readonly string[]): string {
  return ending.length === 1 ? 'ends' : 'end';
}

function portsText(spans: readonly PortSpan[]): string {
  const more = spans.length - MAX_NAMED;
  const text = spanText(spans);
  if (text === 'everything') return 'all ports';
  return more > 0 ? `${spanText(spans.slice(0, MAX_NAMED))} and ${more} more` : text;
}

/** What is open, by when time alone closes it; what has no known end comes first. */
function openSpans(scene: Scene, open: readonly PortSpan[]): OpenSpans[] {
  const { judge, state } = scene;
  const found: OpenSpans[] = [];
  let left = open;
  for (const end of endsAhead(scene)) {
    const closed = subtract(left, spansOf(judge(end).allowed));
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
  const places = denying.map(({ policy, direction, rule_index: index }) => {
    const until = endOf(state.policies.get(policy)?.spec ?? {});
    const ends = until === undefined ? '' : `, until ${formatInstant(until)}`;
    return `${policy} (${direction} rule ${index ?? 0}${ends})`;
  });
  const isolations = [...directions].flatMap((direction) => {
    const [subject, other] = direction === 'egress' ? [src, dst] : [dst, src];
    const isolation = isolationOf(scene.judge.reach(scene.at), direction, { subject, other });
    return isolation ? [{ direction, subject, isolation }] : [];
  });
  return [
    ...new Set(others),
    ...(places.length > 0 ? [`${rest} is denied by ${namedText('policy', 'policies', places)}.`] : []),
    ...(verdict === 'unreachable' && isolations.length > 0 ? [`No policy allows ${src} → ${dst}.`] : []),
    ...isolations.map((one) => directionText(scene, one)),
  ];
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
  const { closing, opening } = isolation;
  const by = closing.length === 0 ? undefined : namedText('policy', 'policies', closing);
  const to = opening.map((one) => `${one.policy} to ${opensTo(one, state, subject)}`);
  const open = `${opening.length === 1 ? 'one policy opens' : `${opening.length} policies open`} it: ${listText(to)}`;
  const way = direction === 'egress' ? 'closed for connections that it opens' : 'closed';
  if (by === undefined && opening.length === 0) return `The network of ${subject} denies by default.`;
  if (by === undefined) return `${subject} is ${way} but for what policies open: ${listText(to)}.`;
  const rest = opening.length > 0 ? `; ${open}` : ', and no policy opens it';
  return `${subject} is ${way} by default-deny (${by})${rest}.`;
}

function opensTo({ isAnyone, peers, blocks }: Opening, state: NetworkState, subject: string): string {
  if (isAnyone) return 'anyone';
  const groups = groupsOf(peers, state, [subject]);
  const cidrs = cidrsOf(blocks.map(({ cidr }) => cidr));
  const all = [...groups, ...(groups.length > 0 ? [] : cidrs)];
  return all.length === 0 ? 'nobody' : listText(all);
}

function namedText(one: string, many: string, names: readonly string[]): string {
  return `${names.length === 1 ? one : many} ${listText(names)}`;
}

/** `a, b and 3 more`. */
function listText(all: readonly string[]): string {
  const shown = all.slice(0, MAX_NAMED);
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
