import type { NetworkChange } from '../network/changes.ts';
import type { NetworkState } from '../network/state.ts';
import { isSubject, peersOf } from './builtin/selects.ts';

/** What a person should know before saying yes: true of the changes, and seldom meant. */
export function warningsOf(changes: readonly NetworkChange[], after: NetworkState): string[] {
  return changes.flatMap((change) =>
    change.action === 'delete' || change.resource !== 'MeshPolicy' ? [] : policyWarnings(change, after),
  );
}

function policyWarnings(
  { name, spec }: Extract<NetworkChange, { resource: 'MeshPolicy'; spec: unknown }>,
  after: NetworkState,
): string[] {
  const { action, ingress, egress } = spec;
  const warnings: string[] = [];
  if (!peersOf(after).some((peer) => isSubject(spec, peer)))
    warnings.push(`${name}: its peerSelector means no peer today.`);
  if (action === 'ALLOW' && ingress === undefined && egress === undefined) {
    warnings.push(`${name}: an ALLOW with neither ingress nor egress closes both directions of the peers it selects.`);
  }
  const everyPeer = Object.keys(spec.peerSelector ?? {}).length === 0;
  if (action === 'DENY' && everyPeer && (ingress?.length || egress?.length)) {
    warnings.push(`${name}: a DENY with rules on every peer wins over every ALLOW.`);
  }
  return warnings;
}
