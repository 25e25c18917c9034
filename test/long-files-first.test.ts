import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { TestSpecification, Vitest } from 'vitest/node';
import LongFilesFirst, { LONG } from './long-files-first.ts';

const servers = project('servers', true);
const web = project('web', true);
const unit = project('unit', false);
const scenario = project('scenario', false);

test('files that take long come first, and projects that run at once take turns', async () => {
  const [long = ''] = LONG;
  const files = [web, servers].flatMap((on) => ['a', 'b'].map((name) => on(name)));
  expect(await sorted([...files, servers(long)])).toEqual([
    `servers ${long}`,
    'web a',
    'servers a',
    'web b',
    'servers b',
  ]);
});

test('files that share a process stay together', async () => {
  const files = ['a', 'b'].flatMap((name) => [unit(name), scenario(name)]);
  expect(await sorted(files)).toEqual(['scenario a', 'scenario b', 'unit a', 'unit b']);
});

test('files that are said to take long are there', () => {
  expect(LONG.filter((file) => !existsSync(file))).toEqual([]);
});

function project(name: string, isolate: boolean) {
  const of = { name, config: { isolate, sequence: { groupOrder: 0 } } };
  return (moduleId: string) => ({ moduleId, project: of }) as unknown as TestSpecification;
}

async function sorted(files: TestSpecification[]): Promise<string[]> {
  const unknown = { cache: { getTestSpecificationResult: () => ({ duration: 1 }) } } as unknown as Vitest;
  const inOrder = await new LongFilesFirst(unknown).sort(files);
  return inOrder.map(({ project: { name }, moduleId }) => `${name} ${moduleId}`);
}
