import type { ProgramResult, runProgram } from '../../../run-program.ts';
import { refused } from '../failure.ts';
import type { Blockage } from '../judgement.ts';

/** A program that keeps packet rules of the host, and has it accept an interface. */
export interface Tool {
  /** Whether the rules of this host are its own. @throws MeshError where it does not say */
  isActive(): Promise<boolean>;
  /** What it has to change: nothing where that is there already, whoever did it. @throws MeshError */
  missing(blockages: readonly Blockage[]): Promise<readonly string[]>;
  /** Makes such changes. @throws MeshError with what the program said */
  open(changes: readonly string[]): Promise<void>;
  /** Takes such changes away, where they still are and are a node's own. Idempotent. @throws MeshError */
  close(changes: readonly string[]): Promise<void>;
}

/** On a rule that is a node's own. */
export const commentOf = (interfaceName: string) => `mesh ${interfaceName}`;

/** Runs a program that has to end with 0. */
export function mustOf(run: typeof runProgram) {
  return async (file: string, args: readonly string[], stdin?: string): Promise<ProgramResult> => {
    const result = await run(file, args, { timeoutMs: TIMEOUT_MS, ...(stdin !== undefined && { stdin }) });
    if (result.code !== 0) throw refused(file, args, result);
    return result;
  };
}

/** ufw and firewalld write files, and load all rules anew. */
const TIMEOUT_MS = 30_000;
