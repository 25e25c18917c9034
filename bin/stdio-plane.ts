import type { Caller } from '../core/caller.ts';
import type { Log } from '../core/ports.ts';
import type { Scope } from '../core/scope.ts';
import { serveMcpStdio } from '../mcp/stdio.ts';
import { operations } from '../tools/index.ts';
import { MCP_TOOLS } from '../tools/surfaces.ts';
import type { Plane } from './plane.ts';
import { VERSION } from './version.ts';

/** Reads, plans and applies; it never approves, because a client could answer its own prompt (DESIGN section 6). */
const LOCAL_SCOPES: ReadonlySet<Scope> = new Set<Scope>([
  'network:read',
  'snapshots:read',
  'snapshots:write',
  'intents:plan',
  'intents:apply',
]);

/** Serves the client on this process's standard input and output; resolves when it has gone. */
export function serveStdioPlane({ gate }: Plane, log: Log): Promise<void> {
  const caller: Caller = {
    kind: 'local',
    subject: 'local:stdio',
    id: 'local',
    name: 'local',
    tokenId: 'local',
    workspaces: 'all',
    scopesIn: () => LOCAL_SCOPES,
    interactive: false,
  };
  return serveMcpStdio({ operations, surface: MCP_TOOLS, gate, log, version: VERSION, caller });
}
