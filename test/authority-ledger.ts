import type { Commit } from '../core/base/ports.ts';
import { parseInstant } from '../core/base/time.ts';
import type { AgentRecord, PeerRecord } from '../core/model/resources.ts';
import type { GrantedAgent, Ledger, Principal } from './authority-scene.ts';
import type { Done } from './authority-steps.ts';
import { ofKind } from './kits/records/records.ts';

/** Writes down which workflow a person approved in a step. */
export function recordApproval(ledger: Ledger, { who, operation, input, outcome }: Done): void {
  if (who?.kind === 'person' && operation === 'approve_workflow' && outcome === 'ok') {
    ledger.approvals.set(String(input['id']), who.account);
  }
}

/** Writes down who made what in a step, from who called and what was written. */
export function record(ledger: Ledger, { who, input }: Done, commits: readonly Commit[]): void {
  for (const { changes, approval } of commits) {
    const byPerson = who?.kind === 'person' || who?.kind === 'api' || Boolean(approval?.reviewedBy);
    const made = new Set(changes.flatMap(({ type, record: { uid } }) => (type === 'created' ? [uid] : [])));
    for (const { type, record: one, before } of changes) {
      const gone = type === 'deleted' && !made.has(one.uid);
      switch (one.kind) {
        case 'AgentIdentity':
          if (type === 'created') ledger.agents.set(one.uid, grantedBy(one, who, input));
          break;
        case 'MeshPeer':
          recordBar(ledger, one, byPerson);
          recordPeer(ledger, one, ofKind(before, 'MeshPeer'), { who, gone });
          break;
        case 'MeshPolicy':
          if (gone || byPerson) {
            ledger.policies.delete(one.uid);
            if (gone) ledger.presets.delete(one.uid);
          } else if (type !== 'deleted' && who?.kind === 'agt') ledger.policies.set(one.uid, who.agent ?? '');
          else if (type === 'created' && who?.kind === 'dlg') ledger.presets.set(one.uid, who.agent ?? '');
          break;
        default:
      }
    }
  }
}

function recordPeer(
  ledger: Ledger,
  peer: PeerRecord,
  before: PeerRecord | undefined,
  { who, gone }: { readonly who: Principal | undefined; readonly gone: boolean },
): void {
  const isNew = before === undefined && (who?.kind === 'join' || who?.kind === 'dlg');
  if (isNew && who.agent !== undefined) ledger.peers.set(peer.uid, who.agent);
  const adopted =
    who?.kind === 'person' && before?.spec.delegatedBy !== undefined && peer.spec.delegatedBy === undefined;
  if (gone || adopted) ledger.peers.delete(peer.uid);
}

function recordBar({ peers, barred }: Ledger, { uid, spec, status }: PeerRecord, byPerson: boolean): void {
  const agent = spec.agentRef === undefined ? undefined : peers.get(uid);
  if (agent === undefined) return;
  if (status.phase === 'revoked') barred.add(agent);
  else if (status.phase === 'ready' && byPerson) barred.delete(agent);
}

function grantedBy(
  { uid, name, spec }: AgentRecord,
  who: Principal | undefined,
  input: Record<string, unknown>,
): GrantedAgent {
  const parent = who?.kind === 'agt' ? who.agent : undefined;
  return {
    uid,
    name,
    parent,
    person: who?.account ?? '',
    reach: asGranted(input['reach'], spec.reach),
    preset: (input['policyPreset'] ?? 'inherit') as GrantedAgent['preset'],
    egress: asGranted(input['egress'], spec.egress),
    scopes: (input['scopes'] ?? spec.scopes) as readonly string[],
    endsAt: parseInstant(spec.expiresAt),
  };
}

/** As it was asked for; where it lists peers by name, with the ids that these had at that moment. */
function asGranted(asked: unknown, stored: GrantedAgent['reach'] | undefined): GrantedAgent['reach'] {
  const listsPeers = /"(?:peers|notPeers)":/.test(JSON.stringify(asked ?? []));
  return listsPeers ? (stored ?? []) : ((asked ?? []) as GrantedAgent['reach']);
}
