import type { Command } from 'commander';
import type { NodeLauncher } from '../client/agent/launch.ts';

/** What a command may need to know beside its own words. */
export interface CommandContext {
  /** Of the whole command line. */
  readonly words: readonly string[];
  /** Loads what runs a node, for the commands that do. */
  loadLauncher(): Promise<NodeLauncher>;
}

/** Gives a command, which has its name and description already, its arguments, options and action. */
export type Define = (command: Command, context: CommandContext) => void | Promise<void>;
