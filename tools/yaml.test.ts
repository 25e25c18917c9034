import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { YamlError } from '../core/base/ports.ts';
import { buildYaml, YAML_LIMITS } from './yaml.ts';

const yaml = buildYaml();

test('a stream of documents is read in order, without the empty ones', () => {
  expect(yaml.parse('a: 1\n---\n---\n# nothing\n---\n- x\n')).toEqual([{ a: 1 }, ['x']]);
});

test('JSON is YAML', () => {
  expect(yaml.parse('{"kind": "MeshPolicy", "spec": {"action": "DENY"}}')).toEqual([
    { kind: 'MeshPolicy', spec: { action: 'DENY' } },
  ]);
});

test('a date, a block of addresses and a yes stay text', () => {
  expect(yaml.parse('a: 2030-01-31\nb: 10.96.0.0/24\nc: yes')).toEqual([
    { a: '2030-01-31', b: '10.96.0.0/24', c: 'yes' },
  ]);
});

describe('text that is refused', () => {
  const bomb = ['a: &a [x, x, x, x, x, x, x, x, x]'];
  for (const [name, of] of [
    ['b', 'a'],
    ['c', 'b'],
    ['d', 'c'],
    ['e', 'd'],
    ['f', 'e'],
  ]) {
    bomb.push(`${name}: &${name} [${Array(9).fill(`*${of}`).join(', ')}]`);
  }
  test.each<[string, string]>([
    ['no YAML', 'a: [1, 2'],
    ['a key twice', 'a: 1\na: 2'],
    ['an alias to nothing', 'a: *b'],
    ['aliases that multiply', bomb.join('\n')],
    ['deep brackets', '['.repeat(100_000)],
    ['deep braces', '{a: '.repeat(50_000)],
    ['deep dashes', '- '.repeat(50_000)],
    ['deep indentation', Array.from({ length: 60 }, (_, i) => `${' '.repeat(i)}a:`).join('\n')],
    ['too much', `a: ${'x'.repeat(1_048_576)}`],
    ['many keys', Array.from({ length: 60_000 }, (_, index) => `k${index}: 1`).join('\n')],
    ['many keys on one line', `{${Array.from({ length: 60_000 }, (_, index) => `k${index}: 1`).join(',')}}`],
    ['many empty keys', `${'? '.repeat(30)}\n`.repeat(16_000)],
    ['many items', '- a\n'.repeat(150_000)],
    ['many documents', 'a\n...\n'.repeat(150_000)],
    ['an alias to what holds it', 'a: &a [*a]'],
    ['a key that is a list', '? [a]\n: b'],
    ['a tag of its own', 'a: !thing b'],
    ['a control character', 'a: \u0007'],
  ])('%s', (_title, text) => {
    expect(() => yaml.parse(text)).toThrow(YamlError);
  });
});

test('a key that means the prototype pollutes nothing', () => {
  yaml.parse('__proto__: { polluted: true }');
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
});

test('spaces after many dashes cost no more than the letters that they are', () => {
  expect(yaml.parse(`${'-  '.repeat(30)}x${' '.repeat(100_000)}`)).toHaveLength(1);
});

test.each<[string, (count: number) => string, number, string]>([
  ['keys of a mapping', (count) => lines(count, (at) => `k${at}: 1`), 1_000, 'more than 1000 keys'],
  [
    'keys of a mapping on one line',
    (count) => `[{${lines(count, (at) => `k${at}: 1,`)}}]`,
    1_000,
    'more than 1000 keys',
  ],
  ['anchors', (count) => lines(count, (at) => `- &a${at} x`), 2_000, 'more than 2000 anchors'],
])('as many %s as the limit are read, and one more is refused with the limit', (_what, textOf, limit, message) => {
  expect(yaml.parse(textOf(limit))).toHaveLength(1);
  expect(() => yaml.parse(textOf(limit + 1))).toThrow(message);
});

test('the last of a thousand keys twice is refused', () => {
  const text = lines(999, (at) => `k${at}: 1`);
  expect(() => yaml.parse(`${text}\nk998: 1`)).toThrow('duplicated mapping key (line 1000, column 1)');
});

test('2,000 policies in one text are read', () => {
  const labels = Array.from({ length: 8 }, (_, at) => `label-${at}: ${'v'.repeat(30)}`).join(', ');
  const policy = (at: number) => `kind: MeshPolicy\nmetadata: { name: p${at}, labels: { ${labels} } }\nspec: {}\n`;
  const text = Array.from({ length: 2_000 }, (_, at) => policy(at)).join('---\n');
  expect(yaml.parse(text)).toHaveLength(2_000);
});

function lines(count: number, line: (at: number) => string): string {
  return Array.from({ length: count }, (_, at) => line(at)).join('\n');
}

test('any text is read within the bounds, or refused with a YamlError', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      '- ',
      '? ',
      ': ',
      'a: ',
      '\n',
      ' ',
      '  ',
      '[',
      ']',
      '{',
      '}',
      ',',
      '"',
      "'",
      '|\n',
      '>\n',
      '#',
      '\t',
    ),
    fc.constantFrom('&a ', '*a', '!!str ', '!x ', '---\n', '...\n', '%YAML 1.2\n', '<<: ', '\\', '\r\n', '__proto__: '),
    fc.string({ maxLength: 4 }),
  );
  const text = fc
    .tuple(fc.array(piece, { maxLength: 12 }), fc.constantFrom(1, 2, 30, 3_000), fc.array(piece, { maxLength: 6 }))
    .map(([pieces, times, end]) => pieces.join('').repeat(times) + end.join(''));
  fc.assert(
    fc.property(text, (text) => {
      let documents: unknown[];
      try {
        documents = yaml.parse(text);
      } catch (error) {
        expect(error).toBeInstanceOf(YamlError);
        return;
      }
      const { nodes, deepest } = measure(documents);
      expect(nodes).toBeLessThanOrEqual(YAML_LIMITS.nodes);
      expect(deepest).toBeLessThanOrEqual(YAML_LIMITS.depth);
    }),
  );
});

function measure(value: unknown): { nodes: number; deepest: number } {
  if (typeof value !== 'object' || value === null) return { nodes: 1, deepest: 0 };
  const inner = Object.values(value).map(measure);
  return {
    nodes: inner.reduce((sum, { nodes }) => sum + nodes, 1),
    deepest: 1 + Math.max(0, ...inner.map(({ deepest }) => deepest)),
  };
}
