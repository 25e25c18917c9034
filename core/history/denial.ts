import type { Blocker } from '../reachability/explanation.ts';
import type { ReasonCode } from '../reachability/reasons.ts';
import type { ConnectivityAnswer, ConnectivityQuestion } from './connectivity.ts';

/** Why a connection is refused, in one sentence for each obstacle. */
export function describeDenial({ src, dst, protocol, port }: ConnectivityQuestion, answer: ConnectivityAnswer): string {
  const what = port === undefined ? (protocol ?? '') : `${protocol ?? 'TCP'} port ${port}`;
  const on = what === '' ? '' : ` on ${what}`;
  if (answer.verdict === 'reachable') {
    const absent = [
      ['src', src],
      ['dst', dst],
    ].flatMap(([end, name]) => (answer.presence[end as 'src' | 'dst'] === 'offline' ? [name] : []));
    const offline =
      absent.length === 0 ? '' : ` But ${absent.join(' and ')} ${absent.length > 1 ? 'are' : 'is'} offline.`;
    return `${src} may reach ${dst}${on}.${offline}`;
  }
  const lead = answer.verdict === 'partial' ? `may reach ${dst}${on} only in part` : `may not reach ${dst}${on}`;
  const stopped = answer.steps.find(({ result }) => result === 'fail')?.subject ?? src;
  const obstacles = answer.blocked_by.map((blocker) => sentenceOf(blocker, { src, dst, stopped }));
  return [`${src} ${lead}.`, ...new Set(obstacles)].join(' ');
}

function sentenceOf(
  { reason_code: code, direction, policy, rule_index: index }: Blocker,
  { src, dst, stopped }: { readonly src: string; readonly dst: string; readonly stopped: string },
): string {
  const subject = direction === null ? stopped : direction === 'ingress' ? dst : src;
  const rule = index === null ? '' : `, ${direction} rule ${index}`;
  return SENTENCES[code]?.({ src, dst, subject, policy: policy ?? 'a policy', rule }) ?? `${code}.`;
}

interface Names {
  readonly src: string;
  readonly dst: string;
  readonly subject: string;
  readonly policy: string;
  readonly rule: string;
}

const deniedByRule = ({ policy, rule }: Names) => `Policy ${policy}${rule} denies it.`;
const portMismatch = ({ policy, rule }: Names) => `Policy ${policy}${rule} allows this pair, but on other ports.`;

const SENTENCES: { readonly [Code in ReasonCode]?: (names: Names) => string } = {
  PEER_NOT_FOUND: ({ subject }) => `There is no peer ${subject}: list_peers shows those there are.`,
  PEER_PENDING: ({ subject }) => `${subject} waits for approval.`,
  PEER_REVOKED: ({ subject }) => `${subject} is revoked.`,
  PEER_EXPIRED: ({ subject }) => `The time of ${subject} is over.`,
  DIFFERENT_NETWORK: ({ src, dst }) => `${src} and ${dst} are in different networks.`,
  DELEGATION_BOUND: ({ src }) => `${src} is delegated and reaches no more than the agent above it may.`,
  EGRESS_DENIED_BY_RULE: deniedByRule,
  INGRESS_DENIED_BY_RULE: deniedByRule,
  EGRESS_PORT_MISMATCH: portMismatch,
  INGRESS_PORT_MISMATCH: portMismatch,
  EGRESS_ISOLATED: ({ subject, policy }) => `Policy ${policy} isolates ${subject}, and no rule lets it out to there.`,
  INGRESS_ISOLATED: ({ subject, policy }) => `Policy ${policy} isolates ${subject}, and no rule lets this in.`,
  DENIED_BY_DEFAULT: ({ subject }) => `The network of ${subject} denies by default, and no policy allows it.`,
};
