import { describe, expect, it } from 'vitest';
import { Secret } from '../../core/base/secret.ts';
import { silentLog } from '../../core/base/silent-log.ts';
import { understoodFirst } from '../../core/intent/plan/understood-first.ts';
import { peer, stateWith } from '../../test/kits/records/records.ts';
import { builtinPlanner } from '../grammar/builtin.ts';
import { openAiPlanner } from './openai-planner.ts';
import { type Step, scriptedModel } from './scripted-model.testkit.ts';

const KEY = 'sk-very-secret';
const STATE = stateWith(peer('web-1', { labels: { role: 'web' } }), peer('db-1', { labels: { role: 'db' } }));
/** The grammar asks about the first and refuses the second. */
const INTENTS = ['let web reach postgres-9 on 5432', 'make the storefront happy'];

const question = (intent: string) => ({ intent, state: STATE, now: 0, signal: AbortSignal.timeout(10_000) });

async function askBehind(baseURL: string, intent: string, timeoutMs = 5_000) {
  const model = openAiPlanner({ baseURL, model: 'm', apiKey: new Secret(KEY), log: silentLog, timeoutMs });
  return understoodFirst(builtinPlanner, model).plan(question(intent));
}

describe.each(INTENTS)('what the grammar says of %j', (intent) => {
  it.each<[string, Step, RegExp]>([
    ['drops connections', 'cut', /cannot be reached/],
    ['says nothing', 'hang', /did not answer in time/],
    ['dies in the middle', 'break', /No model could be asked\./],
    ['fails', { status: 503 }, /fails \(503\)/],
    ['refuses the key', { status: 401 }, /refuses the key/],
    ['talks nonsense twice', '{}', /no answer that can be used, twice/],
  ])('is all there behind a model server that %s, with a warning', async (_name, step, warning) => {
    await using server = await scriptedModel(() => step);
    const known = await builtinPlanner.plan(question(intent));
    const answer = await askBehind(server.baseURL, intent, step === 'hang' ? 50 : undefined);
    expect(known.outcome).toBe('refused');
    expect(answer).toEqual({ ...known, warnings: [expect.stringMatching(warning)] });
    expect(JSON.stringify(answer)).not.toMatch(/sk-very|127\.0\.0\.1|http/);
  });

  it('is all there where no server listens', async () => {
    const server = await scriptedModel([]);
    await server[Symbol.asyncDispose]();
    expect(await askBehind(server.baseURL, intent)).toMatchObject({
      warnings: [expect.stringMatching(/^No model could be asked\. The model server cannot be reached\./)],
    });
  });
});
