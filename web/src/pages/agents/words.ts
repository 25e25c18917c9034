import type { components } from '../../api/schema.d.ts';
import { rangeText } from '../../reach/ports.ts';
import { agents as words } from '../../texts/agents.ts';
import { scopes as scopeTexts } from '../../texts/scopes.ts';

type Schemas = components['schemas'];
export type Agent = Schemas['Agent'];
export type Rule = Schemas['AgentReach'];
type Entry = Schemas['Peers'][number];
type Port = Schemas['AgentReachPort'];

/** What scopes let one do, as a list that goes on after "may". */
export function scopeWords(scopes: readonly string[]): string {
  const all = scopes.map((scope) => scopeTexts[scope as keyof typeof scopeTexts] ?? scope);
  return all.length === 0 ? words.mayNothing : all.join(', ');
}

/** A rule as `role=web on TCP 443, TCP 8443`. */
export function ruleWords({ to, ports }: Rule): string {
  const whom = to === undefined || to.length === 0 ? words.anyone : to.map(entryWords).join(', ');
  return `${whom} ${words.on} ${portWords(ports ?? [])}`;
}

function entryWords(entry: Entry): string {
  if (entry === '*') return words.anyone;
  const { ipBlock, peerSelector } = entry;
  if (ipBlock) {
    const { cidr, except = [] } = ipBlock;
    return [cidr, ...(except.length > 0 ? [words.not(except.join(', '))] : [])].join(' ');
  }
  const { matchLabels = {}, matchExpressions = [], peers = [], notPeers = [] } = peerSelector ?? {};
  const parts = [
    ...Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`),
    ...matchExpressions.map(({ key, operator, values = [] }) => [key, operator, values.join('|')].join(' ').trim()),
    ...(peers.length > 0 ? [peers.join(', ')] : []),
    ...(notPeers.length > 0 ? [words.not(notPeers.join(', '))] : []),
  ];
  return parts.length === 0 ? words.everyPeer : parts.join(' ');
}

function portWords(ports: readonly Port[]): string {
  if (ports.length === 0) return words.everything;
  return ports.map(({ protocol = 'TCP', port, endPort }) => rangeText(protocol, port, endPort)).join(', ');
}

/** What an agent may open and reach, a line for each rule. */
export function reachWords({ reach, egress, parentRef, policyPreset }: Agent): string[] {
  const lines = (reach ?? egress ?? []).map(ruleWords);
  if (!parentRef) return lines.length > 0 ? lines : [words.reachNothing];
  if (policyPreset === 'isolated') return [words.mayNothing];
  if (policyPreset === 'inherit') return [words.reachParent];
  return lines.length > 0 ? [words.reachEgress, ...lines] : [words.mayNothing];
}
