import type { Command } from 'commander';
import { operations } from '../../tools/index.ts';
import { addAdminCommands } from './admin.ts';
import { addCompletionCommand } from './completion.ts';
import { addInviteCommand } from './invite.ts';
import { addLoginCommands } from './login.ts';
import { addMcpCommands } from './mcp.ts';
import { addWhyCommand } from './node-why.ts';
import { addPolicyCommands } from './policy-test.ts';

/** The commands that call a control plane as a person or an agent. */
export function addPlaneCommands(program: Command): void {
  addLoginCommands(program);
  addInviteCommand(program);
  addWhyCommand(program);
  addMcpCommands(program);
  addPolicyCommands(program);
  addAdminCommands(program, operations);
  addCompletionCommand(program);
}
