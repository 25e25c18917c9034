import { formatInstant } from '../../../core/base/time.ts';
import type { Narrator } from '../../../core/cause/narrator.ts';
import type { Compute } from '../../../core/compute/compute.ts';
import type { Services } from '../../../core/workflow/services.ts';
import { buildHistoryKit } from '../plane/history-kit.ts';
import { person } from '../plane/kit.ts';
import { serveFaces } from './faces-kit.ts';
import { reading } from './read-events.ts';

export const DEBUG_PATH = '/api/v1/ai/debug';

export interface DebugKitOptions {
  readonly compute?: Compute<Services>;
  readonly narrator?: Narrator;
}

/** web-1 reached db-1 until it was isolated; the faces of that network, and a question about it. */
export async function withOutage({ compute, narrator }: DebugKitOptions = {}) {
  const kit = await buildHistoryKit(narrator ? { narrator } : {});
  await kit.join('web-1', { role: 'web' });
  await kit.join('db-1', { role: 'db' });
  const from = formatInstant(kit.clock.time);
  kit.clock.time += 60_000;
  const spec = { action: 'DENY', peerSelector: { matchLabels: { role: 'db' } } };
  await kit.ask('create_policy', { name: 'isolate-db', spec });
  await kit.pass(60_000);
  const faces = await serveFaces(kit, compute ? { compute } : {});
  faces.callers.set('admin', kit.admin).set('viewer', person('viewer', kit.workspace));
  const time_range = { from, to: formatInstant(kit.clock.time) };
  const question = "Since when can't web-1 reach db-1 on 5432, and why?";
  const body = { workspace_id: kit.workspace, question, time_range };
  const ask = (sent: object = body, headers: Record<string, string> = {}, token = 'admin', init: RequestInit = {}) =>
    faces.send(DEBUG_PATH, token, {
      ...init,
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(sent),
    });
  return { kit, faces, ask, body, [Symbol.asyncDispose]: () => faces[Symbol.asyncDispose]() };
}

/** Every event of a stream, to its end. */
export async function allOf(response: Response) {
  const events = reading(response);
  const all = [];
  for (let event = await events.next(); event; event = await events.next()) all.push(event);
  return all;
}
