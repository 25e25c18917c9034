import type { Entry, Group } from './mcp-client-file.ts';
import { parseServer } from './session.ts';

/** The clients whose form is known, each with those that read the same. */
export const CLIENTS = ['generic', 'claude-code', 'claude-desktop', 'cursor', 'vscode', 'windsurf', 'stdio'] as const;
export type Client = (typeof CLIENTS)[number];

export interface Access {
  readonly server: string;
  readonly token: string;
  readonly workspace: string;
  /** The `mesh` that a client starts, where it starts one. */
  readonly launcher: string;
}

/** The key of a client's file that its servers are under. */
export function groupOf(client: Client): Group {
  return client === 'vscode' ? 'servers' : 'mcpServers';
}

/** How a client is told of this control plane. */
export function entryOf(client: Client, { server, token, workspace, launcher }: Access): Entry {
  const url = new URL('/mcp', parseServer(server)).href;
  const headers = { Authorization: `Bearer ${token}`, 'X-Workspace-Id': workspace };
  switch (client) {
    case 'windsurf':
      return { serverUrl: url, headers };
    case 'claude-desktop':
    case 'stdio':
      return {
        command: launcher,
        args: ['mcp', '--server', server, '--workspace', workspace],
        env: { MESH_TOKEN: token },
      };
    case 'vscode':
    case 'generic':
    case 'claude-code':
    case 'cursor':
      return { type: 'http', url, headers };
    default:
      return client satisfies never;
  }
}
