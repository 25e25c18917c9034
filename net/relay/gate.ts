import type { KeyObject } from 'node:crypto';
import { importPrivateKey, type KeyPair } from '../seal/x25519.ts';
import { checkCredential, type RelayKeys } from './credential.ts';
import {
  CHALLENGE_NONCE_BYTES,
  type Challenge,
  type Hello,
  identityProof,
  sameProof,
  tokenProof,
} from './handshake.ts';
import type { Member } from './member.ts';
import type { ByeReason } from './reasons.ts';
import type { Revocations } from './revocations.ts';

/** A hello that was in order: what it said, and what the client has to prove about it. */
export interface Claim {
  readonly hello: Hello;
  readonly challenge: Challenge;
  /** Absent for a control plane. */
  readonly member?: Member;
  readonly expiresAt: number;
}

/** Decides who may use the relay, and gives a reason for every refusal. */
export class Gate {
  readonly #keys: RelayKeys;
  readonly #relayKey: Uint8Array;
  readonly #privateKey: KeyObject;
  readonly #random: (bytes: number) => Uint8Array;
  readonly #revocations: Revocations;
  readonly #tokenSessionMs: number;

  constructor(
    { keys, keyPair, random }: { keys: RelayKeys; keyPair: KeyPair; random: (bytes: number) => Uint8Array },
    revocations: Revocations,
    tokenSessionMs: number,
  ) {
    this.#keys = keys;
    this.#relayKey = keyPair.publicKey;
    this.#privateKey = importPrivateKey(keyPair.privateKey);
    this.#random = random;
    this.#revocations = revocations;
    this.#tokenSessionMs = tokenSessionMs;
  }

  hello(hello: Hello, now: number): Claim | ByeReason {
    const challenge = { nonce: this.#random(CHALLENGE_NONCE_BYTES), relayKey: this.#relayKey };
    const claim = { hello, challenge };
    switch (hello.mode) {
      case 'credential': {
        const { publicKey } = hello;
        const grant = this.#grant(hello.credential, publicKey, now);
        if (typeof grant === 'string') return grant;
        return this.#unlessRevoked(
          { ...claim, expiresAt: grant.expiresAt, member: { workspace: grant.workspace, publicKey } },
          now,
        );
      }
      case 'token': {
        const expiresAt = now + this.#tokenSessionMs;
        return this.#unlessRevoked({ ...claim, expiresAt, member: hello }, now);
      }
      case 'control':
        return { ...claim, expiresAt: Number.MAX_SAFE_INTEGER };
      default:
        return hello satisfies never;
    }
  }

  /** Until when a fresh credential lets a member stay. */
  renew({ publicKey, workspace }: Member, credential: Uint8Array, now: number): number | ByeReason {
    const grant = this.#grant(credential, publicKey, now);
    if (typeof grant === 'string') return grant;
    return Buffer.compare(grant.workspace, workspace) === 0 ? grant.expiresAt : 'bad-credential';
  }

  /** Returns the grant of a credential to this key, or the reason for a refusal. */
  #grant(credential: Uint8Array, publicKey: Uint8Array, now: number) {
    const checked = checkCredential(this.#keys, credential, now);
    if (!checked.ok) return checked.reason === 'expired' ? 'credential-expired' : 'bad-credential';
    const { workspace, expiresAt } = checked.grant;
    return Buffer.compare(checked.grant.publicKey, publicKey) === 0 ? { workspace, expiresAt } : 'bad-credential';
  }

  /** Undefined when the claim is proven. */
  proof({ hello, challenge, member }: Claim, macs: Uint8Array, now: number): ByeReason | undefined {
    const expected: (Uint8Array | undefined)[] = [];
    if (hello.mode !== 'control') {
      expected.push(identityProof(this.#privateKey, hello.publicKey, hello, challenge));
    }
    if (hello.mode !== 'credential') expected.push(tokenProof(this.#keys, hello, challenge));
    if (!sameProof(expected, macs)) return 'bad-proof';
    return member && this.#revocations.has(member, now) ? 'revoked' : undefined;
  }

  #unlessRevoked(claim: Claim & { readonly member: Member }, now: number): Claim | ByeReason {
    return this.#revocations.has(claim.member, now) ? 'revoked' : claim;
  }
}
