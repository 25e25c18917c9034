import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { TestSpecification, Vitest } from 'vitest/node';
import LongFilesFirst, { LONG } from './long-files-first.ts';

const servers = project('servers');
const unit = project('unit');
const scenario = project('scenario');

test('files that take long come first', async () => {
  const [long = ''] = LONG;
  expect(await sorted([servers('a'), servers('b'), servers(long)])).toEqual([
    `servers ${long}`,
    'servers a',
    'servers b',
  ]);
});

test('files of one project follow each other', async () => {
  const files = ['a', 'b'].flatMap((name) => [unit(name), scenario(name)]);
  expect(await sorted(files)).toEqual(['scenario a', 'scenario b', 'unit a', 'unit b']);
});

test('files that are said to take long are there', () => {
  expect(LONG.filter((file) => !existsSync(file))).toEqual([]);
});

function project(name: string) {
  const of = { name, config: { sequence: { groupOrder: 0 } } };
  return (moduleId: string) => ({ moduleId, project: of }) as unknown as TestSpecification;
}

async function sorted(files: TestSpecification[]): Promise<string[]> {
  const unknown = { cache: { getTestSpecificationResult: () => ({ duration: 1 }) } } as unknown as Vitest;
  const inOrder = await new LongFilesFirst(unknown).sort(files);
  return inOrder.map(({ project: { name }, moduleId }) => `${name} ${moduleId}`);
}
