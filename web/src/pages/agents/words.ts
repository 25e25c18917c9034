import type { components } from '../../api/schema.d.ts';
import { rangeText } from '../../reach/ports.ts';

type Schemas = components['schemas'];
export type Agent = Schemas['Agent'];
export type Rule = Schemas['AgentReach'];
type Entry = Schemas['Peers'][number];
type Port = Schemas['AgentReachPort'];

/** A rule as its peers and its ports. */
export function ruleParts({ to, ports }: Rule): { readonly whom: string; readonly ports: string } {
  const whom = to === undefined || to.length === 0 ? 'anyone, including outside' : to.map(entryWords).join(', ');
  return { whom, ports: portWords(ports ?? []) };
}

/** A rule as `role=web on TCP 443, TCP 8443`. */
export function ruleWords(rule: Rule): string {
  const { whom, ports } = ruleParts(rule);
  return `${whom} on ${ports}`;
}

function entryWords(entry: Entry): string {
  if (entry === '*') return 'anyone, including outside';
  const { ipBlock, peerSelector } = entry;
  if (ipBlock) {
    const { cidr, except = [] } = ipBlock;
    return [cidr, ...(except.length > 0 ? [`except ${except.join(', ')}`] : [])].join(' ');
  }
  const { matchLabels = {}, matchExpressions = [], peers = [], notPeers = [] } = peerSelector ?? {};
  const parts = [
    ...Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`),
    ...matchExpressions.map(({ key, operator, values = [] }) => [key, operator, values.join('|')].join(' ').trim()),
    ...(peers.length > 0 ? [peers.join(', ')] : []),
    ...(notPeers.length > 0 ? [`except ${notPeers.join(', ')}`] : []),
  ];
  return parts.length === 0 ? 'every peer' : parts.join(' ');
}

function portWords(ports: readonly Port[]): string {
  if (ports.length === 0) return 'everything';
  return ports.map(({ protocol = 'TCP', port, endPort }) => rangeText(protocol, port, endPort)).join(', ');
}

/** What an agent may open by itself, a line for each rule; of a sub-agent never more than its parent may. */
export function reachWords({ reach, egress, parentRef, policyPreset }: Agent): string[] {
  const lines = (reach ?? egress ?? []).map(ruleWords);
  if (parentRef && policyPreset === 'inherit') return [`what ${parentRef.name} may open`];
  if (parentRef && policyPreset === 'coordinator') return [...lines, 'its sub-agents and those beside it'];
  if (lines.length === 0 || (parentRef && policyPreset === 'isolated')) return ['nothing'];
  return lines;
}

const WRITING: ReadonlySet<string> = new Set(['intents:apply', 'network:write']);

/** Who decides about the changes of an agent, made or to be made; undefined where it makes none. */
export function approvalWords(agent: Pick<Agent, 'scopes' | 'reach' | 'parentRef'>): string | undefined {
  if (!agent.scopes.some((scope) => WRITING.has(scope))) return undefined;
  if (agent.parentRef) return 'Changes beyond what it may open, or to what others made, are refused.';
  const which = agent.reach?.length ? 'beyond what it may open' : 'that open something';
  return `Changes ${which}, or to what others made, wait for approval.`;
}
