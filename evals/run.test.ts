import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { modelAnswer } from '../llm/model/model-answer.testkit.ts';
import { scriptedModel } from '../llm/model/scripted-model.testkit.ts';
import { commandsOf } from '../test/kits/process/page-blocks.ts';
import { COMPILE_CACHE } from '../test/kits/process/run-command.ts';
import { ALL_CASES } from './cases.ts';
import { trialsOf } from './score.ts';

const UNCLEAR = JSON.stringify(modelAnswer({ understood: false, refusal: 'unclear', questions: ['Which?'] }));
const PATH = `${dirname(process.execPath)}:${process.env['PATH']}`;
const HOME = mkdtempSync(join(tmpdir(), 'mesh-evals-'));
afterAll(() => rmSync(HOME, { recursive: true, force: true }));

it('asks a model every intent of the networks named once, with its key, and prints how each family was answered', async () => {
  await using server = await scriptedModel(() => UNCLEAR);
  const [line = ''] = commandsOf('evals/README.md: Scoring a model 1');
  const written = line.replace('http://127.0.0.1:11434/v1', server.baseURL);
  const { stdout } = await promisify(execFile)('/bin/sh', ['-c', `${written} --networks home`], {
    env: { PATH, HOME, ...COMPILE_CACHE, MESH_LLM_API_KEY: 'key-of-the-test' },
    maxBuffer: 16 * 2 ** 20,
  });
  const all = trialsOf(ALL_CASES).filter(({ network }) => network === 'home').length;
  expect(server.seen).toHaveLength(all);
  expect(new Set(server.seen.map(({ authorization }) => authorization))).toEqual(new Set(['Bearer key-of-the-test']));
  expect(stdout).toContain(`## openai:qwen3: ${all} of ${all} intents`);
  expect(stdout).toMatch(new RegExp(`^\\| all \\| ${all} \\| [\\d.]+ % \\| 100.0 % \\|`, 'm'));
  expect(stdout).not.toContain('key-of-the-test');
}, 600_000);

it('refuses to score a model that is not configured', async () => {
  const run = promisify(execFile)(process.execPath, [join(import.meta.dirname, 'run.ts'), '--model'], {
    env: { PATH, HOME, ...COMPILE_CACHE },
  });
  await expect(run).rejects.toMatchObject({
    stderr: expect.stringContaining('--model needs MESH_LLM_BASE_URL and MESH_LLM_MODEL.'),
  });
}, 60_000);
