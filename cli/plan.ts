import type { Command } from 'commander';
import type { z } from 'zod';
import { isObject } from '../core/base/is-object.ts';
import { applyNetworkChange } from '../tools/intents/apply-network-change.ts';
import { planNetworkChange } from '../tools/intents/plan-network-change.ts';
import { getMe } from '../tools/users/get-me.ts';
import { parseYaml } from '../tools/yaml.ts';
import { type Answer, answering } from './answer.ts';
import { callOperation } from './call-operation.ts';
import { CliError, EXIT } from './exit.ts';
import { exitOf } from './failed.ts';
import { renderedMarkdown } from './markdown.ts';
import { readText } from './operation-options.ts';
import { noticePending } from './pending-approval.ts';
import { sessionAt, type Target, type TargetOptions, targetOf } from './session.ts';
import { withTarget } from './target.ts';

interface PlanOptions extends TargetOptions {
  readonly apply?: boolean;
  readonly approver?: string;
  readonly orders?: string;
}

type Plan = z.output<typeof planNetworkChange.output>;

/** `mesh plan "sentence"`: what a change would open and close; with `--apply` it goes into the approval workflow. */
export function definePlan(command: Command): void {
  answering(
    withTarget(command)
      .argument('[sentence...]', 'such as: let role=web reach role=db on port 5432 for 2 hours')
      .option('--orders <file>', 'orders as YAML or JSON instead of a sentence (docs/orders.md); - is standard input')
      .option('--apply', 'put it into the approval workflow')
      .option('--approver <name>', 'who is asked to approve; yourself when left out'),
    plan,
  );
}

async function plan(words: string[], { apply, approver, orders, ...options }: PlanOptions): Promise<Answer> {
  if (words.length === 0 && orders === undefined) {
    throw new CliError('Say what should change, in a sentence or with --orders FILE.', EXIT.input);
  }
  const target = targetOf(options);
  const asked = {
    ...(words.length > 0 && { intent: words.join(' ') }),
    ...(orders !== undefined && { orders: await ordersIn(orders) }),
  };
  const planned = await callOperation(target, planNetworkChange, asked);
  const { plan_id: id, diff_markdown: markdown, changes, another_person: isAnother, already: isAlready } = planned;
  const text = renderedMarkdown(markdown);
  if (isAlready) return { value: planned, text: [...text, '', 'It is so already: there is nothing to apply.'] };
  if (!apply) {
    const who = approver ?? (isAnother ? 'NAME' : (sessionAt(target.server)?.username ?? 'NAME'));
    const command = `mesh admin apply-network-change --plan-id ${id} --approved-by ${who}`;
    const hint = isAnother ? `Another person has to approve it. To ask them: ${command}` : `To apply it: ${command}`;
    return { value: planned, text, hints: changes.length > 0 ? [hint] : [] };
  }
  return applyPlan(target, planned, [...text, ''], approver);
}

/** Reads a list of orders, or a document with `orders`. The control plane says what is wrong with them. */
async function ordersIn(file: string): Promise<unknown> {
  const [document] = parsed(file, await readText(file));
  if (Array.isArray(document) || !isObject(document)) return document;
  return document['orders'] ?? [document];
}

function parsed(file: string, text: string): unknown[] {
  try {
    return parseYaml(text);
  } catch (error) {
    throw new CliError(`${file}: ${(error as Error).message}`, EXIT.input);
  }
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
