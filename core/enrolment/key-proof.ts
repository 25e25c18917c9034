import { invalidInput, MeshError } from '../base/errors.ts';
import type { Op } from '../base/ports.ts';
import { draftOf } from '../base/record.ts';
import { isProofOf } from '../model/public-key.ts';
import type { PeerRecord } from '../model/resources.ts';
import { afterSelfChange } from '../peers/self-change.ts';
import type { NetworkServices } from '../state/services.ts';

/** A public key that a device wants to go by. */
export interface KeyClaim {
  readonly publicKey: string;
  readonly proof?: string | undefined;
}

/** The same, after its proof was looked at. */
export interface ClaimedKey {
  readonly publicKey: string;
  readonly isProven: boolean;
}

/**
 * Returns true if the device proves that it holds the private key. `subject` is what the proof covers besides the key: its join
 * or delegate token, or its id once it is registered.
 *
 * @throws MeshError `invalid_input` for a wrong proof, or for none where the installation requires one.
 */
export function checkProof(
  { keys, settings }: Pick<NetworkServices, 'keys' | 'settings'>,
  { publicKey, proof }: KeyClaim,
  subject: string,
): boolean {
  if (proof === undefined && settings.registrationProof === 'optional') return false;
  if (proof !== undefined && isProofOf(proof, subject, publicKey, keys)) return true;
  const detail =
    'Send base64 of HMAC-SHA256(X25519(private key, controlKey), subject + publicKey); subject is the token that registers, ' +
    'or the id of the device that rotates its key.';
  const isMissing = 'This control plane asks for a proof of the private key.';
  throw invalidInput(
    [{ pointer: '/proof', detail }],
    proof === undefined ? isMissing : 'The proof of the private key is wrong.',
  );
}

/**
 * Returns whether the key that a device has allows the one that it wants: then nobody who merely has its token asks for it.
 *
 * @throws MeshError `invalid_input` for a proof that is wrong
 */
export function isAllowedByOldKey(
  { keys }: Pick<NetworkServices, 'keys'>,
  { uid, spec }: Pick<PeerRecord, 'uid' | 'spec'>,
  { publicKey, oldKeyProof }: { readonly publicKey: string; readonly oldKeyProof?: string | undefined },
): boolean {
  if (oldKeyProof === undefined) return false;
  if (isProofOf(oldKeyProof, uid, publicKey, keys, spec.publicKey)) return true;
  const detail =
    'Send base64 of HMAC-SHA256(X25519(present private key, controlKey), id of the device + new publicKey), or leave it out.';
  throw invalidInput([{ pointer: '/oldKeyProof', detail }], 'The proof by the present private key is wrong.');
}

/**
 * Returns the write that records that a device proved its key; from then on it must prove it each time. @throws MeshError
 * `rate_limited`
 */
export function provenOps(peer: PeerRecord, isProven: boolean, now: number): Op[] {
  if (!isProven || peer.status.proven) return [];
  const record = { ...draftOf(peer), status: { ...afterSelfChange(peer.status, now), proven: true } };
  return [{ op: 'update', record, revision: peer.revision }];
}

/**
 * Checks that a device may register a key that is new to its workspace.
 *
 * @param isAgents true for the device of an agent, or one that came with a token of an agent
 * @throws MeshError `rate_limited` where its workspace registers new keys too fast, `conflict` for an unproven key that is
 * registered already, in any workspace, or is the control key.
 */
export async function requireNewKey(
  services: Pick<NetworkServices, 'store' | 'keys' | 'clock' | 'keyAllowance'>,
  workspace: string,
  { publicKey, isProven }: ClaimedKey,
  isAgents: boolean,
): Promise<void> {
  services.keyAllowance?.requireRoom(workspace, services.clock.now(), { isAgents });
  if (!isProven) await requireUnheld(services, publicKey);
}

/**
 * Without a proof only a key is let in that nobody holds, in whatever workspace: else who knows a public key, and not its
 * private one, could go by it.
 */
async function requireUnheld(
  { store, keys }: Pick<NetworkServices, 'store' | 'keys'>,
  publicKey: string,
): Promise<void> {
  const isOurs = Buffer.from(keys.controlKey).toString('base64') === publicKey;
  if (!isOurs && (await store.lookup(`pubkey:${publicKey}`)) === undefined) return;
  throw new MeshError(
    'conflict',
    'This public key is registered already: send the proof that you hold its private key, or make a new key.',
  );
}
