import path from 'node:path';
import { type Command, Option } from 'commander';
import { ownLauncher } from '../own-command.ts';
import { withTarget } from './admin.ts';
import { callApi } from './api.ts';
import {
  parseServer,
  readSession,
  sessionFile,
  type TargetOptions,
  targetOf,
  writePrivate,
  writeSession,
} from './session.ts';
import { existingOrFirstWorkspace } from './workspace.ts';

const CLIENTS = ['generic', 'claude-code', 'claude-desktop', 'cursor', 'vscode', 'windsurf', 'stdio'] as const;
type Client = (typeof CLIENTS)[number];

/** What a token made for an MCP client may do: read, plan and apply. It never approves (DESIGN 5.3). */
const CLIENT_SCOPES = ['network:read', 'snapshots:read', 'snapshots:write', 'intents:plan', 'intents:apply'];

interface ConfigOptions extends TargetOptions {
  readonly json?: boolean;
  readonly client: Client;
  readonly output?: string;
  readonly expiry?: string;
}

/** `mesh mcp config`: writes a client configuration with a fresh scoped token into a 0600 file. */
export function addMcpConfigCommand(mcp: Command): void {
  withTarget(mcp.command('config').description('write an MCP client configuration with a fresh scoped token'))
    .addOption(new Option('--client <name>', 'whose form to write').choices(CLIENTS).default('generic'))
    .option('--output <file>', 'where to write it (default: mcp.json beside the session)')
    .option('--expiry <duration>', 'life of the token, at most 365d')
    .action(writeConfig);
}

async function writeConfig(options: ConfigOptions): Promise<void> {
  const target = targetOf(options);
  const workspace = target.workspace ?? (await existingOrFirstWorkspace(target));
  const session = readSession();
  // The commands that follow then need no --workspace.
  if (session?.server === target.server && session.workspace === undefined) writeSession({ ...session, workspace });
  const token = (await callApi(
    { ...target, workspace },
    {
      method: 'post',
      path: '/api/v1/users/me/api-tokens',
      body: {
        name: `mcp-${options.client}-${Date.now().toString(36)}`,
        scopes: CLIENT_SCOPES,
        ...(options.expiry && { expiry: options.expiry }),
      },
    },
  )) as { token: string; expiresAt: string };
  const file = path.resolve(options.output ?? path.join(path.dirname(sessionFile()), 'mcp.json'));
  writePrivate(file, `${JSON.stringify(configOf(options.client, target.server, token.token, workspace), null, 2)}\n`);
  if (options.json) console.log(JSON.stringify({ file, workspace, expiresAt: token.expiresAt }));
  else console.log(`Wrote ${file} (0600) for workspace ${workspace}; the token in it ends ${token.expiresAt}.`);
}

function configOf(client: Client, server: string, token: string, workspace: string): unknown {
  const url = new URL('/mcp', parseServer(server)).href;
  const headers = { Authorization: `Bearer ${token}`, 'X-Workspace-Id': workspace };
  switch (client) {
    case 'vscode':
      return { servers: { mesh: { type: 'http', url, headers } } };
    case 'windsurf':
      return { mcpServers: { mesh: { serverUrl: url, headers } } };
    case 'claude-desktop':
    case 'stdio':
      return {
        mcpServers: {
          mesh: {
            command: ownLauncher(),
            args: ['mcp', '--server', server, '--workspace', workspace],
            env: { MESH_TOKEN: token },
          },
        },
      };
    case 'generic':
    case 'claude-code':
    case 'cursor':
      return { mcpServers: { mesh: { type: 'http', url, headers } } };
    default:
      return client satisfies never;
  }
}
