import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parseYaml } from '../tools/yaml.ts';
import { agent, buildKit } from './kits/plane/kit.ts';
import { seedPeers } from './kits/records/seed-peers.ts';

const PEERS = {
  web: { app: 'web' },
  foo: { app: 'foo' },
  api: { app: 'bookstore', role: 'api' },
  search: { app: 'bookstore', role: 'search' },
  db: { app: 'bookstore', role: 'db' },
  apiserver: { app: 'apiserver' },
  metrics: { role: 'monitoring' },
};

const page = readFileSync(new URL('../docs/recipes.md', import.meta.url), 'utf8');
const recipes = page
  .split('\n## ')
  .slice(1)
  .flatMap((section): [string, string, string][] => {
    const [, yaml] = /```yaml\n(.*?)```/s.exec(section) ?? [];
    return yaml === undefined ? [] : [[section.split('\n')[0] ?? '', yaml, section]];
  });

test('the page has every recipe', () => expect(recipes).toHaveLength(13));

test.each(recipes)(
  '%s: the policy of the page goes through as a typed change and does what the page says',
  async (_title, yaml, section) => {
    await using kit = await buildKit();
    const workspace = await kit.workspace();
    await seedPeers(kit.services, workspace, PEERS);
    const as = agent(['network:read', 'intents:plan'], workspace);
    const plan = (changes: unknown[], expectations: unknown[] = []) =>
      kit.call('plan_network_change', { intent: 'a recipe', changes, expectations }, { as, workspace });
    const [spec] = parseYaml(yaml) as [Record<string, unknown>];
    const change = { action: 'create', resource: 'MeshPolicy', name: 'recipe', spec };
    const said = [...section.matchAll(/^- (\S+) → (\S+?)(?: (TCP|UDP) (\d+))?: (open|closed)$/gm)];
    const expectations = said.map(([, src, dst, protocol, port, is]) => ({
      src,
      dst,
      ...(protocol && { protocol, port: Number(port) }),
      expect: is === 'open' ? 'allow' : 'deny',
    }));
    expect(expectations).not.toEqual([]);
    const { unmet } = (await plan([change], expectations)) as { unmet: readonly string[] };
    // The page names examples; that more closes beside them is an objection of its own.
    expect(unmet.filter((text) => !/^(it would close|and so for) /.test(text))).toEqual([]);
  },
);

test.each([
  [
    'namespaceSelector',
    { ingress: [{ from: [{ namespaceSelector: {} }] }] },
    /from\/0\/namespaceSelector: There is no such field: a policy is about the peers of one workspace/,
  ],
  [
    'podSelector',
    { ingress: [{ from: [{ podSelector: {} }] }] },
    /from\/0\/podSelector: There is no such field: write peerSelector/,
  ],
  ['a named port', { ingress: [{ ports: [{ port: 'http' }] }] }, /ingress\/0\/ports\/0\/port: write the number/],
])('%s is refused in words', async (_title, rules, words) => {
  await using kit = await buildKit();
  const workspace = await kit.workspace();
  const as = agent(['network:read', 'intents:plan'], workspace);
  const spec = { action: 'ALLOW', peerSelector: {}, ...rules };
  const changes = [{ action: 'create', resource: 'MeshPolicy', name: 'recipe', spec }];
  await expect(kit.call('plan_network_change', { intent: 'x', changes }, { as, workspace })).rejects.toThrow(words);
});
