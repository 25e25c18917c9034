import type { PeerEntry, PolicySpec, Selector } from '../../api/types.ts';
import { texts } from '../../texts/texts.ts';
import { portsText } from './ports-text.ts';
import { labelsText } from './selector-text.ts';

/** What a policy says, a sentence for each rule. Of one that cannot be read, nothing. */
export function sentencesOf(spec: Partial<PolicySpec>): string[] {
  const about = selectorText(spec.peerSelector ?? {});
  const verb = spec.action === 'DENY' ? texts.policies.denies : texts.policies.allows;
  const { ingress, egress } = spec;
  if (!ingress && !egress) return [texts.policies.isolates(about)];
  const incoming = ingress?.map(({ from, ports }) => verb(endsText(from), about, trafficText(ports)));
  const outgoing = egress?.map(({ to, ports }) => verb(about, endsText(to), trafficText(ports)));
  return [
    ...(incoming?.length === 0 ? [texts.policies.isolatesIn(about)] : (incoming ?? [])),
    ...(outgoing?.length === 0 ? [texts.policies.isolatesOut(about)] : (outgoing ?? [])),
  ];
}

const trafficText = (ports: Parameters<typeof portsText>[0]) => portsText(ports) || texts.policies.everything;

function endsText(entries: readonly PeerEntry[] = []): string {
  if (entries.length === 0 || entries.includes('*')) return texts.policies.anyone;
  return entries.map(entryText).join(', ');
}

function entryText(entry: PeerEntry): string {
  if (entry === '*') return texts.policies.anyone;
  if ('ipBlock' in entry && entry.ipBlock) {
    const { cidr, except = [] } = entry.ipBlock;
    return except.length === 0 ? cidr : texts.policies.without(cidr, except.join(', '));
  }
  return selectorText(('peerSelector' in entry && entry.peerSelector) || {});
}

export function selectorText(selector: Selector): string {
  const { peers, notPeers = [] } = selector;
  const named = peers && (peers.length === 0 ? texts.policies.nobody : peers.join(', '));
  const who = [labelsText(selector), named].filter(Boolean).join(', ') || texts.policies.everyPeer;
  return notPeers.length === 0 ? who : texts.policies.without(who, notPeers.join(', '));
}
