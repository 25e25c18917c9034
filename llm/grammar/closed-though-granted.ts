import { entriesMatch, isSubject, matchesAnyone } from '../../core/model/policy-match.ts';
import type { PolicyRecord } from '../../core/model/resources.ts';
import type { NetworkState } from '../../core/state/state.ts';
import type { Act } from './acts/ask.ts';
import { effectOfChanges } from './loosened.ts';
import { quoted } from './refusal.ts';
import { livePolicies } from './selects.ts';

/** Pairs that are looked at one by one. */
const MAX_PAIRS = 4_000;

/**
 * "Deny everything by default" closes both directions, so also what policies allow in one of them. Asked where it does.
 */
export function closedThoughGranted(
  { changes, records = [] }: Pick<Act, 'changes' | 'records'>,
  { state, now }: { readonly state: NetworkState; readonly now: number },
): string[] {
  if (!records.some(({ kind }) => kind === 'closed-by-default') || changes.length === 0) return [];
  const grants = livePolicies(state, now).filter(({ spec }) => spec.action === 'ALLOW');
  if (grants.length === 0) return [];
  const { groups } = effectOfChanges(changes, state, now);
  let looked = 0;
  for (const { src, dst, closed } of groups) {
    if (closed.length === 0) continue;
    for (const from of src) {
      for (const to of dst) {
        if (looked++ >= MAX_PAIRS) return [];
        const by = from === to ? undefined : grants.find((policy) => grantsSome(policy, from, to, state));
        if (by) return [ASKED(from, to, by.name)];
      }
    }
  }
  return [];
}

const ASKED = (from: string, to: string, policy: string) =>
  `This closes both directions of every peer, and with them what policies allow in one direction alone, such as ${quoted(from)} to ${quoted(to)} by ${quoted(policy)}. Should that close too? If not, allow the other direction first.`;

/** A grant to anyone names no pair. */
function grantsSome({ spec }: PolicyRecord, source: string, target: string, { peers }: NetworkState): boolean {
  const [src, dst] = [peers.get(source), peers.get(target)];
  if (!src || !dst) return false;
  const isIn =
    isSubject(spec, dst) && spec.ingress?.some(({ from }) => !matchesAnyone(from) && entriesMatch(from, src));
  const isOut = isSubject(spec, src) && spec.egress?.some(({ to }) => !matchesAnyone(to) && entriesMatch(to, dst));
  return isIn === true || isOut === true;
}
