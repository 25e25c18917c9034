import fc from 'fast-check';
import { expect, test } from 'vitest';
import { refusePollution } from '../core/base/polluting-keys.ts';
import { operations } from '../tools/index.ts';
import { sampleOf } from './kits/http/sample-requests.ts';
import { buildKit, person } from './kits/plane/kit.ts';

const SPEC = { action: 'ALLOW', peerSelector: { matchLabels: JSON.parse('{"__proto__":"secret"}') }, ingress: [] };

test('a key __proto__ anywhere in what is sent is refused with its place, and without one nothing is', () => {
  const harmless = fc.object({ maxDepth: 4 }).filter((value) => !JSON.stringify(value).includes('"__proto__"'));
  fc.assert(
    fc.property(harmless, fc.array(fc.constantFrom('a', 'b', '0')), (value, path) => {
      const inner: unknown = JSON.parse('{"__proto__":1}');
      const planted = path.reduceRight<unknown>((within, key) => ({ ...value, [key]: within }), inner);
      expect(() => refusePollution(value)).not.toThrow();
      expect(() => refusePollution(planted)).toThrow(/Remove the key .*__proto__/);
    }),
  );
});

test.each(operations.map((operation) => [operation.name, operation] as const))(
  '%s is not asked with such a key',
  async (name, operation) => {
    await using kit = await buildKit();
    const workspace = await kit.workspace();
    const input = { ...sampleOf(operation), ...JSON.parse('{"__proto__":{"a":1}}') };
    const answer = kit.call(name, input, { as: person('platform_admin', workspace), workspace, face: 'mcp' });
    await expect(answer).rejects.toMatchObject({ code: 'invalid_input', message: 'Remove the key /__proto__.' });
  },
);

test.each([
  ['as a spec', { name: 'wide', spec: SPEC }],
  ['as a document', { manifest: `kind: MeshPolicy\nmetadata: {name: wide}\nspec: ${yamlOf(SPEC)}\n` }],
])('a selector with the label __proto__ does not become one of everyone, %s', async (_how, input) => {
  await using kit = await buildKit();
  const workspace = await kit.workspace();
  const as = person('operator', workspace);
  await expect(kit.call('create_policy', input, { as, workspace })).rejects.toMatchObject({ code: 'invalid_input' });
  const { policies } = await kit.services.states.current(workspace);
  expect([...policies.keys()]).not.toContain('wide');
});

function yamlOf(value: unknown): string {
  return JSON.stringify(value);
}
