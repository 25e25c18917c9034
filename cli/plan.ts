import type { Command } from 'commander';
import type { z } from 'zod';
import { applyNetworkChange } from '../tools/intents/apply-network-change.ts';
import { planNetworkChange } from '../tools/intents/plan-network-change.ts';
import { getMe } from '../tools/users/get-me.ts';
import { type Answer, answering } from './answer.ts';
import { callOperation } from './call-operation.ts';
import { exitOf } from './failed.ts';
import { renderedMarkdown } from './markdown.ts';
import { noticePending } from './pending-approval.ts';
import { sessionAt, type Target, type TargetOptions, targetOf } from './session.ts';
import { withTarget } from './target.ts';

interface PlanOptions extends TargetOptions {
  readonly apply?: boolean;
  readonly approver?: string;
}

type Plan = z.output<typeof planNetworkChange.output>;

/** `mesh plan "sentence"`: what a change would open and close; with `--apply` it goes into the approval workflow. */
export function definePlan(command: Command): void {
  answering(
    withTarget(command)
      .argument('<sentence...>', 'such as: let role=web reach role=db on port 5432 for 2 hours')
      .option('--apply', 'put it into the approval workflow')
      .option('--approver <name>', 'who is asked to approve; yourself when left out'),
    plan,
  );
}

async function plan(words: string[], { apply, approver, ...options }: PlanOptions): Promise<Answer> {
  const target = targetOf(options);
  const planned = await callOperation(target, planNetworkChange, { intent: words.join(' ') });
  const { plan_id: id, diff_markdown: markdown, changes, another_person: isAnother } = planned;
  const text = renderedMarkdown(markdown);
  if (!apply) {
    const asked = approver ?? (isAnother ? 'NAME' : (sessionAt(target.server)?.username ?? 'NAME'));
    const command = `mesh admin apply-network-change --plan-id ${id} --approved-by ${asked}`;
    const hint = isAnother ? `Another person has to approve it. To ask them: ${command}` : `To apply it: ${command}`;
    return { value: planned, text, hints: changes.length > 0 ? [hint] : [] };
  }
  return applyPlan(target, planned, [...text, ''], approver);
}

/** Puts a plan into the approval workflow. @param shown lines before what became of it */
export async function applyPlan(
  target: Target,
  plan: Plan,
  shown: readonly string[],
  approver: string | undefined,
): Promise<Answer> {
  const values = { plan_id: plan.plan_id, approved_by: approver ?? (await ownName(target)) };
  const workflow = await callOperation(target, applyNetworkChange, values);
  noticePending(workflow);
  return { value: { plan, workflow }, text: [...shown, workflow.message], ...exitOf(workflow) };
}

async function ownName(target: Target): Promise<string> {
  return (await callOperation(target, getMe, {})).username;
}
