import { EXIT } from './exit.ts';

/** The exit code of an answer that tells what became of a change: one that could not be carried out has failed. */
export function exitOf(answer: unknown): { readonly exitCode?: number } {
  const { status } = (answer ?? {}) as { status?: unknown };
  return status === 'failed' ? { exitCode: EXIT.negative } : {};
}
