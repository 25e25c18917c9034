import { describe, expect, test } from 'vitest';
import { formatJoinLink, parseJoinLink } from './join-link.ts';

describe('a join link', () => {
  test('is read back as it was written, whatever the address holds', () => {
    const invitation = { server: 'https://mesh.example.net:18090/?a=b&c', token: 'mesh-join-x_-y' };
    expect(parseJoinLink(formatJoinLink(invitation))).toEqual(invitation);
  });

  test('has the form of the contract', () => {
    expect(formatJoinLink({ server: 'http://a:1', token: 't' })).toBe('mesh://join?server=http%3A%2F%2Fa%3A1&token=t');
    expect(parseJoinLink('mesh://join?server=http://a:1&token=t')).toEqual({ server: 'http://a:1', token: 't' });
  });

  test.each(['mesh://join?server=http://a', 'mesh://join?server=http%3A%2F%2Fa%3A1'])(
    'that a shell cut at its & is told from one that is none: %s',
    (text) => {
      expect(() => parseJoinLink(text)).toThrow('Put the link in single quotes');
    },
  );

  test.each([
    'mesh://leave?server=http://a&token=t',
    'mesh://join?token=t',
    'http://join?server=http://a&token=t',
    'mesh://join?server=http://a&label=x',
    'mesh:',
    '',
    `mesh://join?server=http://a&token=${'t'.repeat(3_000)}`,
  ])('is refused without being repeated when it is none: %#', (text) => {
    expect(() => parseJoinLink(text)).toThrow('This is no join link. It has the form');
  });
});
