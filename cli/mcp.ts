import type { Command } from 'commander';
import { answering, notice } from './answer.ts';
import { CliError, EXIT } from './exit.ts';
import { addMcpConfigCommand } from './mcp-config.ts';
import { isBehindDoor, type TargetOptions, targetOf } from './session.ts';
import { withTarget } from './target.ts';

/** `mesh mcp`: MCP on standard input and output, carried to a control plane. stdout holds nothing but the protocol. */
export function defineMcp(mcp: Command): void {
  answering(withTarget(mcp), async (options: TargetOptions) => {
    const { server, token, workspace } = targetOf(options);
    if (!token && !isBehindDoor())
      throw new CliError('No token: give --token, set MESH_TOKEN, or sign in with mesh login.', EXIT.auth);
    const { bridgeStdio } = await import('../mcp/bridge.ts');
    const named = { ...(token !== undefined && { token }), ...(workspace !== undefined && { workspace }) };
    await bridgeStdio({ server, warn: notice, ...named }).closed;
    // Standard output was the protocol's.
    return undefined;
  });
  addMcpConfigCommand(mcp);
}
