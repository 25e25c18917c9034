import { expect, test } from 'vitest';
import { importPrivateKey, keyPairOf } from '../seal/x25519.ts';
import { relayKeysOf } from './credential.ts';
import { type Hello, identityProof, tokenProof } from './handshake.ts';

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

// Made by another implementation of the same formulas (pyca/cryptography); keys of RFC 7748 section 6.1.
test('both sides make these proofs of identity and of the shared token', () => {
  const node = keyPairOf(Buffer.from('77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a', 'hex'));
  const relay = keyPairOf(Buffer.from('5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb', 'hex'));
  const hello: Hello = { mode: 'token', publicKey: node.publicKey, workspace: new Uint8Array(16).fill(0x22) };
  const challenge = { nonce: new Uint8Array(32).fill(0x11), relayKey: relay.publicKey };
  const proofs = [
    identityProof(importPrivateKey(node.privateKey), relay.publicKey, hello, challenge),
    identityProof(importPrivateKey(relay.privateKey), node.publicKey, hello, challenge),
    tokenProof(relayKeysOf('shared-token'), hello, challenge),
  ];
  expect(proofs.map((proof) => proof && hex(proof))).toEqual([
    '0856d6079f502173ec5bd101903c88d5df0cf4bbd59bd57ce2718a16c1a94361',
    '0856d6079f502173ec5bd101903c88d5df0cf4bbd59bd57ce2718a16c1a94361',
    '26a860e633f68c6bcee4c5beb18973969c2871279bad95b1fcc76bc45be9055f',
  ]);
});
