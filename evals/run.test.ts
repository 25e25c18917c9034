import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { scriptedModel } from '../llm/model/scripted-model.testkit.ts';
import { commandsOf } from '../test/kits/process/page-blocks.ts';
import { COMPILE_CACHE } from '../test/kits/process/run-command.ts';
import { ALL_CASES } from './cases.ts';
import { parseRecording } from './recorded.ts';
import { trialsOf } from './score.ts';

const UNCLEAR = JSON.stringify({
  understood: false,
  refusal: 'unclear',
  questions: ['Which?'],
  summary: '',
  reasoning: '',
  risk: 'low',
  changes: [],
  expectations: [],
});

let out: string;
beforeEach(() => {
  out = mkdtempSync(join(tmpdir(), 'mesh-evals-'));
});
afterEach(() => rmSync(out, { recursive: true, force: true }));

const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  promisify(execFile)(process.execPath, [join(import.meta.dirname, 'run.ts'), '--out', out, ...args], {
    env: { PATH: process.env['PATH'] ?? '', HOME: out, ...COMPILE_CACHE, ...env },
  });

it('records every intent once as a model answers it, and scores the recording beside the planner', async () => {
  await using server = await scriptedModel(() => UNCLEAR);
  const [line = ''] = commandsOf('evals/README.md: Recorded answers of a model 1');
  const written = line.replace('http://127.0.0.1:11434/v1', server.baseURL);
  const PATH = `${dirname(process.execPath)}:${process.env['PATH']}`;
  const { stdout } = await promisify(execFile)('/bin/sh', ['-c', `${written} --out ${out}`], {
    env: { PATH, HOME: out, ...COMPILE_CACHE, MESH_LLM_API_KEY: 'key-of-the-test' },
  });
  const text = readFileSync(join(out, 'recorded', 'qwen3.json'), 'utf8');
  const { planner, answers } = parseRecording(text);
  const all = trialsOf(ALL_CASES).length;
  expect({ planner, answers: answers.length, requests: server.seen.length }).toEqual({
    planner: 'openai:qwen3',
    answers: all,
    requests: all,
  });
  expect(new Set(server.seen.map(({ authorization }) => authorization))).toEqual(new Set(['Bearer key-of-the-test']));
  expect(stdout).toMatch(
    new RegExp(`^openai:qwen3.*, mode json_schema, recorded .*: \\d+ of ${all} exact, ${all} safe; `, 'm'),
  );
  expect(readFileSync(join(out, 'report.md'), 'utf8')).toContain('openai:qwen3');
  expect(text).not.toContain('key-of-the-test');
}, 120_000);

it('goes on with a recording that ended early, and asks nothing twice', async () => {
  await using server = await scriptedModel(() => UNCLEAR);
  const model = { MESH_LLM_BASE_URL: server.baseURL, MESH_LLM_MODEL: 'qwen3', MESH_LLM_MODE: 'json_schema' };
  await run(['--record', 'x', '--networks', 'hostile'], model);
  const first = server.seen.length;
  await run(['--record', 'x', '--networks', 'hostile,studio', '--resume'], model);
  const { answers } = parseRecording(readFileSync(join(out, 'recorded', 'x.json'), 'utf8'));
  expect(first).toBeGreaterThan(0);
  expect(answers).toHaveLength(server.seen.length);
  expect(new Set(answers.map(({ peers, intent, history }) => JSON.stringify([peers, intent, history]))).size).toBe(
    answers.length,
  );
  await expect(run(['--record', 'x', '--resume', '--seed', '2'], model)).rejects.toMatchObject({
    stderr: expect.stringContaining('The recording has seed 1, not 2'),
  });
}, 120_000);

it('refuses to record without a model or under a name that is a path, and writes nothing', async () => {
  await expect(run(['--record', 'x'])).rejects.toMatchObject({
    stderr: expect.stringContaining('--record needs MESH_LLM_BASE_URL and MESH_LLM_MODEL.'),
  });
  await expect(run(['--record', '../x'])).rejects.toMatchObject({ stderr: expect.stringContaining('small letters') });
  expect(readdirSync(out)).toEqual([]);
}, 60_000);
