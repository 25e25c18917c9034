import type { Command } from 'commander';
import type { NodeLauncher } from '../client/agent/launch.ts';
import type { LogReport } from '../core/audit/findings.ts';

/** A log that goes on without what was signed of it before. */
export interface AcceptedLog {
  readonly workspace: string;
  /** Number of the entry that says so. */
  readonly entry: number;
  readonly given: readonly string[];
}

/** The operations on the files of a control plane. */
export interface AuditStore {
  verifyDatabase(file: string, workspace?: string): Promise<readonly LogReport[]>;
  /** @returns the new public key, base64 */
  rotateKey(configDir: string): string;
  /** Has logs signed on as they are. `database`: where it is not in the directory. */
  accept(options: {
    readonly configDir: string;
    readonly database?: string;
    readonly reason: string;
  }): Promise<readonly AcceptedLog[]>;
}

/** The facts that a command may need beside its own arguments. */
export interface CommandContext {
  /** The words of the whole command line. */
  readonly words: readonly string[];
  /** The version of this software. */
  readonly version: string;
  /** Loads what runs a node, for the commands that do. */
  loadLauncher(): Promise<NodeLauncher>;
  /** Loads what reads the files of a control plane, for the command that does. */
  loadAuditStore(): Promise<AuditStore>;
}

/** Gives a command, which has its name and description already, its arguments, options and action. */
export type Define = (command: Command, context: CommandContext) => void | Promise<void>;
