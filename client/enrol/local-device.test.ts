import fc from 'fast-check';
import { expect, test } from 'vitest';
import { peerNameFault, readsAsAddress } from '../../core/model/peer-name.ts';
import { nodeName } from './local-device.ts';

test.each([
  ['web-1.example', 'web-1.example'],
  ['Bens MacBook Pro', 'Bens-MacBook-Pro'],
  ['büro-straße', 'buro-strasse'],
  ['сервер-1', 'server-1'],
  ['書斎', 'ShuZhai'],
  ['北京', 'BeiJing'],
  ['💻 laptop', 'computer-laptop'],
  ['--x--', 'x'],
  ['web--1', 'web--1'],
  ['----', 'node'],
  ['..', 'node'],
  ['', 'node'],
])('a host named %j is the node %s', async (host, name) => {
  expect(await nodeName(host)).toBe(name);
});

test('every host name gives a name that a peer can have, unless it reads as an address', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'grapheme', maxLength: 80 }), async (host) => {
      const name = await nodeName(host);
      expect(readsAsAddress(name) ? undefined : peerNameFault(name)).toBeUndefined();
    }),
  );
});
