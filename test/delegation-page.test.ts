import { load } from 'js-yaml';
import { expect, test } from 'vitest';
import { SCOPES } from '../core/base/scope.ts';
import type { AllowedPorts } from '../core/reachability/port-sets.ts';
import { buildScene } from './authority/scene.ts';
import { rowsOf, sectionsOf } from './kits/process/page-blocks.ts';

interface Example {
  readonly peers: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly agents: readonly { readonly name: string; readonly parent?: string; readonly [field: string]: unknown }[];
}

const { text = '' } = sectionsOf('docs/delegation.md').find(({ heading }) => heading === 'Worked example') ?? {};

test('each agent of the worked example reaches what the table of the page says, and nothing else', async () => {
  const { agents } = load(/```yaml\n(.*?)```/s.exec(text)?.[1] ?? '') as Example;
  await using scene = await buildScene();
  await scene.call(scene.ada, 'delete_policy', { id: 'base' });
  const tokens = new Map<string, string>();
  for (const { name, parent, ...fields } of agents) {
    const scopes = SCOPES.filter((scope) => scope === 'network:read' || scope === 'agents:delegate');
    const above = tokens.get(parent ?? '');
    const made = above
      ? await scene.child(above, name, scopes, fields)
      : await scene.agent(name, scopes, { policyPreset: 'inherit', ...fields });
    tokens.set(name, made.token);
  }
  const rows = rowsOf(text);
  const found = await Promise.all(
    rows.map(async ([src = '', dst = '']) => [src, dst, shown(await scene.allowed(src, dst))]),
  );
  expect(rows).not.toEqual([]);
  expect(found).toEqual(rows);
});

function shown(allowed: AllowedPorts): string {
  if (allowed === 'ALL') return 'everything';
  return allowed.map(({ protocol, from }) => `${protocol} ${from}`).join(', ') || 'nothing';
}
