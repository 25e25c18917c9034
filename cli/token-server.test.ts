import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { controlKeyFingerprint, newToken, withAddress } from '../core/model/token.ts';
import { generateKeyPair } from '../net/seal/x25519.ts';
import { serverForToken } from './token-server.ts';

let printed = '';
beforeEach(() => {
  printed = '';
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    printed += text;
    return true;
  });
});
afterEach(() => vi.restoreAllMocks());

function plane(server: string) {
  const { publicKey } = generateKeyPair();
  const plain = newToken('dlg', controlKeyFingerprint(publicKey));
  return {
    own: { server, controlKey: Buffer.from(publicKey).toString('base64') },
    plain,
    token: withAddress(plain, { publicUrls: ['https://mesh.example.com'] }),
  };
}

test('a host that never joined goes to the address in the token, which is printed', () => {
  const { token, plain } = plane('');
  expect(serverForToken(token, undefined, undefined)).toBe('https://mesh.example.com');
  expect(printed).toContain('Control plane: https://mesh.example.com, as the token says.');
  expect(serverForToken(plain, undefined, undefined)).toBeUndefined();
});

test('a host that belongs to the control plane of the token goes where its node goes', () => {
  const { token, plain, own } = plane('http://10.0.0.5:18090');
  expect([token, plain].map((each) => serverForToken(each, undefined, own))).toEqual([own.server, own.server]);
  expect(printed).toBe('');
});

test('a host that belongs to another control plane goes to the one in the token when --server says so alone', () => {
  const { own } = plane('https://own.example.com');
  const { token } = plane('');
  expect(() => serverForToken(token, undefined, own)).toThrow(
    'This token is for https://mesh.example.com, and this host belongs to https://own.example.com. Give --server https://mesh.example.com if you trust it.',
  );
  expect(serverForToken(token, 'https://mesh.example.com', own)).toBe('https://mesh.example.com');
  expect(serverForToken(token, 'http://10.0.0.5:18090', undefined)).toBe('http://10.0.0.5:18090');
});

test('a token that was cut is told so, in its address, in its fingerprint and before it', () => {
  const { token, plain, own } = plane('');
  for (const cut of [token.slice(0, -4), plain.slice(0, -1), plain.slice(0, -16), plain.slice(0, -30)]) {
    for (const of of [undefined, own]) {
      expect(() => serverForToken(cut, undefined, of)).toThrow('This token is incomplete');
    }
  }
});
