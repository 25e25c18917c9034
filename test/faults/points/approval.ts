import { setTimeout as after } from 'node:timers/promises';
import type { Rule } from '../oracle.ts';
import type { World } from '../world.ts';
import { call, manifestOf, read, ruleOf, type Write, withPolicies } from '../writes.ts';

const SPAN_MS = 250;
/** It is tried again each minute where the machine is too busy to compute what it does. */
const CARRIED_OUT_WITHIN_MS = 300_000;
const LOOK_AGAIN_MS = 50;

interface Workflow extends Write {
  readonly id: string;
}

/** While people approve what waits: a workflow is executed with all of its changes then, or waits with none of them done. */
export async function killInApproval(world: World): Promise<void> {
  const workflows: Workflow[] = [await askFor(world)];
  // One after the other: what changes the network makes what waits stale.
  const approve = async () => {
    for (let next = workflows[0]; next; next = await askFor(world).catch(() => undefined)) {
      if (next !== workflows[0]) workflows.push(next);
      if (!(await world.guarded.write(world.guardedPlace, next))) return;
    }
  };
  await world.killDuring('approval of a workflow', approve, SPAN_MS);
  world.looks.push(() => carriedOut(world, workflows));
}

async function askFor({ guardedPlace, random }: World): Promise<Workflow> {
  const rules = new Map<string, Rule>();
  while (rules.size < 3) rules.set(`a-${random.below(1e9)}`, ruleOf(random));
  const { status, body, text } = await call(guardedPlace, 'POST', '/apply', manifestOf(rules));
  if (status !== 202) throw new Error(`A change that needs approval answered ${status}: ${text}`);
  const id = body.workflow_id;
  return {
    id,
    changes: [...rules.keys()].map((name) => ['created', 'MeshPolicy', name]),
    async send(place) {
      const answer = await call(place, 'POST', `/workflows/${id}/approve`, { note: 'as agreed' });
      return answer.body.status === 'executed' ? answer : { ...answer, status: 400 };
    },
    apply: (network) => withPolicies(network, rules),
  };
}

/** What was approved and cut short is carried on by itself; what still waits can be approved again. */
async function carriedOut({ guarded, guardedPlace: place }: World, workflows: readonly Workflow[]): Promise<string[]> {
  const findings: string[] = [];
  for (const workflow of workflows) {
    const status = await endOf(place, workflow.id);
    const { body } = await read(place, '/policies?limit=200');
    const names = new Set(body.items.map(({ name }: { name: string }) => name));
    const there = workflow.changes.filter(([, , name]) => names.has(name)).length;
    const expected = status === 'executed' ? workflow.changes.length : 0;
    if (there !== expected)
      findings.push(`workflow ${workflow.id} is ${status}, and ${there} of its changes are there`);
    if (!guarded.open.has(workflow) && status !== 'executed')
      findings.push(`lost: the approval of ${workflow.id}, which is ${status}`);
    if (guarded.open.has(workflow)) guarded.settleCut(workflow, status === 'executed');
    if (status === 'pending') await guarded.write(place, workflow);
    else if (status !== 'executed') findings.push(`workflow ${workflow.id} is ${status}`);
  }
  return findings;
}

async function endOf(place: World['place'], id: string): Promise<string> {
  const until = performance.now() + CARRIED_OUT_WITHIN_MS;
  for (;;) {
    const { body } = await read(place, `/workflows/${id}`);
    if (!['approved', 'executing'].includes(body.status) || performance.now() > until) return body.status;
    await after(LOOK_AGAIN_MS);
  }
}
