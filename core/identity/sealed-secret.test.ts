import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { Secret } from '../base/secret.ts';
import { openSecret, sealSecret } from './sealed-secret.ts';

const keys = () => ({ controlPrivateKey: new Secret(randomBytes(32).toString('base64')) });

test('a sealed secret opens for its account under its key, and reads as nothing else', () => {
  const [own, other] = [keys(), keys()];
  const secret = randomBytes(20);
  const sealed = sealSecret(own, 'u_ada', secret);
  expect(Buffer.from(sealed, 'base64').includes(secret)).toBe(false);
  expect(Buffer.from(openSecret(own, 'u_ada', sealed) ?? []).equals(secret)).toBe(true);
  expect(openSecret(own, 'u_bob', sealed)).toBeUndefined();
  expect(openSecret(other, 'u_ada', sealed)).toBeUndefined();
  expect(sealSecret(own, 'u_ada', secret)).not.toBe(sealed);
});

test('one with any byte changed or cut opens no more', () => {
  const own = keys();
  const bytes = Buffer.from(sealSecret(own, 'u_ada', randomBytes(20)), 'base64');
  for (let at = 0; at < bytes.length; at += 1) {
    const changed = Buffer.from(bytes);
    changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
    expect(openSecret(own, 'u_ada', changed.toString('base64'))).toBeUndefined();
    expect(openSecret(own, 'u_ada', bytes.subarray(0, at).toString('base64'))).toBeUndefined();
  }
});
