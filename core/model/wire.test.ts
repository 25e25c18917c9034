import { describe, expect, test } from 'vitest';
import { commonWire, MAX_WIRE_TEXT, readWire, UNREADABLE_WIRE, WIRE, WIRE_TEXT, wireMismatch } from './wire.ts';

describe('the versions of the wire', () => {
  test('of 0.1.0, which says none, are version 1, and this software speaks it', () => {
    expect([readWire(undefined), commonWire(undefined)]).toEqual([{ oldest: 1, newest: 1 }, 1]);
  });

  test.each(['', ' ', ','])('that are said as %j are not said', (said) => {
    expect(readWire(said)).toEqual(readWire(undefined));
  });

  test.each(['1-2, 1-2', '1-2,1-2 ,1-2', ' 1-2', '1-2,'])('that a proxy passes on as %j are said once', (said) => {
    expect(readWire(said)).toEqual({ oldest: 1, newest: 2 });
  });

  test('that this software says can be read, and are its own', () => {
    expect([readWire(WIRE_TEXT), commonWire(WIRE_TEXT)]).toEqual([WIRE, WIRE.newest]);
    expect('9999-9999').toHaveLength(MAX_WIRE_TEXT);
  });

  test.each([UNREADABLE_WIRE, '2', '2-', '-2', '3-2', '1-2-3', '1 -2', '1-99999', 'x-y', '1-2, 2-2', '1-2, x'])(
    'that are said as %j are no versions',
    (said) => {
      expect([readWire(said), commonWire(said)]).toEqual([undefined, undefined]);
      expect(wireMismatch('node', said)).toBe(
        `What the node says of its versions of the wire is not like ${WIRE_TEXT}.`,
      );
    },
  );

  const ours = { oldest: 3, newest: 4 };
  test.each<[string | undefined, number | undefined]>([
    [undefined, undefined],
    ['1-2', undefined],
    ['2-3', 3],
    ['3-4', 4],
    ['1-9', 4],
    ['4-5', 4],
    ['5-6', undefined],
  ])('that are said as %j and 3-4 have %j as the newest in common', (said, common) => {
    expect(commonWire(said, ours)).toBe(common);
    expect(wireMismatch('node', said, ours) === undefined).toBe(common !== undefined);
  });

  test.each<['node' | 'control plane', string | undefined, string]>([
    [
      'node',
      undefined,
      'The node speaks version 1 of the wire and the control plane versions 3 to 4: upgrade the node.',
    ],
    [
      'node',
      '5-6',
      'The node speaks versions 5 to 6 of the wire and the control plane versions 3 to 4: upgrade the control plane.',
    ],
    [
      'control plane',
      '1-2',
      'The control plane speaks versions 1 to 2 of the wire and the node versions 3 to 4: upgrade the control plane.',
    ],
    [
      'control plane',
      '5-5',
      'The control plane speaks version 5 of the wire and the node versions 3 to 4: upgrade the node.',
    ],
  ])('without one in common name what to upgrade: the %s says %j', (other, said, text) => {
    expect(wireMismatch(other, said, ours)).toBe(text);
  });
});
