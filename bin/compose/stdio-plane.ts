import { ANONYMOUS } from '../../core/base/caller.ts';
import { newId, SYSTEM_WORKSPACE } from '../../core/base/ids.ts';
import type { Log } from '../../core/base/ports.ts';
import { addWorkspace } from '../../core/identity/add-workspace.ts';
import { serveMcpStdio } from '../../mcp/stdio.ts';
import { operations } from '../../tools/index.ts';
import { MCP_TOOLS } from '../../tools/surfaces.ts';
import type { Plane } from './plane.ts';
import { readViews } from './views.ts';

const FIRST_WORKSPACE = { slug: 'main', namespace: 'main', displayName: 'Main', maxNodeCount: 250 };

/** Serves one client on this process's standard input and output, in the first workspace; resolves when it has gone. */
export async function serveStdioPlane(plane: Plane, log: Log): Promise<void> {
  const workspace = await firstWorkspace(plane);
  const { gate } = plane;
  await serveMcpStdio({ operations, tools: MCP_TOOLS, views: readViews(), gate, log, workspace }).closed;
}

async function firstWorkspace({ services }: Plane): Promise<string> {
  const { items } = await services.store.list(SYSTEM_WORKSPACE, 'Workspace', { limit: 1 });
  const [first] = items;
  if (first) return first.uid;
  const made = await addWorkspace(FIRST_WORKSPACE, {
    services,
    caller: ANONYMOUS,
    workspace: SYSTEM_WORKSPACE,
    requestId: newId('r'),
    face: 'mcp',
    origin: '',
    signal: AbortSignal.timeout(10_000),
  });
  return made.uid;
}
