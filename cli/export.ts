import type { Command } from 'commander';
import type { z } from 'zod';
import { exportResources } from '../tools/resources/export-resources.ts';
import { type Answer, answering } from './answer.ts';
import { callOperation } from './call-operation.ts';
import { requireOwn, writeExport } from './export-directory.ts';
import { MOMENT_FORMS, momentOf } from './moments.ts';
import { filesOf } from './resource-files.ts';
import { type Target, type TargetOptions, targetOf } from './session.ts';
import { withTarget } from './target.ts';

type Page = z.output<typeof exportResources.output>;
export type ExportAnswer = Pick<Page, 'at' | 'revision' | 'resources'> & { left_out: NonNullable<Page['left_out']> };

/** The resources of the network as files hold them: now, or at an instant or a snapshot. */
export async function exportAnswer(target: Target, moment?: string): Promise<ExportAnswer> {
  const isSnapshot = moment?.startsWith('snap_');
  const when = moment === undefined ? {} : isSnapshot ? { snapshot_id: moment } : { at: moment };
  const { at, revision, resources, left_out = [] } = await callOperation(target, exportResources, when);
  return { at, revision, resources, left_out };
}

interface ExportOptions extends TargetOptions {
  readonly at?: string;
  readonly force?: boolean;
}

/** `mesh export DIR`: the resources of the network as YAML files, as a Git repository keeps them. */
export function defineExport(command: Command): void {
  answering(
    withTarget(command)
      .argument('<directory>', 'empty, new, or an earlier export, whose files are renewed')
      .option('--at <moment>', `${MOMENT_FORMS}; or the id of a snapshot`)
      .option('--force', 'write beside the files that are there'),
    async (directory: string, { at, force, ...options }: ExportOptions): Promise<Answer> => {
      await requireOwn(directory, force === true);
      const network = await exportAnswer(targetOf(options), at === undefined ? undefined : momentOf(at, '--at'));
      const { written, removed, unchanged } = await writeExport(directory, filesOf(network.resources));
      const { at: moment, revision, left_out } = network;
      const value = { directory, at: moment, revision, written, removed, unchanged, left_out };
      const text = `${directory}: ${written.length} written, ${removed.length} removed, ${unchanged} unchanged; the network at ${moment}, revision ${revision}`;
      return { value, text: [text, ...left_out.map(omissionText)] };
    },
  );
}

export function omissionText({ kind, why, count, names }: ExportAnswer['left_out'][number]): string {
  const more = count > names.length ? ` and ${count - names.length} more` : '';
  return `Left out: ${kind} ${names.join(', ')}${more}: ${why}`;
}
