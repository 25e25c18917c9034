import type { Command } from 'commander';

/** The options that name a control plane; the same on every command that calls one. */
export function withTarget(command: Command): Command {
  return command
    .option('--server <url>', 'address of the control plane (MESH_SERVER; that of the last login, or of the node here)')
    .option('--token <token>', 'bearer token, or @file (MESH_TOKEN; the session of mesh login)')
    .option('--workspace <id>', 'workspace id or slug (MESH_WORKSPACE)');
}
