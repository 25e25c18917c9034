import { createHash } from 'node:crypto';
import { parseArgs } from 'node:util';
import { loadConfig } from '../bin/compose/config.ts';
import { MeshError } from '../core/base/errors.ts';
import { silentLog } from '../core/base/silent-log.ts';
import type { PlanAnswer, Planner } from '../core/intent/plan/planner.ts';
import { builtinPlanner } from '../llm/grammar/builtin.ts';
import { openAiPlanner } from '../llm/model/openai-planner.ts';
import { BLIND } from './cases/blind.ts';
import { HELD_OUT } from './cases/held-out.ts';
import { HELD_OUT_AGAIN } from './cases/held-out-again.ts';
import { ALL_CASES, CASES } from './cases.ts';
import { NETWORKS } from './networks.ts';
import { markdownReport, type Section } from './report.ts';
import { runEvals, type Trial, trialsOf, tryOne } from './score.ts';

const USAGE = `npm run evals -- [--model]

Scores the built-in planner and prints the report as Markdown. --model scores instead the model of MESH_LLM_BASE_URL,
MESH_LLM_MODEL and MESH_LLM_API_KEY, which then answers every intent without the grammar:

  --networks <names>   asks on these alone, for example home,studio
  --minutes <number>   asks no more once so many have passed; what was not asked is not scored
  --max-tokens <n>     of one answer`;

const signal = new AbortController().signal;
const { values } = parseArgs({
  options: {
    model: { type: 'boolean' },
    networks: { type: 'string', default: Object.keys(NETWORKS).join(',') },
    minutes: { type: 'string', default: 'Infinity' },
    'max-tokens': { type: 'string' },
    help: { type: 'boolean' },
  },
});
if (values.help) console.log(USAGE);
else console.log(markdownReport(values.model ? [await sectionOfModel()] : await sectionsOfGrammar()));

async function sectionsOfGrammar(): Promise<Section[]> {
  const sets = [
    ['The built-in planner', CASES],
    ['The built-in planner on the eighty intents that were held out at first', [...HELD_OUT, ...HELD_OUT_AGAIN]],
    ['The built-in planner on the hundred intents of the blind set', BLIND],
  ] as const;
  const sections: Section[] = [];
  for (const [title, cases] of sets) sections.push({ title, trials: await runEvals(builtinPlanner, cases, signal) });
  return sections;
}

async function sectionOfModel(): Promise<Section> {
  const { env } = loadConfig(process.env, import.meta.dirname);
  const { MESH_LLM_BASE_URL: baseURL, MESH_LLM_MODEL: model, MESH_LLM_API_KEY: apiKey, MESH_LLM_MODE: mode } = env;
  if (baseURL === undefined || model === undefined)
    throw new Error('--model needs MESH_LLM_BASE_URL and MESH_LLM_MODEL.');
  const maxTokens = values['max-tokens'] === undefined ? undefined : Number(values['max-tokens']);
  const form = mode === 'auto' ? undefined : mode;
  const planner = refusingWhenUnavailable(
    openAiPlanner({ baseURL, model, apiKey, log: silentLog, mode: form, timeoutMs: env.MESH_LLM_TIMEOUT, maxTokens }),
  );
  const networks = values.networks.split(',');
  const all = shuffled(trialsOf(ALL_CASES).filter(({ network }) => networks.includes(network)));
  const until = performance.now() + Number(values.minutes) * 60_000;
  const trials: Trial[] = [];
  for (const one of all) {
    if (performance.now() >= until) break;
    trials.push(await tryOne(planner, one, signal));
  }
  return { title: `${planner.name}: ${trials.length} of ${all.length} intents`, trials };
}

/** Counts an answer that did not come in time as a refusal. */
function refusingWhenUnavailable(planner: Planner): Planner {
  const unanswered = (error: unknown): PlanAnswer => {
    if (!(error instanceof MeshError) || error.code !== 'unavailable') throw error;
    return { outcome: 'refused', reason: error.message, questions: [], choices: [] };
  };
  return { name: planner.name, plan: (question) => planner.plan(question).catch(unanswered) };
}

/** Returns the items in an order that is the same in each run and mixes the families. */
function shuffled<T>(items: readonly T[]): T[] {
  const rank = (at: number) => createHash('sha256').update(`${at}`).digest('hex');
  return items
    .map((item, at) => ({ item, rank: rank(at) }))
    .sort((a, b) => (a.rank < b.rank ? -1 : 1))
    .map(({ item }) => item);
}
