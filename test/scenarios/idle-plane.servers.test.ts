import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { memoryOf } from '../../bench/node/process.ts';
import { freshDirectory, startMeshd } from '../kits/process/meshd.ts';
import { witnessIn } from '../kits/process/witness.ts';

/** Resident memory of an idle control plane, MB, with room for other machines (docs/benchmarks/memory.md). */
const LIMIT_MB = 200;
/** Modules that the first request that needs them loads: each costs every start time, and an idle control plane memory. */
const LATER = [
  'internal/deps/amaro/dist/index',
  '@modelcontextprotocol/server',
  'archiver',
  'openai',
  'mongodb',
  '@nats-io/transport-node',
  'zod-openapi',
  '../../llm/grammar/builtin.ts',
  '../../llm/questions/reader.ts',
  '../../core/cause/find-cause.ts',
];

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'mesh-idle-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

it('an idle control plane has loaded nothing that only some requests need, and holds less than 200 MB', async () => {
  const { env, loaded } = witnessIn(directory);
  const started = async () => {
    const meshd = startMeshd({ directory: freshDirectory(), env });
    await meshd.ready();
    return meshd;
  };
  // The first start compiles what later ones read; it is written when the process ends.
  await (await started()).stop();
  const meshd = await started();
  const { rss } = memoryOf(meshd.child.pid ?? 0);
  await meshd.stop();
  const all = loaded();
  expect(all).toEqual(expect.arrayContaining(['zod', 'express']));
  expect(LATER.filter((name) => all.includes(name))).toEqual([]);
  expect(rss).toBeLessThan(LIMIT_MB);
});
