import type { Log } from '../../core/base/ports.ts';
import type { Narrator } from '../../core/cause/narrator.ts';
import type { ModelCall, Planner } from '../../core/intent/plan/planner.ts';
import { understoodFirst } from '../../core/intent/plan/understood-first.ts';
import type { ChatOptions } from '../../llm/model/openai/chat.ts';
import type { Metrics } from '../../rest/metrics.ts';
import type { Config } from './config.ts';
import { grammarPlanner } from './readers.ts';

type ModelSettings = Pick<
  Config['env'],
  'MESH_LLM_BASE_URL' | 'MESH_LLM_MODEL' | 'MESH_LLM_API_KEY' | 'MESH_LLM_MODE' | 'MESH_LLM_TIMEOUT'
>;

/**
 * The planner of the configuration: the built-in one, and behind it the model that is named, for intents that the grammar
 * does not understand. Its client is loaded only then.
 */
export async function buildPlanner(settings: ModelSettings, log: Log, metrics?: Metrics): Promise<Planner> {
  const options = chatOptions(settings, log, metrics);
  if (!options) return grammarPlanner;
  const { openAiPlanner } = await import('../../llm/model/openai-planner.ts');
  return understoodFirst(grammarPlanner, openAiPlanner(options));
}

/** Words findings by the model that is named; nobody without one, or where that is switched off. */
export async function buildNarrator(
  settings: ModelSettings & Pick<Config['env'], 'MESH_LLM_NARRATION'>,
  log: Log,
  metrics?: Metrics,
): Promise<Narrator | undefined> {
  if (settings.MESH_LLM_NARRATION === 'off') return undefined;
  const options = chatOptions(settings, log, metrics);
  if (!options) return undefined;
  const { openAiNarrator } = await import('../../llm/narrator/narrator.ts');
  return openAiNarrator(options);
}

function chatOptions(settings: ModelSettings, log: Log, metrics: Metrics | undefined): ChatOptions | undefined {
  const { MESH_LLM_BASE_URL: baseURL, MESH_LLM_MODEL: model, MESH_LLM_API_KEY: apiKey } = settings;
  if (baseURL === undefined || model === undefined) return undefined;
  return {
    baseURL,
    model,
    apiKey,
    log,
    mode: settings.MESH_LLM_MODE === 'auto' ? undefined : settings.MESH_LLM_MODE,
    timeoutMs: settings.MESH_LLM_TIMEOUT,
    ...(metrics && { observe: modelCalls(metrics) }),
  };
}

function modelCalls(metrics: Metrics): (call: ModelCall) => void {
  const [requests, requestsHelp] = ['mesh_llm_requests_total', 'Requests to the model server'];
  const [seconds, secondsHelp] = ['mesh_llm_request_seconds', 'Time of requests to the model server'];
  const [counted, countedHelp] = ['mesh_llm_tokens_total', 'Tokens that the model server counted'];
  metrics.declare(requests, 'counter', requestsHelp);
  metrics.declare(seconds, 'histogram', secondsHelp);
  metrics.declare(counted, 'counter', countedHelp);
  return ({ mode, outcome, milliseconds, promptTokens = 0, completionTokens = 0 }) => {
    metrics.count(requests, requestsHelp, { mode, outcome });
    metrics.observe(seconds, secondsHelp, {}, milliseconds / 1_000);
    const tokens = (kind: string, by: number) => metrics.count(counted, countedHelp, { kind }, by);
    tokens('prompt', promptTokens);
    tokens('completion', completionTokens);
  };
}
