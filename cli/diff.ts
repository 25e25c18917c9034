import type { Command } from 'commander';
import { createTwoFilesPatch } from 'diff';
import { type Answer, answering } from './answer.ts';
import { type Difference, filesAgainstNow } from './diff-files.ts';
import { momentsDiffer } from './diff-moments.ts';
import { CliError, EXIT } from './exit.ts';
import { momentOf } from './moments.ts';
import { isThere } from './resource-files.ts';
import { type TargetOptions, targetOf } from './session.ts';
import { withTarget } from './target.ts';

/** `mesh diff PATH` and `mesh diff T1 [T2]`: exits as diff(1) does, 0 for none, 1 for a difference, 2 for trouble. */
export function defineDiff(diff: Command): void {
  answering(
    withTarget(diff)
      .argument(
        '<first>',
        'file or directory, - for standard input; or the earlier moment: an instant, a day (2026-01-31, yesterday), how long ago (1h, 2d), or the id of a snapshot',
      )
      .argument('[moment]', 'the later one (now)'),
    async (first: string, second: string | undefined, options: TargetOptions): Promise<Answer> => {
      const target = targetOf(options);
      try {
        const isPath = first === '-' || (await isThere(first));
        if (isPath && second !== undefined) {
          throw new CliError(`${first} is a path: it is compared with the network as it is now.`, EXIT.input);
        }
        if (!isPath && !IS_MOMENT.test(first)) throw new CliError(`There is no ${first}.`, EXIT.input);
        if (isPath) return answerOf(await filesAgainstNow(target, first));
        const [before, after] = [first, second].map((text) => text && momentOf(text, 'A moment'));
        return answerOf(await momentsDiffer(target, before ?? first, after));
      } catch (error) {
        // 1 is a difference: a script takes nothing else for one.
        throw error instanceof CliError ? new CliError(error.message, EXIT.input, error.problem) : error;
      }
    },
  );
}

/** An instant, a day and how long ago it was begin with a digit. */
const IS_MOMENT = /^(?:[+-]?\d|snap_|(?:yesterday|today)$)/;

/** Lines of context of a hunk, as diff(1) has them. */
const CONTEXT = 3;
/** The time grows with their square; a resource that has more is shown whole, the old one and then the new. */
const MAX_EDITS = 1_000;

function answerOf({ resources, connections, others, notes, ...from }: Difference): Answer {
  const value = { ...from, resources, connections, others, notes };
  const patches = resources.map(({ file, before, after }) => patchOf(file, before, after));
  const text = [
    ...patches.flatMap((patch) => patch.split('\n')),
    ...others,
    ...connections.map(({ change, src, dst, ports }) => `${change}: ${src} -> ${dst}: ${ports}`),
    ...notes,
  ];
  const isSame = resources.length + connections.length + others.length === 0;
  return isSame ? { value, text: [...notes, 'No difference.'] } : { value, text, exitCode: EXIT.negative };
}

function patchOf(file: string, before: string, after: string): string {
  const [old, fresh] = [before === '' ? '/dev/null' : `a/${file}`, after === '' ? '/dev/null' : `b/${file}`];
  const options = { context: CONTEXT, maxEditLength: MAX_EDITS };
  const patch =
    createTwoFilesPatch(old, fresh, before, after, undefined, undefined, options) ??
    [`--- ${old}`, `+++ ${fresh}`, ...marked('-', before), ...marked('+', after)].join('\n');
  return patch.replace(/^=+\n/, '').trimEnd();
}

function marked(mark: string, text: string): string[] {
  return text === ''
    ? []
    : text
        .trimEnd()
        .split('\n')
        .map((line) => mark + line);
}
