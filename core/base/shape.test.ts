import { describe, expect, test } from 'vitest';
import {
  exact,
  ifIs,
  instant,
  integer,
  json,
  list,
  Mismatch,
  nullable,
  object,
  oneOf,
  type Shape,
  text,
  where,
} from './shape.ts';

const peer = object({ name: text(8, /^[a-z]+$/), ports: list(integer(1, 65_535), 2) }, { until: instant });

/** Where a value departs from the shape; undefined when it fits. */
function departure(shape: Shape<unknown>, value: unknown): string | undefined {
  try {
    shape(value);
    return undefined;
  } catch (error) {
    if (error instanceof Mismatch) return error.path.join('.');
    throw error;
  }
}

describe('a shape', () => {
  test('answers what it knows of a value and drops the rest', () => {
    const until = '2026-01-02T03:04:05.678Z';
    expect(peer({ name: 'web', ports: [80], until, later: true })).toEqual({ name: 'web', ports: [80], until });
    expect(peer(JSON.parse('{"name":"web","ports":[],"__proto__":{"until":"x"}}'))).toEqual({ name: 'web', ports: [] });
  });

  test('names the place where a value departs from it', () => {
    const fits = { name: 'web', ports: [80] };
    const wrong = [
      { ports: [] },
      { ...fits, name: 'Web' },
      { ...fits, ports: [1, 0] },
      { ...fits, ports: [1, 2, 3] },
      [],
    ];
    expect(wrong.map((value) => departure(peer, value))).toEqual(['name', 'name', 'ports.1', 'ports', '']);
    expect(departure(peer, { ...fits, until: null })).toBe('until');
    expect(departure(object({ peers: list(peer, 9) }), { peers: [fits, { ...fits, ports: 'all' }] })).toBe(
      'peers.1.ports',
    );
  });

  test('of a number takes safe integers inside its bounds alone', () => {
    const values = [0, 1, 3, 4, 1.5, Number.NaN, '2', 2 ** 53];
    expect(values.filter((value) => ifIs(integer(1, 3), value) !== undefined)).toEqual([1, 3]);
    expect(departure(integer(), 2 ** 53)).toBe('');
  });

  test('of an instant takes UTC instants that exist alone', () => {
    const texts = [
      '2026-01-02T03:04:05Z',
      '2026-01-02T03:04:05.1Z',
      '2026-01-02',
      '2026-13-02T03:04:05Z',
      '2026-01-02T03:04:05+01:00',
    ];
    expect(texts.filter((value) => ifIs(instant, value))).toEqual(texts.slice(0, 2));
  });

  test('of one of some texts, of null and of a condition takes nothing else', () => {
    const range = where(object({ from: integer(), to: integer() }), ({ from, to }) => from <= to);
    const answers = [
      ifIs(oneOf('a', 'b'), 'b'),
      ifIs(oneOf('a', 'b'), 'toString'),
      ifIs(nullable(text(1)), null),
      ifIs(nullable(text(1)), undefined),
      ifIs(range, { from: 1, to: 2 }),
      ifIs(range, { from: 2, to: 1 }),
    ];
    expect(answers).toEqual(['b', undefined, null, undefined, { from: 1, to: 2 }, undefined]);
  });

  test('of JSON takes a text that holds the value, and no other text', () => {
    expect(['{"a":1}', '{"a":', '1', '{"a":"1"}'].map((value) => ifIs(json(object({ a: integer() })), value))).toEqual([
      { a: 1 },
      undefined,
      undefined,
      undefined,
    ]);
  });

  test('that is exact takes no field too many', () => {
    const values = [{ a: 1 }, { a: 1, b: 2 }];
    expect(values.map((value) => ifIs(exact(object({ a: integer() })), value))).toEqual([{ a: 1 }, undefined]);
  });

  test('lets a fault of its own condition through', () => {
    const faulty = object({
      a: where(text(9), () => {
        throw new TypeError('a bug');
      }),
    });
    expect(() => ifIs(faulty, { a: 'x' })).toThrow(TypeError);
  });
});
