import type { PeerEntry, PolicySpec, PortEntry, Selector } from '../../api/types.ts';
import { portsText } from './ports-text.ts';
import { labelsText } from './selector-text.ts';

/** A rule as its two ends and its ports, or what the policy closes without a rule. */
export type Rule = { readonly from: string; readonly to: string; readonly ports: string } | { readonly closes: string };

/** Returns the rules of a policy in words. Of one that cannot be read, nothing. */
export function rulesOf({ peerSelector, ingress, egress }: Partial<PolicySpec>): Rule[] {
  const about = selectorText(peerSelector ?? {});
  if (!ingress && !egress) return [{ closes: `Default deny for ${about}, ingress and egress` }];
  const incoming = ingress?.map(({ from, ports }) => ({ from: endsText(from), to: about, ports: trafficText(ports) }));
  const outgoing = egress?.map(({ to, ports }) => ({ from: about, to: endsText(to), ports: trafficText(ports) }));
  return [
    ...(incoming?.length === 0 ? [{ closes: `Default deny for ${about}, ingress` }] : (incoming ?? [])),
    ...(outgoing?.length === 0 ? [{ closes: `Default deny for ${about}, egress` }] : (outgoing ?? [])),
  ];
}

/** Returns what a policy does: one that allows nothing is the default deny alone. */
export function actionOf({ action }: Readonly<Record<string, unknown>>, rules: readonly Rule[]) {
  if (action === 'DENY') return 'deny';
  return rules.length > 0 && rules.every((rule) => 'closes' in rule) ? 'default deny' : 'allow';
}

const VERBS = { ALLOW: ['Allows', 'Will allow'], DENY: ['Denies', 'Will deny'] } as const;

/** Returns a sentence for each rule of a policy: of one that waits, in the future. */
export function sentencesOf(spec: Partial<PolicySpec>): string[] {
  const waits = spec.startsAt !== undefined;
  const verb = VERBS[spec.action ?? 'ALLOW'][waits ? 1 : 0];
  return rulesOf(spec).map((rule) => {
    if ('closes' in rule) return waits ? `Will be: ${rule.closes}` : rule.closes;
    return `${verb} ${rule.from} → ${rule.to} on ${rule.ports}`;
  });
}

const trafficText = (ports: readonly PortEntry[] = []) => portsText(ports.map(withProtocol)) || 'everything';

/** A port alone is one of TCP. */
const withProtocol = (entry: PortEntry): PortEntry => ({ protocol: 'TCP', ...entry });

function endsText(entries: readonly PeerEntry[] = []): string {
  if (entries.length === 0 || entries.includes('*')) return 'anyone';
  return entries.map(entryText).join(', ');
}

function entryText(entry: PeerEntry): string {
  if (entry === '*') return 'anyone';
  if ('ipBlock' in entry && entry.ipBlock) {
    const { cidr, except = [] } = entry.ipBlock;
    return except.length === 0 ? cidr : `${cidr} except ${except.join(', ')}`;
  }
  return selectorText(('peerSelector' in entry && entry.peerSelector) || {});
}

export function selectorText(selector: Selector): string {
  const { peers, notPeers = [] } = selector;
  const named = peers && (peers.length === 0 ? 'nobody' : peers.join(', '));
  const who = [labelsText(selector), named].filter(Boolean).join(', ') || 'every peer';
  return notPeers.length === 0 ? who : `${who} except ${notPeers.join(', ')}`;
}
