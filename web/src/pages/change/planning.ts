import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { asProblem } from '../../api/load.ts';
import { type Problem, problemOf, unreachable } from '../../api/problem.ts';
import { serverEvents } from '../../api/server-events.ts';
import { credentialHeaders, forgetSession } from '../../api/session.ts';
import type { Plan, PlanRequest } from '../../api/types.ts';
import { workspaceId } from '../../api/workspace.ts';

export interface Planned {
  readonly asked: PlanRequest;
  readonly plan: Plan;
}

/** Asks for one plan at a time; the stages of the one that is made are told as they begin. */
export function usePlanning() {
  const stages = useSignal<readonly string[]>([]);
  const isPlanning = useSignal(false);
  const problem = useSignal<Problem | undefined>(undefined);
  const planned = useSignal<Planned | undefined>(undefined);
  const abort = useRef<AbortController | undefined>(undefined);

  function stop(): void {
    abort.current?.abort();
    isPlanning.value = false;
  }

  async function ask(asked: PlanRequest): Promise<void> {
    stop();
    const own = new AbortController();
    abort.current = own;
    stages.value = [];
    problem.value = undefined;
    planned.value = undefined;
    isPlanning.value = true;
    try {
      const plan = await planOf(asked, own.signal, (stage) => {
        stages.value = [...stages.value, stage];
      });
      if (!own.signal.aborted) planned.value = { asked, plan };
    } catch (error) {
      if (!own.signal.aborted) problem.value = asProblem(error);
    } finally {
      if (abort.current === own) isPlanning.value = false;
    }
  }

  function clear(): void {
    stop();
    stages.value = [];
    problem.value = undefined;
    planned.value = undefined;
  }

  useLayoutEffect(() => () => abort.current?.abort(), []);
  return { stages, isPlanning, problem, planned, ask, stop, clear };
}

const PATH = '/api/v1/ai/intent/plan';

/** A stream is no JSON, so `fetch` reads it; what is refused before it begins is answered as everywhere. */
async function planOf(asked: PlanRequest, signal: AbortSignal, onStage: (stage: string) => void): Promise<Plan> {
  const response = await fetch(PATH, {
    method: 'POST',
    signal,
    body: JSON.stringify(asked),
    headers: {
      accept: 'text/event-stream',
      'content-type': 'application/json',
      ...credentialHeaders(),
      'x-workspace-id': workspaceId.value ?? '',
    },
  }).catch(() => {
    throw unreachable();
  });
  if (!response.ok || !response.body) {
    const refused = problemOf(response.status, await response.json().catch(() => undefined));
    if (refused.status === 401) forgetSession();
    throw refused;
  }
  for await (const { event, data } of serverEvents(response.body)) {
    if (data === '') continue;
    const said: unknown = JSON.parse(data);
    if (event === 'stage') onStage((said as { text: string }).text);
    else if (event === 'problem') throw problemOf((said as Problem).status, said);
    else if (event === 'answer') return said as Plan;
  }
  throw unreachable();
}
