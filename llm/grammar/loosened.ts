import { type NetworkChange, planChanges } from '../../core/changes/changes.ts';
import { type Effect, effectOf } from '../../core/effect/effect.ts';
import type { PortSpan } from '../../core/effect/port-spans.ts';
import type { PeerEntry, PolicySpec, PortEntry, Selector } from '../../core/model/policy.ts';
import type { PolicyRecord } from '../../core/model/resources.ts';
import { compile } from '../../core/reachability/engine.ts';
import { modelOf } from '../../core/state/network-model.ts';
import type { NetworkState } from '../../core/state/state.ts';
import { namesOf } from './names.ts';
import { portList, portsIn } from './port-entries.ts';
import type { Subject } from './subject.ts';

interface Opening {
  readonly sources: readonly Subject[];
  readonly targets: readonly Subject[];
  readonly ports: readonly PortEntry[];
}

/**
 * How it is said that policies that forbid go on as they are but for what is asked: "delete the policy a; block x from y,
 * but let z reach y on 443". Nothing for a policy that no sentence makes again.
 */
export function loosening(
  policies: readonly PolicyRecord[],
  { sources, targets, ports }: Opening,
  state: NetworkState,
): string | undefined {
  const again = policies.map(({ spec }) => sentenceOf(spec, state));
  if (again.length === 0 || again.some((text) => text === undefined)) return undefined;
  const [from, to] = [sources, targets].map((subjects) => subjects.map(({ noun }) => noun).join(' and '));
  const on = ports.length > 0 ? ` on ${portList(ports)}` : '';
  const deletions = policies.map(({ name }) => `delete the policy ${name}`);
  return [...deletions, ...again.map((text) => `${text}, but let ${from} reach ${to}${on}`)].join('; ');
}

/** The sentence that makes a policy, for those that sentences make. */
function sentenceOf({ expiresAt, network, peerSelector, ingress, egress }: PolicySpec, state: NetworkState) {
  const subject = nounOf(peerSelector ?? {}, state);
  if (expiresAt !== undefined || network !== undefined || subject === undefined) return undefined;
  const [into, more] = ingress ?? [];
  const [out, others] = egress ?? [];
  if (more || others) return undefined;
  if (into && out)
    return isWhole(into.from) && isWhole(out.to) && !into.ports && !out.ports ? `isolate ${subject}` : undefined;
  const on = into?.ports ?? out?.ports ?? [];
  const other = othersOf(into ? into.from : out?.to, state);
  if (other === undefined || (!into && !out)) return undefined;
  const ports = on.length > 0 ? ` on ${portList(on)}` : '';
  return into ? `block ${other} from ${subject}${ports}` : `block ${subject} from ${other}${ports}`;
}

function isWhole(entries: readonly PeerEntry[] | undefined): boolean {
  return entries === undefined || entries.length === 0;
}

function othersOf(entries: readonly PeerEntry[] | undefined, state: NetworkState): string | undefined {
  if (isWhole(entries)) return 'everyone';
  const nouns = (entries ?? []).map((entry) =>
    entry !== '*' && entry.peerSelector && entry.ipBlock === undefined ? nounOf(entry.peerSelector, state) : undefined,
  );
  return nouns.every((noun) => noun !== undefined) ? nouns.join(' and ') : undefined;
}

function nounOf({ matchLabels, peers, ...more }: Selector, state: NetworkState): string | undefined {
  if (Object.keys(more).length > 0 || (matchLabels && peers)) return undefined;
  if (peers) {
    const names = peers.map((id) => namesOf(state).byId.get(id)?.name);
    return names.every((name) => name !== undefined) ? names.join(' and ') : undefined;
  }
  const labels = Object.entries(matchLabels ?? {}).map(([key, value]) => `${key}=${value}`);
  return labels.length > 0 ? labels.join(',') : 'everyone';
}

/** Whether changes open something, between these peers and on these ports alone, and close nothing. */
export function opensJust(
  changes: readonly NetworkChange[],
  { names, ports }: { readonly names: ReadonlySet<string>; readonly ports: readonly PortEntry[] },
  state: NetworkState,
  now: number,
): boolean {
  const { openedPairs, closedPairs, groups } = effectOfChanges(changes, state, now);
  return (
    openedPairs > 0 &&
    closedPairs === 0 &&
    groups.every(
      ({ src, dst, opened }) =>
        [...src, ...dst].every((name) => names.has(name)) && opened.every((span) => isAsked(span, ports)),
    )
  );
}

export function effectOfChanges(changes: readonly NetworkChange[], state: NetworkState, now: number): Effect {
  const { after } = planChanges(state, changes, now);
  return effectOf(compile(modelOf(state, now)), compile(modelOf(after, now)));
}

function isAsked({ protocol, from, to }: PortSpan, ports: readonly PortEntry[]): boolean {
  if (ports.length === 0) return true;
  if (from === undefined) return ports.some((one) => one.protocol === protocol);
  const last = to ?? from;
  const entry: PortEntry = { protocol, port: from, ...(last > from && { endPort: last }) };
  return portsIn([entry], ports).some((one) => one.port === from && (one.endPort ?? one.port) === last);
}
