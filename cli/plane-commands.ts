import type { Command } from 'commander';
import { operations } from '../tools/index.ts';
import { addAdminCommands } from './admin.ts';
import { addApplyCommand } from './apply.ts';
import { addCompletionCommand } from './completion.ts';
import { addDiffCommand } from './diff.ts';
import { addExportCommand } from './export.ts';
import { addHistoryCommand } from './history.ts';
import { addImportCommand } from './import.ts';
import { addInviteCommand } from './invite.ts';
import { addListCommands } from './list-commands.ts';
import { addLoginCommands } from './login.ts';
import { addMcpCommands } from './mcp.ts';
import { addWhyCommand } from './node-why.ts';
import { addPlanCommand } from './plan.ts';
import { addPolicyCommands } from './policy-test.ts';
import { addReviewCommands } from './review.ts';
import { addTokensCommand } from './tokens.ts';

/** The commands that call a control plane as a person or an agent; the everyday ones first. */
export function addPlaneCommands(program: Command): void {
  program.commandsGroup('The network, by its control plane:');
  addLoginCommands(program);
  addInviteCommand(program);
  addListCommands(program);
  addTokensCommand(program);
  addPlanCommand(program);
  addApplyCommand(program);
  addReviewCommands(program);
  addWhyCommand(program);
  addHistoryCommand(program);
  addDiffCommand(program);
  addExportCommand(program);
  addImportCommand(program);
  program.commandsGroup('More:');
  addMcpCommands(program);
  addPolicyCommands(program);
  addAdminCommands(program, operations);
  addCompletionCommand(program);
}
