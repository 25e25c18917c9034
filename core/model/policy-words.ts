import { formatSecond, parseInstant } from '../base/time.ts';
import type { PeerEntry, PolicySpec, PortEntry, Rule, Selector } from './policy.ts';
import { type Direction, matchesAnyone, rulesOf } from './policy-match.ts';

/** Most rules, and most entries of a list, that a line names; it counts the rest. */
const MAX_NAMED = 8;

/**
 * Returns a policy in one line: `ALLOW ingress to role=db only from role=web on TCP/5432; egress not touched`, behind its begin
 * where it waits. Takes a spec with the names of peers, not their ids.
 */
export function policyText(spec: PolicySpec): string {
  const subject = subjectText(spec);
  const [ingress, egress] = [directionText(spec, 'ingress', subject), directionText(spec, 'egress', subject)];
  const begin = spec.startsAt === undefined ? '' : `From ${formatSecond(parseInstant(spec.startsAt))} on: `;
  if (ingress === undefined) return `${begin}${spec.action} ${egress}; ingress not touched`;
  return `${begin}${spec.action} ${ingress}; ${egress ?? 'egress not touched'}`;
}

/** Returns undefined where the policy does not govern the direction. */
function directionText(spec: PolicySpec, direction: Direction, subject: string): string | undefined {
  const rules = rulesOf(spec, direction);
  if (!rules) return undefined;
  const what = direction === 'ingress' ? `ingress to ${subject}` : `egress from ${subject}`;
  if (spec.action === 'DENY' && rules.length === 0) return `all ${what} that no ALLOW opens`;
  if (rules.length === 0) return `no ${what}`;
  const only = spec.action === 'ALLOW' ? ' only' : '';
  return `${what}${only} ${listed(rules.map(ruleText), ', or ')}`;
}

function ruleText({ direction, peers, ports }: Rule): string {
  const end = matchesAnyone(peers) ? 'anyone' : listed(peers.map(entryText));
  const traffic = ports.length === 0 ? 'everything' : listed(ports.map(portText));
  return `${direction === 'ingress' ? 'from' : 'to'} ${end} on ${traffic}`;
}

function subjectText({ network, peerSelector = {} }: PolicySpec): string {
  return `${selectorText(peerSelector)}${network === undefined ? '' : ` of network ${network}`}`;
}

function entryText(entry: PeerEntry): string {
  if (entry === '*') return 'anyone';
  if (!entry.ipBlock) return selectorText(entry.peerSelector ?? {});
  const { cidr, except = [] } = entry.ipBlock;
  return `${cidr}${exceptText(except)}`;
}

/** Labels as kubectl writes them, then names: `role=db, env in (prod, stage), db-1`. */
function selectorText({ peers, notPeers = [], matchLabels = {}, matchExpressions = [] }: Selector): string {
  const labels = Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`);
  const named = peers && (peers.length === 0 ? 'nobody' : listed(peers));
  const parts = [...labels, ...matchExpressions.map(expressionText), ...(named === undefined ? [] : [named])];
  return `${parts.length === 0 ? 'every peer' : parts.join(', ')}${exceptText(notPeers)}`;
}

function exceptText(names: readonly string[]): string {
  return names.length === 0 ? '' : ` except ${listed(names)}`;
}

function expressionText({ key, operator, values = [] }: NonNullable<Selector['matchExpressions']>[number]): string {
  if (operator === 'Exists') return key;
  if (operator === 'DoesNotExist') return `!${key}`;
  if (operator === 'NotIn' && values.length === 1) return `${key}!=${values[0]}`;
  return `${key} ${operator === 'In' ? 'in' : 'notin'} (${listed(values)})`;
}

function portText({ protocol = 'TCP', port, endPort }: PortEntry): string {
  if (port === undefined) return protocol;
  return endPort === undefined || endPort === port ? `${protocol}/${port}` : `${protocol}/${port}-${endPort}`;
}

function listed(texts: readonly string[], between = ', '): string {
  const rest = texts.length - MAX_NAMED;
  const named = texts.slice(0, MAX_NAMED).join(between);
  return rest > 0 ? `${named} and ${rest} more` : named;
}
