import type { Command } from 'commander';
import type { z } from 'zod';
import { PRUNED_KINDS, type PrunedKind } from '../core/model/file-records.ts';
import { applyResources } from '../tools/resources/apply-resources.ts';
import { previewResources } from '../tools/resources/preview-resources.ts';
import { type Answer, answering } from './answer.ts';
import { callOperation } from './call-operation.ts';
import { EXIT } from './exit.ts';
import { renderedMarkdown } from './markdown.ts';
import { noticePending, pendingWorkflowOf } from './pending-approval.ts';
import { type Documents, nameOf, readDocuments, withFileNames } from './resource-files.ts';
import { type Target, type TargetOptions, targetOf } from './session.ts';
import { table } from './table.ts';
import { withTarget } from './target.ts';

interface ApplyOptions extends TargetOptions {
  readonly file: string;
  readonly prune?: true | string;
  readonly dryRun?: boolean;
}

type ApplyAnswer = Pick<z.output<typeof applyResources.output>, 'items' | 'revision'>;
export type Preview = z.output<typeof previewResources.output>;

/** `mesh apply -f PATH`: custom resources as they stand in files, all of them or none. */
export function defineApply(apply: Command): void {
  answering(
    withTarget(apply)
      .requiredOption('-f, --file <path>', 'file, or directory with all below it; - is standard input')
      .option(
        '--prune [kinds]',
        `delete what they do not hold, of these kinds (${PRUNED_KINDS.join(',')}); alone: those that they hold, or all in a directory of mesh export`,
      )
      .option('--dry-run', 'show what that would change, open and close; exit 1 where it is anything'),
    async ({ file, prune, dryRun, ...options }: ApplyOptions): Promise<Answer> => {
      const target = targetOf(options);
      const mayBeEmpty = typeof prune === 'string' && opensNothing(prune);
      const read = await readDocuments(file, { saysAll: prune !== undefined, mayBeEmpty });
      const values = { documents: read.documents, ...(prune !== undefined && { prune: prunedKinds(prune, read) }) };
      if (dryRun) return answerOf(await preview(target, read, values));
      const value = await withFileNames(read, () => callOperation(target, applyResources, values));
      noticePending(value);
      return pendingWorkflowOf(value) === undefined ? { value, text: linesOf(value) } : { value };
    },
  );
}

/**
 * Returns the kinds to prune. A kind without any document is never pruned, because the directory may be a wrong one or serve
 * another purpose; an export is pruned in all kinds of the network. Who exported may not have been allowed to see the rules for
 * workloads, so that these are pruned by name alone, or where there is one.
 */
export function prunedKinds(
  prune: true | string,
  { documents, isExport }: Pick<Documents, 'documents' | 'isExport'>,
): string[] {
  if (prune !== true) return kindsIn(prune);
  const held = new Set(documents.map((document) => nameOf(document).kind));
  return PRUNED_KINDS.filter((kind: PrunedKind) => held.has(kind) || (isExport && kind !== 'WorkloadRule'));
}

function kindsIn(prune: string): string[] {
  return prune.split(',').map((kind) => kind.trim());
}

/**
 * True where an empty directory may be meant: without rules no workload joins. Without policies all is open, and a volume that was not
 * mounted looks the same.
 */
export function opensNothing(prune: string): boolean {
  return kindsIn(prune).every((kind) => kind === ('WorkloadRule' satisfies PrunedKind));
}

export function preview(target: Target, read: Pick<Documents, 'places'>, values: object): Promise<Preview> {
  return withFileNames(read, () => callOperation(target, previewResources, { ...values }));
}

function answerOf(value: Preview): Answer {
  if (!value.would_change) return { value, text: [...linesOf(value), 'Nothing would change.'] };
  const waits = value.waits_for.map((why) => `A person would have to approve it: ${why}`);
  const text = [...linesOf(value), '', ...renderedMarkdown(value.diff_markdown), ...waits];
  return { value, text, exitCode: EXIT.negative };
}

function linesOf({ items, revision }: ApplyAnswer): readonly string[] {
  const rows = table(items, applyResources.columns ?? {});
  return [...(items.length === 0 ? ['none'] : rows.split('\n')), `Revision ${revision}`];
}
