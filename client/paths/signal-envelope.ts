import { BINDING, checkFingerprint, decodeStun, encodeStun } from '../../net/stun/message.ts';

/** Type in the range that others pass over (RFC 8489, 18.3). */
const SEALED_SIGNAL = 0xc05e;

/** A sealed signal as it travels without the bus, directly or by the relay: as STUN, which shares WireGuard's port. */
export function encodeEnvelope(transactionId: Uint8Array, sealed: Uint8Array): Uint8Array {
  const attributes = [{ type: SEALED_SIGNAL, value: sealed }];
  return encodeStun({ class: 'indication', method: BINDING, transactionId, attributes }, { fingerprint: true });
}

/** The sealed signal, of which nothing is proven before it is opened. Undefined for what is none; never throws. */
export function decodeEnvelope(bytes: Uint8Array): Uint8Array | undefined {
  const message = decodeStun(bytes);
  if (message?.class !== 'indication' || message.method !== BINDING || checkFingerprint(bytes) !== 'right') return;
  return message.attributes.find(({ type }) => type === SEALED_SIGNAL)?.value;
}
