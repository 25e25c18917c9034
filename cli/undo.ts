import type { Command } from 'commander';
import { revertNetworkChange } from '../tools/intents/revert-network-change.ts';
import { type Answer, answering, notice } from './answer.ts';
import { callOperation } from './call-operation.ts';
import { confirm } from './confirm.ts';
import { CliError, EXIT } from './exit.ts';
import { renderedMarkdown } from './markdown.ts';
import { applyPlan } from './plan.ts';
import { type TargetOptions, targetOf } from './session.ts';
import { withTarget } from './target.ts';

interface UndoOptions extends TargetOptions {
  readonly approver?: string;
  readonly yes?: boolean;
}

/** `mesh undo`: plans to take a change back, shows that, and puts it into the approval workflow. */
export function defineUndo(command: Command): void {
  answering(
    withTarget(command)
      .argument('[change]', 'a revision (mesh log shows them) or a workflow (wf_…); the last change when left out')
      .option('-y, --yes', 'do not ask')
      .option('--approver <name>', 'who is asked to approve; yourself when left out'),
    undo,
  );
}

async function undo(change: string | undefined, options: UndoOptions): Promise<Answer> {
  const target = targetOf(options);
  const plan = await callOperation(target, revertNetworkChange, changeOf(change));
  if (plan.changes.length === 0) {
    return { value: { plan }, text: [plan.reading, ...plan.warnings], exitCode: EXIT.negative };
  }
  const text = renderedMarkdown(plan.diff_markdown);
  if (!options.yes) {
    notice([...text, '']);
    if (!(await confirm('Undo this?'))) return { value: { plan }, text: 'Nothing was changed.' };
  }
  return applyPlan(target, plan, options.yes ? [...text, ''] : [], options.approver);
}

/** @throws CliError for a text that names no change */
function changeOf(change: string | undefined): Readonly<Record<string, unknown>> {
  if (change === undefined || change === 'last') return {};
  if (change.startsWith('wf_')) return { workflow_id: change };
  if (/^\d{1,15}$/.test(change)) return { undo_revision: Number(change) };
  throw new CliError(
    `"${change}" is no change: give a revision such as 12, as mesh log shows them, or a workflow (wf_…).`,
    EXIT.input,
  );
}
