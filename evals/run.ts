import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { loadConfig } from '../bin/compose/config.ts';
import { silentLog } from '../core/base/silent-log.ts';
import { builtinPlanner } from '../llm/grammar/builtin.ts';
import { openAiPlanner } from '../llm/model/openai-planner.ts';
import { BLIND } from './cases/blind.ts';
import { HELD_OUT } from './cases/held-out.ts';
import { HELD_OUT_AGAIN } from './cases/held-out-again.ts';
import { ALL_CASES, CASES } from './cases.ts';
import { NETWORKS, stateOfNetwork } from './networks.ts';
import { isRecorded, parseRecording, type Recording, recorder } from './recorded.ts';
import { htmlReport, markdownReport, rowsOf, type Section } from './report.ts';
import { runEvals, trialsOf, tryOne } from './score.ts';
import { scoredOf, titleOf } from './score-recording.ts';

const USAGE = `node evals/run.ts [--record <name>] [--out <folder>]

Scores the built-in planner and every recording in <folder>/recorded/, and writes report.md and report.html in <folder>,
which is evals/ unless told. --record asks the model of MESH_LLM_BASE_URL, MESH_LLM_MODEL and MESH_LLM_API_KEY first
and keeps its first answers, in recorded/<name>.json:

  --server <text>      what is asked, with its version, for the recording
  --seed <number>      shuffles the intents (1)
  --networks <names>   asks on these alone, for example home,studio
  --minutes <number>   asks no more once so many have passed; what was not asked is not scored
  --max-tokens <n>     of one answer
  --resume             go on with a recording that ended early, with the same server, seed and bounds`;

const folder = import.meta.dirname;
const signal = new AbortController().signal;

const { values } = parseArgs({
  options: {
    record: { type: 'string' },
    server: { type: 'string', default: 'not named' },
    seed: { type: 'string', default: '1' },
    networks: { type: 'string', default: Object.keys(NETWORKS).join(',') },
    minutes: { type: 'string', default: 'Infinity' },
    'max-tokens': { type: 'string' },
    out: { type: 'string', default: folder },
    resume: { type: 'boolean' },
    help: { type: 'boolean' },
  },
});
const recordings = join(values.out, 'recorded');
if (values.help) console.log(USAGE);
else await run();

/** Sources that were downloaded have no history, and not every machine has Git. */
function presentCommit(): string {
  const { stdout } = spawnSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: folder, encoding: 'utf8' });
  return stdout?.trim() || 'unknown';
}

async function run(): Promise<void> {
  const date = new Date().toISOString();
  const commit = presentCommit();
  if (values.record !== undefined) await record(values.record, date, commit);
  const sections: Section[] = [
    { title: 'The built-in planner', trials: await runEvals(builtinPlanner, CASES, signal) },
    {
      title: 'The built-in planner on the eighty intents that were held out at first',
      trials: await runEvals(builtinPlanner, [...HELD_OUT, ...HELD_OUT_AGAIN], signal),
    },
    {
      title: 'The built-in planner on the hundred intents of the blind set',
      trials: await runEvals(builtinPlanner, BLIND, signal),
    },
  ];
  for (const name of existsSync(recordings)
    ? readdirSync(recordings)
        .filter((file) => file.endsWith('.json'))
        .sort()
    : []) {
    const recording = parseRecording(readFileSync(join(recordings, name), 'utf8'));
    sections.push({ title: titleOf(recording), trials: await scoredOf(recording) });
  }
  const provenance = { command: 'npm run evals', date: date.slice(0, 10), commit, node: `Node ${process.version}` };
  writeFileSync(join(values.out, 'report.md'), markdownReport(sections, provenance));
  writeFileSync(join(values.out, 'report.html'), htmlReport(sections, provenance));
  for (const { title, trials } of sections) {
    const all = rowsOf(trials).at(-1);
    const [atOnce, byChoice, clear] = all?.clear ?? [0, 0, 0];
    console.log(
      `${title}: ${all?.exact} of ${all?.trials} exact, ${all?.safe} safe; of ${clear} clear ones ${atOnce} at once, ${byChoice} with one of the choices`,
    );
  }
}

async function record(name: string, date: string, commit: string): Promise<void> {
  if (!/^[a-z0-9._-]+$/.test(name))
    throw new Error('--record takes a name of small letters, digits, ".", "_" and "-".');
  const { MESH_LLM_BASE_URL: baseURL, MESH_LLM_MODEL: model, ...more } = loadConfig(process.env, folder).env;
  if (baseURL === undefined || model === undefined)
    throw new Error('--record needs MESH_LLM_BASE_URL and MESH_LLM_MODEL.');
  // The model alone: in the plane it is asked only what the grammar does not understand.
  const { MESH_LLM_API_KEY: apiKey, MESH_LLM_MODE: mode, MESH_LLM_TIMEOUT: timeoutMs } = more;
  const maxTokens = values['max-tokens'] === undefined ? undefined : Number(values['max-tokens']);
  const form = mode === 'auto' ? undefined : mode;
  const seed = Number(values.seed);
  const file = join(recordings, `${name}.json`);
  const before = values.resume ? parseRecording(readFileSync(file, 'utf8')) : undefined;
  if (before) requireSame(before, { maxTokens: maxTokens ?? null, seed, server: values.server });
  const tape = recorder(
    openAiPlanner({ baseURL, model, apiKey, log: silentLog, mode: form, timeoutMs, maxTokens }),
    before,
  );
  const on = values.networks.split(',');
  const asked = shuffled(
    trialsOf(ALL_CASES).filter(({ network }) => on.includes(network)),
    seed,
  );
  const until = performance.now() + Number(values.minutes) * 60_000;
  mkdirSync(recordings, { recursive: true });
  for (const one of asked) {
    if (performance.now() >= until) break;
    if (
      before &&
      isRecorded(before, { intent: one.says, history: one.one.history ?? [], state: stateOfNetwork(one.network) })
    )
      continue;
    await tryOne(tape.planner, one, signal);
    const whence = {
      recordedAt: before?.recordedAt ?? date,
      commit: before?.commit ?? commit,
      server: values.server,
      maxTokens: maxTokens ?? null,
      seed,
    };
    const recording = tape.recording({ ...whence, intents: asked.length });
    writeFileSync(file, `${JSON.stringify(recording, null, 1)}\n`);
  }
}

/** @throws Error where the rest would not be asked as what is there was. */
function requireSame(before: Recording, now: Pick<Recording, 'maxTokens' | 'seed' | 'server'>): void {
  for (const field of ['maxTokens', 'seed', 'server'] as const) {
    if (before[field] !== now[field])
      throw new Error(`The recording has ${field} ${before[field]}, not ${now[field]}: record it as it was begun.`);
  }
}

/** In an order that the seed alone decides. */
function shuffled<T>(items: readonly T[], seed: number): T[] {
  const rank = (at: number) => createHash('sha256').update(`${seed}/${at}`).digest('hex');
  return items
    .map((item, at) => ({ item, rank: rank(at) }))
    .sort((a, b) => (a.rank < b.rank ? -1 : 1))
    .map(({ item }) => item);
}
