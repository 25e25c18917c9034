import type { Command } from 'commander';
import { lintPolicies } from '../tools/policies/lint-policies.ts';
import { type Answer, answering } from './answer.ts';
import { EXIT } from './exit.ts';
import { allPages } from './list-commands.ts';
import { type TargetOptions, targetOf } from './session.ts';
import { withTarget } from './target.ts';

/** `mesh policy lint`: what about the policies in force is probably not meant. */
export function addLintCommand(policy: Command): void {
  const description = 'tell what about the policies is probably not meant; exit 1 when there is something';
  answering(withTarget(policy.command('lint').description(description)), async (options: TargetOptions) => {
    const { items } = await allPages(targetOf(options), lintPolicies as never, {});
    const found = items as readonly Finding[];
    const text = found.length === 0 ? 'Nothing about the policies looks like a mistake.' : found.flatMap(linesOf);
    return { value: { items: found }, text, ...(found.length > 0 && { exitCode: EXIT.negative }) } satisfies Answer;
  });
}

interface Finding {
  readonly code: string;
  readonly policies: readonly string[];
  readonly direction: string | null;
  readonly rule_index: number | null;
  readonly why: string;
  readonly fix: string;
}

function linesOf({
  code,
  policies: [policy = ''],
  direction,
  rule_index: index,
  why,
  fix,
}: Finding): readonly string[] {
  const where = direction === null ? '' : ` ${direction}${index === null ? '' : ` rule ${index}`}`;
  return [`${code} ${policy}${where}: ${why}.`, `  ${fix}`];
}
