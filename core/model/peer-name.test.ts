import { expect, test } from 'vitest';
import { newId } from '../base/ids.ts';
import { peerNameFault } from './peer-name.ts';

test.each(['10.96.0.2', '203.0.113.9', '0.0.0.0', 'outside', 'Outside', 'Internet', 'the internet', 'world', 'public'])(
  '%s is no name for a peer: it reads as an address or as what is outside',
  (name) => {
    expect(peerNameFault(name)).toContain('choose another name');
  },
);

test.each(['.', '..', '', 'a/b', 'ä', '-x', ' x', '----', '--help'])('%j is no name at all', (name) => {
  expect(peerNameFault(name)).toContain('1 to 63');
});

test.each([
  '...',
  '.a',
  'outside-db',
  '10.96.0',
  'web 1',
  'v1.2.3.4-db',
  'public-api',
  'internet.example',
  'p_1',
  'web_frontend',
])('%s is a name for a peer', (name) => {
  expect(peerNameFault(name)).toBeUndefined();
});

test.each([newId('p'), newId('p').toUpperCase(), newId('pol')])(
  '%s is no name for a peer: it reads as an id',
  (name) => {
    expect(peerNameFault(name)).toContain('reads as an id');
  },
);
