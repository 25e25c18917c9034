import type { Log } from '../../core/base/ports.ts';
import { buildMcp } from '../../mcp/http.ts';
import { buildApp } from '../../rest/app.ts';
import { listen } from '../../rest/listen.ts';
import { createMetrics } from '../../rest/metrics.ts';
import { buildIssuedKit } from '../../test/kits/plane/issued-access.ts';
import { person } from '../../test/kits/plane/kit.ts';
import { operations } from '../../tools/index.ts';
import { MCP_TOOLS } from '../../tools/surfaces.ts';
import { reportTo } from './report-cpu.ts';

/** Both faces as `meshd` serves them, over a store in memory; says where, and two tokens that have to be verified: its own, and one of another issuer. */
const silent: Log = { error: console.error, warn() {}, info() {}, debug() {} };
const kit = await buildIssuedKit();
const { prod: workspace } = kit;
const admin = person('admin', workspace);
const made = await kit.call<{ token: string }>(
  'create_agent',
  { name: 'bench', scopes: ['network:read', 'snapshots:read'] },
  { as: admin, workspace },
);
await kit.call('take_snapshot', {}, { as: admin, workspace });
const { gate } = kit;
const metrics = createMetrics();
const mcp = buildMcp({ operations, tools: MCP_TOOLS, gate, log: silent });
const limits = { rate: 'off' } as const;
const app = buildApp({ operations, gate, log: silent, metrics, ready: async () => [], mcp: mcp.handle, limits });
const server = await listen(app, { host: '127.0.0.1', port: 0 });
reportTo(process, { url: server.url, token: made.token, issued: await kit.tokenOf(), workspace });
