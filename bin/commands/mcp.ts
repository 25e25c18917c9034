import type { Command } from 'commander';
import { bridgeStdio } from '../../mcp/bridge.ts';
import { withTarget } from './admin.ts';
import { CliError, EXIT } from './exit.ts';
import { addMcpConfigCommand } from './mcp-config.ts';
import { type TargetOptions, targetOf } from './session.ts';

/** `mesh mcp`: MCP on standard input and output, carried to a control plane. stdout holds nothing but the protocol. */
export function addMcpCommands(program: Command): void {
  const mcp = withTarget(
    program.command('mcp').description('speak MCP on standard input and output, for clients that start a command'),
  );
  mcp.action(async (options: TargetOptions) => {
    const { server, token, workspace } = targetOf(options);
    if (!token) throw new CliError('No token: give --token, set MESH_TOKEN, or sign in with mesh login.', EXIT.auth);
    const warn = (message: string) => process.stderr.write(`${message}\n`);
    await bridgeStdio({ server, token, warn, ...(workspace !== undefined && { workspace }) }).closed;
  });
  addMcpConfigCommand(mcp);
}
