import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type Requirement, requirements } from './requirements.ts';

const rules: Readonly<Record<string, Requirement>> = requirements;
const sources = globSync('{bin,cli,client,core,examples,llm,mcp,net,plane,rest,storage,test,tools}/**/*.test.ts', {
  exclude: ['**/node_modules/**'],
}).map((file) => readFileSync(file, 'utf8'));

/** Ids that a test file cites with `verifies('id', …)`. */
const citedIn = (text: string) =>
  [...text.matchAll(/\bverifies\(([^()]*)\)/g)].flatMap(([, ids = '']) =>
    [...ids.matchAll(/'([\w-]+)'/g)].map(([, id = '']) => id),
  );
const cited = new Set(sources.flatMap(citedIn));
const idsWhere = (wanted: (id: string, open: string | undefined) => boolean) =>
  Object.entries(rules).flatMap(([id, { open }]) => (wanted(id, open) ? [id] : []));

test('every rule that is in force is cited by a test', () => {
  expect(idsWhere((id, open) => open === undefined && !cited.has(id))).toEqual([]);
});

test('a rule that is still open is cited by none', () => {
  expect(idsWhere((id, open) => open !== undefined && cited.has(id))).toEqual([]);
});

test('no test cites a rule that there is not', () => {
  const others = [...cited].filter((id) => !(id in rules) && id !== 'id');
  expect(others).toEqual([]);
});

test('a request or tool call that the contract shows is sent by a test as it is quoted', () => {
  const sent = new Set(
    sources.flatMap((text) =>
      [...text.matchAll(/\b(?:sendRequest|sendForBytes|callContractTool)\([^,()]+,\s*'([\w-]+)'/g)].map(
        ([, id = '']) => id,
      ),
    ),
  );
  const quoted = Object.entries(rules).flatMap(([id, { request, tool, open }]) =>
    (request || tool) && !open ? [id] : [],
  );
  expect(quoted.filter((id) => !sent.has(id))).toEqual([]);
});

test('every option of a command that the contract shows stands in a test that cites it', () => {
  const missing = Object.entries(rules).flatMap(([id, { command = '', open }]) => {
    const citing = sources.filter((text) => citedIn(text).includes(id)).join('\n');
    const options = command.match(/--[\w-]+/g) ?? [];
    return open ? [] : options.filter((option) => !citing.includes(option)).map((option) => `${id}: ${option}`);
  });
  expect(missing).toEqual([]);
});
