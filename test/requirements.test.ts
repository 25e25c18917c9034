import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { requirements } from './requirements.ts';

const rules: Readonly<Record<string, { readonly rule: string; readonly open?: string }>> = requirements;
const sources = globSync('{bin,client,core,examples,llm,mcp,net,plane,rest,storage,test,tools}/**/*.test.ts');

/** Ids that tests cite with `verifies('id', …)`. */
const cited = new Set(
  sources
    .map((file) => readFileSync(file, 'utf8'))
    .flatMap((text) => [...text.matchAll(/\bverifies\(([^()]*)\)/g)])
    .flatMap(([, ids = '']) => [...ids.matchAll(/'([\w-]+)'/g)].map(([, id = '']) => id)),
);
const idsWhere = (wanted: (id: string, open: string | undefined) => boolean) =>
  Object.entries(rules).flatMap(([id, { open }]) => (wanted(id, open) ? [id] : []));

test('every rule that is in force is proven by a test that cites it', () => {
  expect(idsWhere((id, open) => open === undefined && !cited.has(id))).toEqual([]);
});

test('a rule that is still open is cited by none', () => {
  expect(idsWhere((id, open) => open !== undefined && cited.has(id))).toEqual([]);
});

test('no test cites a rule that there is not', () => {
  const others = [...cited].filter((id) => !(id in rules) && id !== 'id');
  expect(others).toEqual([]);
});
