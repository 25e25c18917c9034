import { createHmac } from 'node:crypto';
import { MeshError } from '../../core/base/errors.ts';
import { agree, importPrivateKey, type KeyPair } from '../../net/seal/x25519.ts';

/**
 * The public key and HMAC-SHA256(X25519(node, controlKey), subject || publicKey), both base64: this node has the private key.
 * `subject` is the token that it registers with, or its id when it rotates its key.
 */
export function provenKey(pair: KeyPair, subject: string, controlKey: string): { publicKey: string; proof: string } {
  const publicKey = Buffer.from(pair.publicKey).toString('base64');
  return { publicKey, proof: proofBy(pair, subject, publicKey, controlKey) };
}

/** HMAC-SHA256(X25519(node, controlKey), subject || publicKey) in base64, by the key that the node has for the one that it wants. */
export function proofBy(pair: KeyPair, subject: string, publicKey: string, controlKey: string): string {
  const shared = agree(importPrivateKey(pair.privateKey), Buffer.from(controlKey, 'base64'));
  if (!shared) throw new MeshError('unavailable', 'The control plane named an unusable control key.');
  return createHmac('sha256', shared).update(subject).update(publicKey).digest('base64');
}
