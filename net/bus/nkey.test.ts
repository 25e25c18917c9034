import { randomBytes } from 'node:crypto';
import { nkeys } from '@nats-io/transport-node';
import { expect, test } from 'vitest';
import { encodeJwt, readJwt } from './jwt.ts';
import { type Role, seedText, signingKey, signingKeyOf } from './nkey.ts';

const ROLES: Role[] = ['operator', 'account', 'user'];

test.each(ROLES)('a key of the %s reads and signs as with the library of NATS', (role) => {
  for (let n = 0; n < 5; n += 1) {
    const raw = randomBytes(32);
    const ours = signingKey(role, raw);
    const theirs = nkeys.fromSeed(Buffer.from(seedText(role, raw)));
    expect([ours.publicKey, ours.publicKey[0]]).toEqual([theirs.getPublicKey(), role[0]?.toUpperCase()]);
    expect(nkeys.fromPublic(ours.publicKey).verify(Buffer.from('a'), ours.sign(Buffer.from('a')))).toBe(true);
    expect(signingKeyOf(role, seedText(role, raw))?.publicKey).toBe(ours.publicKey);
  }
});

test('a seed with a wrong letter, of another role or of another length is none', () => {
  const seed = seedText('account', randomBytes(32));
  const wrong = seed.replace(/.(?=.{9}$)/, (letter) => (letter === 'A' ? 'B' : 'A'));
  expect([signingKeyOf('account', wrong), signingKeyOf('user', seed), signingKeyOf('account', `${seed}A`)]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test('a JWT is signed by its issuer over what it says, and read back as it was', () => {
  const issuer = signingKey('account', randomBytes(32));
  const claims = { sub: 'U', name: 'n', iat: 5, exp: 9, nats: { type: 'user' } };
  const jwt = encodeJwt(claims, issuer);
  expect(readJwt(jwt)).toEqual({ ...claims, nats: { type: 'user', version: 2 } });
  const [head, body, signature = ''] = jwt.split('.');
  const verified = nkeys
    .fromPublic(issuer.publicKey)
    .verify(Buffer.from(`${head}.${body}`), Buffer.from(signature, 'base64url'));
  expect(verified).toBe(true);
  expect([readJwt(''), readJwt('a.b.c'), readJwt(`a.${Buffer.from('{"sub":1}').toString('base64url')}.c`)]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});
