import type { Command } from 'commander';
import type { z } from 'zod';
import { isObject } from '../core/base/is-object.ts';
import { applyNetworkChange } from '../tools/intents/apply-network-change.ts';
import { planNetworkChange } from '../tools/intents/plan-network-change.ts';
import { getMe } from '../tools/users/get-me.ts';
import { parseYaml } from '../tools/yaml.ts';
import { type Answer, answering } from './answer.ts';
import { callOperation } from './call-operation.ts';
import { rethrowWithDraft } from './draft.ts';
import { CliError, EXIT } from './exit.ts';
import { exitOf } from './failed.ts';
import { renderedMarkdown } from './markdown.ts';
import { readText } from './operation-options.ts';
import { noticePending } from './pending-approval.ts';
import { sessionAt, type Target, type TargetOptions, targetOf } from './session.ts';
import { withTarget } from './target.ts';

export interface PlanOptions extends TargetOptions {
  readonly apply?: boolean;
  readonly approver?: string;
}

type Plan = z.output<typeof planNetworkChange.output>;

/** `mesh plan "sentence"`: what a change would open and close; with `--apply` it goes into the approval workflow. */
export function definePlan(command: Command): void {
  answering(
    withPlanOptions(withTarget(command))
      .argument('[sentence...]', 'such as: let role=web reach role=db on port 5432 for 2 hours')
      .option('--orders <file>', 'orders as YAML or JSON instead of a sentence (docs/orders.md); - is standard input'),
    async (words: string[], { orders, ...options }: PlanOptions & { readonly orders?: string }): Promise<Answer> => {
      if (words.length === 0 && orders === undefined) {
        throw new CliError('Say what should change, in a sentence or with --orders FILE.', EXIT.input);
      }
      const intent = words.length > 0 ? { intent: words.join(' ') } : {};
      return planned({ ...intent, ...(orders !== undefined && (await requestIn(orders))) }, options);
    },
  );
}

/** Adds what is done with a plan once it is shown. */
export function withPlanOptions(command: Command): Command {
  return command
    .option('--apply', 'put it into the approval workflow')
    .option('--approver <name>', 'who is asked to approve; yourself when left out');
}

/** Plans a change and shows what it opens and closes, with the command that puts it forward; or puts it forward. */
export async function planned(
  asked: Readonly<Record<string, unknown>>,
  { apply, approver, ...options }: PlanOptions,
): Promise<Answer> {
  const target = targetOf(options);
  const plan = await callOperation(target, planNetworkChange, asked).catch(rethrowWithDraft);
  const { plan_id: id, diff_markdown: markdown, changes, another_person: isAnother } = plan;
  if (plan.already) return { value: plan, text: alreadyLines(plan) };
  const text = renderedMarkdown(markdown);
  if (plan.dry_run && changes.length > 0) {
    const told = 'The plan is too large to be kept, so it cannot be applied: order it in smaller parts.';
    return { value: plan, text: [...text, '', told], exitCode: EXIT.negative };
  }
  if (!apply) {
    const who = approver ?? (isAnother ? 'NAME' : (sessionAt(target.server)?.username ?? 'NAME'));
    const command = `mesh admin apply-network-change --plan-id ${id} --approved-by ${who}`;
    const hint = isAnother ? `Another person has to approve it. To ask them: ${command}` : `To apply it: ${command}`;
    return { value: plan, text, hints: changes.length > 0 ? [hint] : [] };
  }
  return applyPlan(target, plan, [...text, ''], approver);
}

function alreadyLines({ made_so_by: policies = [], not_changed: notChanged = [] }: Plan): string[] {
  const names = policies.length > 0 ? policies.join(', ') : 'by default';
  return [`Already so: ${names}`, ...notChanged.map((text) => `Not changed: ${text}`), 'There is nothing to apply.'];
}

/** Reads a list of orders, one order, or a request with `orders` and what stands beside them. The control plane says what is wrong. */
async function requestIn(file: string): Promise<Readonly<Record<string, unknown>>> {
  const [document] = parsed(file, await readText(file));
  if (Array.isArray(document) || !isObject(document)) return { orders: document };
  return 'do' in document ? { orders: [document] } : document;
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
