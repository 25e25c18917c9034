import { hkdfSync } from 'node:crypto';
import { type SigningKey, signingKey } from './nkey.ts';

/**
 * Derives the key by which a node proves itself to the servers of a bus: Ed25519, its 32 bytes being HKDF-SHA256 over X25519 of
 * node and control plane, without salt, with `mesh/bus-key/v1/` and the id of the peer as info. Both sides derive it without
 * exchanging a message, and it changes with the key of the node.
 */
export function nodeKeyOf(shared: Uint8Array, peer: string): SigningKey {
  return signingKey('user', new Uint8Array(hkdfSync('sha256', shared, '', `mesh/bus-key/v1/${peer}`, 32)));
}
