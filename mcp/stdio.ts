import type { Readable, Writable } from 'node:stream';
import type { Server } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import type { Caller } from '../core/base/caller.ts';
import type { Scope } from '../core/base/scope.ts';
import { boundedLines } from './bounded-lines.ts';
import { urisOf } from './resources.ts';
import { buildServerFactory } from './server.ts';
import type { McpOptions, Principal } from './surface.ts';

export interface StdioOptions extends McpOptions {
  /** The one workspace that this principal works in. */
  readonly workspace: string;
  readonly input?: Readable;
  readonly output?: Writable;
}

/** Reads, plans and applies; never approves, and hands out nothing. */
const LOCAL_SCOPES: readonly Scope[] = [
  'network:read',
  'snapshots:read',
  'snapshots:write',
  'intents:plan',
  'intents:apply',
  'compliance:assess',
];

/** The principal of a plane on stdio: whoever started the process. */
export function localCaller(workspace: string): Caller {
  const scopes: ReadonlySet<Scope> = new Set(LOCAL_SCOPES);
  return {
    kind: 'local',
    subject: 'local:stdio',
    id: 'local',
    name: 'local',
    tokenId: 'local',
    workspaces: [workspace],
    scopesIn: (asked) => (asked === workspace ? scopes : new Set()),
    interactive: false,
  };
}

export interface StdioConnection {
  /** Settles when the client went away. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

/**
 * Serves MCP on standard input and output, for both eras, to the principal `local`.
 * Nothing but the protocol may be written to standard output while it runs.
 */
export function serveMcpStdio(stdio: StdioOptions): StdioConnection {
  const { workspace, input = process.stdin, output = process.stdout, ...options } = stdio;
  const factory = buildServerFactory(options);
  const principal: Principal = { caller: localCaller(workspace), workspaceHint: undefined, origin: '' };
  const watched = new Set<string>();
  const watching = {
    watch: (uri: string) => void watched.add(uri),
    unwatch: (uri: string) => void watched.delete(uri),
  };
  let current: { readonly server: Server; readonly era: 'legacy' | 'modern' } | undefined;
  const transport = new StdioServerTransport(boundedLines(input, output), output);
  const handle = serveStdio(
    ({ era }) => {
      current = { server: factory.build(era, () => principal, watching), era };
      return current.server;
    },
    { transport, onerror: (error) => options.log.debug({ reason: error.message }, 'an MCP message was refused') },
  );
  const ended = new Promise<void>((resolve) => {
    input.once('end', resolve);
    input.once('close', resolve);
  });
  const stopListening = options.gate.services.store.onCommit((commit) => {
    if (!current || commit.workspace !== workspace) return;
    for (const uri of urisOf(commit)) {
      // The server drops an update that a client of the current revision did not subscribe to.
      if (current.era === 'modern' || watched.has(uri)) {
        current.server.sendResourceUpdated({ uri }).catch(() => undefined);
      }
    }
  });
  return {
    closed: ended,
    async close(): Promise<void> {
      stopListening();
      await handle.close();
    },
  };
}
