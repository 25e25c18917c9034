import { describe, expect, test } from 'vitest';
import { YamlError } from '../core/ports.ts';
import { buildYaml } from './yaml.ts';

const yaml = buildYaml();

test('a stream of documents is read in order, without the empty ones', () => {
  expect(yaml.parse('a: 1\n---\n---\n# nothing\n---\n- x\n')).toEqual([{ a: 1 }, ['x']]);
});

test('JSON is YAML', () => {
  expect(yaml.parse('{"kind": "MeshPolicy", "spec": {"action": "DENY"}}')).toEqual([
    { kind: 'MeshPolicy', spec: { action: 'DENY' } },
  ]);
});

test('what is written is read back', () => {
  const value = { name: 'yes', port: 5432, labels: { a: 'true', b: '1e3' }, none: [], shared: [{ x: 1 }] };
  expect(yaml.parse(yaml.stringify(value))).toEqual([value]);
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
  ])('%s', (_title, text) => {
    expect(() => yaml.parse(text)).toThrow(YamlError);
  });
});

test('a key that means the prototype pollutes nothing', () => {
  yaml.parse('__proto__: { polluted: true }');
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
});
