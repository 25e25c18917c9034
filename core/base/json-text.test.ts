import fc from 'fast-check';
import { expect, test } from 'vitest';
import { JSON_LIMITS, parseJson } from './json-text.ts';

const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
const list = (values: number) => `[${Array(values).fill('1').join()}]`;
const objects = (keys: number) => `[${Array(keys).fill('{"k":1}').join()}]`;
const object = (keys: number) => `{${Array.from({ length: keys }, (_, at) => `"${at}":1`).join()}}`;

test.each([
  ['levels of nesting', nested, JSON_LIMITS.depth, 'nested deeper than 64 levels'],
  ['values', (count: number) => list(count - 1), JSON_LIMITS.values, 'more than 120000 values'],
  ['keys', keysAndLists, JSON_LIMITS.keys, 'more than 100000 keys'],
  ['keys of one object', object, JSON_LIMITS.keysOfObject, 'an object of more than 1000 keys'],
])('as many %s as the limit are read, and one more is refused with the limit', (_what, textOf, limit, message) => {
  expect(() => parseJson(textOf(limit))).not.toThrow();
  expect(() => parseJson(textOf(limit + 1))).toThrow(message);
});

/** Objects of a hundred keys each, so that neither values nor the keys of one object are the limit. */
function keysAndLists(keys: number): string {
  const hundreds = Math.floor(keys / 100);
  return `[${[...Array(hundreds).fill(object(100)), object(keys % 100)].join()}]`;
}

test('any JSON is read as JSON.parse reads it, whatever its strings hold', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5, noUnicodeString: false }), fc.nat(4), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      expect(parseJson(text)).toEqual(JSON.parse(text));
    }),
  );
  const brackets = JSON.stringify({ text: '[{'.repeat(100) + '\\"'.repeat(100), next: '\\' });
  expect(parseJson(brackets)).toEqual(JSON.parse(brackets));
});

test.each(['{"a"', '"open', '[1,]', ']]', '', '{"a":1}}', objects(3).slice(1)])('%j is no JSON', (text) => {
  expect(() => parseJson(text)).toThrow(SyntaxError);
});

test('a body of the largest size with nothing but policies, or as many queries as a simulation takes, is read', () => {
  const from = [{ peerSelector: { matchLabels: { role: 'web', env: 'prod' } } }];
  const ingress = [
    {
      from,
      ports: [
        { protocol: 'TCP', port: 5_432 },
        { protocol: 'TCP', port: 443 },
      ],
    },
  ];
  const spec = { action: 'ALLOW', peerSelector: { matchLabels: { role: 'db' } }, ingress };
  const policy = { apiVersion: 'mesh.internal/v1alpha1', kind: 'MeshPolicy', metadata: { name: 'web-to-db' }, spec };
  const count = Math.floor((JSON_LIMITS.bytes - 20) / (JSON.stringify(policy).length + 1));
  const text = JSON.stringify({ documents: Array(count).fill(policy) });
  const query = { src: 'web-1', dst: 'db-1', protocol: 'TCP', port: 5_432 };
  const queries = JSON.stringify({ peers: [], policies: [], queries: Array(10_000).fill(query) });
  expect([text.length, queries.length].map((length) => length <= JSON_LIMITS.bytes)).toEqual([true, true]);
  expect(() => [parseJson(text), parseJson(queries)]).not.toThrow();
});
