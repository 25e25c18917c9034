import type { PeerEntry, PolicySpec, Selector } from '../../api/types.ts';
import { policies as words } from '../../texts/policies.ts';
import { portsText } from './ports-text.ts';
import { labelsText } from './selector-text.ts';

/** What a policy says, a sentence for each rule. Of one that cannot be read, nothing. */
export function sentencesOf(spec: Partial<PolicySpec>): string[] {
  const about = selectorText(spec.peerSelector ?? {});
  const verb = spec.action === 'DENY' ? words.denies : words.allows;
  const { ingress, egress } = spec;
  if (!ingress && !egress) return [words.isolates(about)];
  const incoming = ingress?.map(({ from, ports }) => verb(endsText(from), about, trafficText(ports)));
  const outgoing = egress?.map(({ to, ports }) => verb(about, endsText(to), trafficText(ports)));
  return [
    ...(incoming?.length === 0 ? [words.isolatesIn(about)] : (incoming ?? [])),
    ...(outgoing?.length === 0 ? [words.isolatesOut(about)] : (outgoing ?? [])),
  ];
}

const trafficText = (ports: Parameters<typeof portsText>[0]) => portsText(ports) || words.everything;

function endsText(entries: readonly PeerEntry[] = []): string {
  if (entries.length === 0 || entries.includes('*')) return words.anyone;
  return entries.map(entryText).join(', ');
}

function entryText(entry: PeerEntry): string {
  if (entry === '*') return words.anyone;
  if ('ipBlock' in entry && entry.ipBlock) {
    const { cidr, except = [] } = entry.ipBlock;
    return except.length === 0 ? cidr : words.without(cidr, except.join(', '));
  }
  return selectorText(('peerSelector' in entry && entry.peerSelector) || {});
}

export function selectorText(selector: Selector): string {
  const { peers, notPeers = [] } = selector;
  const named = peers && (peers.length === 0 ? words.nobody : peers.join(', '));
  const who = [labelsText(selector), named].filter(Boolean).join(', ') || words.everyPeer;
  return notPeers.length === 0 ? who : words.without(who, notPeers.join(', '));
}
