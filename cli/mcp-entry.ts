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

interface SignIn {
  /** A command, a link, or lines for a file. */
  readonly text: string;
  /** Where. */
  readonly place: string;
  readonly afterwards: string;
}

/** How a client that signs in by itself is given the address, as docs/oauth.md has it; with `{url}` for that of `/mcp`. */
export const SIGN_IN: Readonly<Partial<Record<Client, SignIn>>> = {
  'claude-code': {
    text: 'claude mcp add --transport http mesh {url}',
    place: 'Run in a terminal',
    afterwards: 'type /mcp in Claude Code and choose Authenticate',
  },
  cursor: {
    text: '{"mcpServers":{"mesh":{"url":"{url}"}}}',
    place: 'Goes into ~/.cursor/mcp.json',
    afterwards: 'choose Connect under MCP',
  },
  vscode: {
    text: `code --add-mcp '{"name":"mesh","type":"http","url":"{url}"}'`,
    place: 'Run in a terminal',
    afterwards: 'start the server mesh and allow it',
  },
};

/** Clients that sign in by themselves: they need the address alone. */
export const SIGNS_IN: ReadonlySet<string> = new Set(Object.keys(SIGN_IN));

/** Returns the entry of a client that signs in by itself. */
export function entryWithoutToken(server: string): Entry {
  return { type: 'http', url: urlOf(server) };
}

function urlOf(server: string): string {
  return new URL('/mcp', parseServer(server)).href;
}

/** How a client is told of this control plane. */
export function entryOf(client: Client, { server, token, workspace, launcher }: Access): Entry {
  const url = urlOf(server);
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

interface ClientFiles {
  readonly name: string;
  /** How the path of a file that it reads ends. */
  readonly end: string;
  /** Where its files are. */
  readonly place: string;
  /** The user's action after which the client reads its files again. */
  readonly afterwards: string;
}

/** Which files the clients read by themselves, and when. */
export const CLIENT_FILES: Readonly<Partial<Record<Client, ClientFiles>>> = {
  'claude-code': {
    name: 'Claude Code',
    end: '.mcp.json',
    place: '.mcp.json in the directory of a project',
    afterwards: 'start claude in that directory and allow the server when it asks',
  },
  'claude-desktop': {
    name: 'Claude Desktop',
    end: 'Claude/claude_desktop_config.json',
    place: 'claude_desktop_config.json in ~/Library/Application Support/Claude (macOS) or %APPDATA%\\Claude (Windows)',
    afterwards: 'quit it and start it again',
  },
  cursor: {
    name: 'Cursor',
    end: '.cursor/mcp.json',
    place: '~/.cursor/mcp.json, or .cursor/mcp.json in a project',
    afterwards: 'start it again',
  },
  vscode: {
    name: 'VS Code',
    end: '.vscode/mcp.json',
    place: '.vscode/mcp.json in a folder that it opens',
    afterwards: 'start the server mesh there, by the command "MCP: List Servers"',
  },
  windsurf: {
    name: 'Windsurf',
    end: '.codeium/windsurf/mcp_config.json',
    place: '~/.codeium/windsurf/mcp_config.json',
    afterwards: 'start it again',
  },
};
