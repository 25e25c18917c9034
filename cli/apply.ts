import type { Command } from 'commander';
import { applyResources } from '../tools/resources/apply-resources.ts';
import { type Answer, answering } from './answer.ts';
import { callOperation } from './call-operation.ts';
import { readText } from './operation-options.ts';
import { type TargetOptions, targetOf } from './session.ts';
import { table } from './table.ts';
import { withTarget } from './target.ts';
import { tellWaiting, waitingIn } from './waiting.ts';

interface Applied {
  readonly items: readonly { readonly kind: string; readonly name: string; readonly result: string }[];
  readonly revision: number;
}

/** `mesh apply -f FILE`: custom resources as they stand in a file, all of them or none. */
export function addApplyCommand(program: Command): void {
  answering(
    withTarget(
      program.command('apply').description('create or update what a file of YAML or JSON documents says'),
    ).requiredOption('-f, --file <file>', 'documents, one after the other; - is standard input'),
    async ({ file, ...options }: TargetOptions & { readonly file: string }): Promise<Answer> => {
      const value = await callOperation(targetOf(options), applyResources, { manifest: await readText(file) });
      tellWaiting(value);
      return waitingIn(value) === undefined ? { value, text: textOf(value as Applied) } : { value };
    },
  );
}

function textOf({ items, revision }: Applied): string {
  const rows = table(items, applyResources.columns ?? {});
  return `${items.length === 0 ? 'none' : rows}\nRevision ${revision}`;
}
