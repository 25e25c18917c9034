import type { Change } from '../core/base/ports.ts';
import { isOfKind } from '../core/base/written-record.ts';
import type { PeerRecord } from '../core/model/resources.ts';
import type { Services } from '../core/workflow/services.ts';
import { workspaceTagOf } from '../net/relay/credential.ts';
import type { Member } from '../net/relay/member.ts';
import { CREDENTIAL_LIFE_MS, followKeyChanges } from './key-changes.ts';

/** A relay that ends the sessions of a key in one workspace, and refuses it there until the instant (ms). */
export interface RevokingRelay {
  /** Takes a revocation back. */
  allow(member: Member): void;
  revoke(member: Member, until: number): void;
}

/** Tells a relay of every key that lost its place; first of those that lost it before this start. */
export async function startRelayRevocations(
  services: Pick<Services, 'store' | 'clock' | 'log'>,
  relay: RevokingRelay,
): Promise<{ stop(): void }> {
  const { clock } = services;
  return followKeyChanges(services, ({ workspace, changes }) => {
    const { lost, gained } = keyChanges(changes);
    const memberOf = (key: string) => ({ workspace: workspaceTagOf(workspace), publicKey: Buffer.from(key, 'base64') });
    for (const key of gained) relay.allow(memberOf(key));
    for (const key of lost) relay.revoke(memberOf(key), clock.now() + CREDENTIAL_LIFE_MS);
  });
}

/**
 * Public keys (base64) that these changes take out of the network, by deletion, revocation or another key, and those
 * that they bring in.
 */
export function keyChanges(changes: readonly Change[]): { readonly lost: string[]; readonly gained: string[] } {
  const lost = new Set<string>();
  const gained = new Set<string>();
  for (const change of changes) {
    if (!isOfKind(change, 'MeshPeer')) continue;
    const { type, record, before } = change;
    const now = type === 'deleted' ? undefined : activeKey(record);
    const then = type === 'deleted' ? record : before;
    const old = then && activeKey(then);
    if (now !== undefined && now !== old) gained.add(now);
    if (old !== undefined && now !== old) lost.add(old);
  }
  return { lost: [...lost].filter((key) => !gained.has(key)), gained: [...gained] };
}

function activeKey({ spec, status }: PeerRecord): string | undefined {
  return status.phase === 'revoked' ? undefined : spec.publicKey;
}
